/** Runs a random history of pods and related objects on the index, and on plain maps for the oracle. */
import { expect } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type Placement, plan } from '../plan.ts';
import { readPod } from '../records/pod-record.ts';
import type { Refusal } from '../refusal/refusal.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { interestOf } from '../waking/interest.ts';
import type { InterPodCluster, RuleAnswers } from './oracle/inter-pod.ts';
import type { InterPodEvent, InterPodHistory, InterPodKind } from './random/inter-pod.ts';
import { ruleAnswers } from './rule-answers.ts';

type Model = Record<InterPodKind, Map<string, KubeObject>>;
type Oracle = (cluster: InterPodCluster, pod: Pod) => RuleAnswers;

export interface HistoryCheck {
  readonly rule: AnyRule;
  readonly oracle: Oracle;
  readonly pods: readonly Pod[];
}

/**
 * After each event the rule must give the oracle's answers. An event that makes a pod fit must wake it, and an event that changes an
 * answer must invalidate it.
 */
export function checkInterPodHistory(
  { setup: past, events: life }: InterPodHistory,
  check: HistoryCheck,
): void {
  const index = new ClusterIndex();
  const model = emptyModel();
  for (const event of past) if (event.type !== 'what-if') apply(index, model, event);
  run(index, model, life, check);
}

function run(index: ClusterIndex, model: Model, events: readonly InterPodEvent[], check: HistoryCheck): void {
  compare(index, model, check);
  for (const event of events) {
    if (event.type === 'what-if') {
      const savepoint = index.savepoint();
      run(index, copyOf(model), event.events, check);
      index.rollback(savepoint);
    } else {
      const answers = check.pods.map((pod) => answerBefore(index, pod, check.rule));
      const change = apply(index, model, event);
      if (change !== undefined)
        for (const before of answers) expectReported(index, before, change, check.rule);
    }
    compare(index, model, check);
  }
}

interface AnswerBefore {
  readonly pod: Pod;
  readonly answer: Placement | Refusal;
  readonly nodes: RuleAnswers;
}

function answerBefore(index: ClusterIndex, pod: Pod, rule: AnyRule): AnswerBefore {
  return { pod, answer: plan(pod, index, { nowMs: 0, rules: [rule] }), nodes: ruleAnswers(index, pod, rule) };
}

function expectReported(
  index: ClusterIndex,
  { pod, answer, nodes }: AnswerBefore,
  change: ClusterChange,
  rule: AnyRule,
): void {
  if (answer.kind === 'refusal' && !answer.wokenBy(change))
    expect(plan(pod, index, { nowMs: 0, rules: [rule] }).kind, 'not woken').toBe('refusal');
  if (!rule.invalidates(interestOf(index, readPod(pod)), change, index))
    expect(ruleAnswers(index, pod, rule), 'not invalidated').toEqual(nodes);
}

function compare(index: ClusterIndex, model: Model, { rule, oracle, pods }: HistoryCheck): void {
  for (const pod of pods)
    expect(ruleAnswers(index, pod, rule)).toEqual(oracle(model as unknown as InterPodCluster, pod));
}

function apply(
  index: ClusterIndex,
  model: Model,
  { type, kind, object }: Exclude<InterPodEvent, { readonly type: 'what-if' }>,
): ClusterChange | undefined {
  const { namespace, name } = object.metadata!;
  const key = namespace === undefined ? name! : `${namespace}/${name}`;
  if (type === 'delete') {
    model[kind].delete(key);
    return index.remove(kind, key).change;
  }
  model[kind].set(key, object);
  return index.upsert(kind, object).change;
}

function emptyModel(): Model {
  return {
    Node: new Map(),
    Pod: new Map(),
    Namespace: new Map(),
    Service: new Map(),
    ReplicationController: new Map(),
    ReplicaSet: new Map(),
    StatefulSet: new Map(),
  };
}

function copyOf(model: Model): Model {
  return Object.fromEntries(
    Object.entries(model).map(([kind, objects]) => [kind, new Map(objects)]),
  ) as unknown as Model;
}
