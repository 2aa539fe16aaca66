import type { ClusterChange } from '../../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Placement } from '../../engine/plan.ts';
import type { DisruptionBudget } from '../../engine/preemption/disruption-budget.ts';
import { findVictims, type Preemption } from '../../engine/preemption/find-victims.ts';
import { planWithNominated } from '../../engine/preemption/plan-with-nominated.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';
import { RefusalCache } from '../../engine/refusal/refusal-cache.ts';
import type { AnyRule } from '../../engine/rules/framework/rule.ts';
import { nodesVacated } from '../../engine/rules/wake-conditions/pod-moves.ts';
import type { Pod } from '../../kube/api/core.ts';
import { Nominations } from './nominations.ts';
import { tieBreakSeed } from './pending-pods.ts';

export type SchedulingDecision = Placement | RefusedDecision;

export interface RefusedDecision {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  /** Whether evicting others would help. */
  readonly preemption: Preemption;
}

/**
 * Where a pod goes, or why it goes nowhere and who could make room. Synchronous, on the live index: nothing changes between the
 * question and the reservation.
 */
export class Decider {
  readonly #index: ClusterIndex;
  readonly #rules: readonly AnyRule[];
  readonly #budgets: () => readonly DisruptionBudget[];
  readonly #nominations = new Nominations();
  readonly #memory: RefusalCache<Preemption>;

  constructor(index: ClusterIndex, rules: readonly AnyRule[], budgets: () => readonly DisruptionBudget[]) {
    this.#index = index;
    this.#rules = rules;
    this.#budgets = budgets;
    this.#memory = new RefusalCache(index);
  }

  decide(pod: Pod, record: PodRecord, nowMs: number): SchedulingDecision {
    const known = this.#memory.get(record);
    if (known !== undefined) return { kind: 'refused', refusal: known.refusal, preemption: known.extra };
    const shared = { nowMs, rules: this.#rules, nominated: this.#nominations.all };
    const seed = tieBreakSeed(record);
    const answer = planWithNominated(pod, this.#index, { ...shared, tieSeed: seed });
    if (answer.kind === 'placement') return answer;
    const preemption = findVictims(pod, answer, this.#index, { ...shared, budgets: this.#budgets(), seed });
    if (preemption.kind === 'none') {
      const refusal = answer.waitingForPreemption(preemption);
      this.#memory.set(refusal, preemption);
      return { kind: 'refused', refusal, preemption };
    }
    // At once: until it stands written, the next pod must not count on the same victims.
    this.nominate(record, preemption.node);
    return {
      kind: 'refused',
      refusal: answer.waitingForPreemption({ vacatingNode: preemption.node }),
      preemption,
    };
  }

  /** The pod waits for this node. Until it stands written, a word about the pod that doesn't say so takes it back. */
  nominate(pod: PodRecord, nodeName: string): void {
    this.#nominations.observe(pod.key, { ...pod, nominatedNode: nodeName });
  }

  /** No room could be made for the pod: it waits for no node but the one that stands written. The node that it leaves to others. */
  unnominate(podKey: string): string | undefined {
    return this.#nominations.observe(podKey, this.#index.pods.stored(podKey));
  }

  /** The rules themselves have changed. */
  forgetRefusals(): void {
    this.#memory.clear();
  }

  /** The pods that wait for a node of their own. */
  get nominated(): readonly PodRecord[] {
    return this.#nominations.all;
  }

  /**
   * The node that a pod leaves to others without the change saying so: that it waited there was known to nobody else, or it is on its way
   * out and still names the node.
   */
  observe(change: ClusterChange): string | undefined {
    this.#memory.onChange(change);
    if (change.kind !== 'Pod') return undefined;
    const { before, after } = change;
    const left = this.#nominations.observe((after ?? before)!.key, after);
    return left !== undefined && nodesVacated(before, after).includes(left) ? undefined : left;
  }

  /** The placement has been reserved. */
  reserved({ pod, node }: Placement): void {
    this.#memory.onAssumed(pod, node);
  }
}
