/**
 * After any sequence of changes: a pod that could be placed, or could preempt, has been woken; a cached refusal equals the decision that
 * would be made now; and the rules give the same answers on the updated index as on a newly built one.
 */
import { expect, test } from 'vitest';
import type { ClusterChange } from '../../engine/cluster-index/cluster-change.ts';
import { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { readPod } from '../../engine/records/pod-record.ts';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import { ruleAnswers } from '../../engine/testing/rule-answers.ts';
import type { Pod } from '../../kube/api/core.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Decider, type RefusedDecision, type SchedulingDecision } from './decider.ts';
import { affectsOtherPods } from './pending-pods.ts';
import { numbered } from './scenarios/testing/fixtures.ts';
import { RandomClusterChanges } from './testing/random-cluster-changes.ts';

const steps = 80;
const nowMs = 0;

/** Decides on the same pending pods after each change, and compares with earlier refusals. */
class PendingPods {
  readonly #changes: RandomClusterChanges;
  readonly #index: ClusterIndex;
  readonly #decider: Decider;
  readonly #pods: readonly Pod[];
  readonly #waiting = new Map<Pod, RefusedDecision>();
  /** How often a change helped a pod that had been refused. */
  helped = 0;

  constructor(changes: RandomClusterChanges, index: ClusterIndex) {
    this.#changes = changes;
    this.#index = index;
    this.#decider = newDecider(index);
    this.#pods = numbered('asking', 6).map((name) => changes.pendingPod(name));
    this.#decideAll([]);
  }

  applyNext(): void {
    const change = this.#changes.applyNext();
    this.#decideAll(change === undefined ? [] : this.#observe(change));
  }

  expectSameAsRebuilt(): void {
    const fresh = new ClusterIndex();
    for (const { kind, object } of this.#changes.objects) fresh.upsert(kind, object as never);
    for (const pod of this.#pods)
      for (const rule of defaultRules)
        expect(ruleAnswers(this.#index, pod, rule)).toEqual(ruleAnswers(fresh, pod, rule));
  }

  /** The changes that the scheduler passes on to its queue for this change. */
  #observe(change: ClusterChange): readonly ClusterChange[] {
    const nodeName = this.#decider.observe(change);
    const isQueued = change.kind !== 'Pod' || affectsOtherPods(change.before, change.after);
    const queued = isQueued ? [change] : [];
    if (nodeName === undefined) return queued;
    const released = { kind: 'Release', volumes: [], pools: [], nodeName } as const;
    this.#decider.observe(released);
    return [...queued, released];
  }

  #decideAll(changes: readonly ClusterChange[]): void {
    for (const pod of this.#pods) {
      const record = readPod(pod);
      const cached = this.#decider.decide(pod, record, nowMs);
      this.#decider.unnominate(record.key);
      const now = this.#withoutCache().decide(pod, record, nowMs);
      expect(outcome(cached)).toEqual(outcome(now));
      this.#expectWoken(pod, now, changes);
    }
  }

  /** A decider without cached refusals. */
  #withoutCache(): Decider {
    const decider = newDecider(this.#index);
    for (const pod of this.#changes.pods)
      decider.observe({ kind: 'Pod', before: undefined, after: readPod(pod), freedPools: [] });
    return decider;
  }

  #expectWoken(pod: Pod, now: SchedulingDecision, changes: readonly ClusterChange[]): void {
    const before = this.#waiting.get(pod);
    const isWoken = before === undefined || changes.some((change) => before.refusal.wokenBy(change));
    if (before !== undefined && isFinalRefusal(before) && !isFinalRefusal(now)) {
      this.helped += 1;
      expect(isWoken, `${before.refusal.message} by ${JSON.stringify(changes)}`).toBe(true);
    }
    if (now.kind === 'placement') this.#waiting.delete(pod);
    else if (isWoken) this.#waiting.set(pod, now);
  }
}

function newDecider(index: ClusterIndex): Decider {
  return new Decider(index, defaultRules, () => []);
}

function isFinalRefusal(decision: SchedulingDecision): boolean {
  return decision.kind === 'refused' && decision.preemption.kind === 'none';
}

/** Where the pod goes, or which pods it evicts. The messages of refusals are not compared: they may be out of date. */
function outcome(decision: SchedulingDecision): unknown {
  if (decision.kind === 'placement') return [decision.node, decision.bindings];
  const { preemption } = decision;
  return preemption.kind === 'none' ? 'waits' : [preemption.node, preemption.victims];
}

test('no pod waits that could be placed, and no cached refusal is wrong', () => {
  let helped = 0;
  for (const seed of numbered('life ', 20)) {
    const index = new ClusterIndex();
    const pending = new PendingPods(new RandomClusterChanges(index, seededRandom(seed)), index);
    for (let left = steps; left > 0; left -= 1) pending.applyNext();
    pending.expectSameAsRebuilt();
    helped += pending.helped;
  }
  // A smaller number would mean that the random changes prove too little.
  expect(helped).toBeGreaterThan(50);
});
