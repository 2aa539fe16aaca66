/**
 * Whatever happens: who could be placed, or could make room for itself, has been told to look again; an answer that is remembered is the
 * one that would be given now; and an index that has lived through it all says of every node what one that is built anew says.
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

/** Pods that ask after each event, with what they were told. */
class Asking {
  readonly #life: RandomClusterChanges;
  readonly #index: ClusterIndex;
  readonly #decider: Decider;
  readonly #pods: readonly Pod[];
  readonly #waiting = new Map<Pod, RefusedDecision>();
  /** How often something had come that helped. */
  helped = 0;

  constructor(life: RandomClusterChanges, index: ClusterIndex) {
    this.#life = life;
    this.#index = index;
    this.#decider = newDecider(index);
    this.#pods = numbered('asking', 6).map((name) => life.pendingPod(name));
    this.#ask([]);
  }

  happen(): void {
    const change = this.#life.applyNext();
    this.#ask(change === undefined ? [] : this.#tell(change));
  }

  expectSameAsNew(): void {
    const fresh = new ClusterIndex();
    for (const { kind, object } of this.#life.objects) fresh.upsert(kind, object as never);
    for (const pod of this.#pods)
      for (const rule of defaultRules)
        expect(ruleAnswers(this.#index, pod, rule)).toEqual(ruleAnswers(fresh, pod, rule));
  }

  /** All that the scheduler makes of a change. */
  #tell(change: ClusterChange): readonly ClusterChange[] {
    const nodeName = this.#decider.observe(change);
    const isHeard = change.kind !== 'Pod' || affectsOtherPods(change.before, change.after);
    const heard = isHeard ? [change] : [];
    if (nodeName === undefined) return heard;
    const released = { kind: 'Release', volumes: [], pools: [], nodeName } as const;
    this.#decider.observe(released);
    return [...heard, released];
  }

  #ask(changes: readonly ClusterChange[]): void {
    for (const pod of this.#pods) {
      const record = readPod(pod);
      const remembered = this.#decider.decide(pod, record, nowMs);
      this.#decider.unnominate(record.key);
      const now = this.#anew().decide(pod, record, nowMs);
      expect(outlook(remembered)).toEqual(outlook(now));
      this.#expectWoken(pod, now, changes);
    }
  }

  /** Without a memory. */
  #anew(): Decider {
    const decider = newDecider(this.#index);
    for (const pod of this.#life.pods)
      decider.observe({ kind: 'Pod', before: undefined, after: readPod(pod), freesPromises: false });
    return decider;
  }

  #expectWoken(pod: Pod, now: SchedulingDecision, changes: readonly ClusterChange[]): void {
    const before = this.#waiting.get(pod);
    const isWoken = before === undefined || changes.some((change) => before.refusal.wokenBy(change));
    if (before !== undefined && isHopeless(before) && !isHopeless(now)) {
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

function isHopeless(decision: SchedulingDecision): boolean {
  return decision.kind === 'refused' && decision.preemption.kind === 'none';
}

/** Where it goes, or whom it evicts. Words about nodes that refuse it anyway may be a little old. */
function outlook(decision: SchedulingDecision): unknown {
  if (decision.kind === 'placement') return [decision.node, decision.bindings];
  const { preemption } = decision;
  return preemption.kind === 'none' ? 'waits' : [preemption.node, preemption.victims];
}

test('nobody waits who need not, and nothing is remembered wrongly', () => {
  let helped = 0;
  for (const seed of numbered('life ', 20)) {
    const index = new ClusterIndex();
    const asking = new Asking(new RandomClusterChanges(index, seededRandom(seed)), index);
    for (let left = steps; left > 0; left -= 1) asking.happen();
    asking.expectSameAsNew();
    helped += asking.helped;
  }
  // Below that, the clusters have become too dull to prove anything.
  expect(helped).toBeGreaterThan(50);
});
