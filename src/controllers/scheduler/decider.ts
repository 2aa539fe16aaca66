import type { Change } from '../../engine/cluster-index/change.ts';
import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Placement } from '../../engine/plan.ts';
import type { Budget } from '../../engine/preemption/budget.ts';
import { findVictims, type Preemption } from '../../engine/preemption/find-victims.ts';
import { planBesideNominated } from '../../engine/preemption/plan-beside-nominated.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Refusal } from '../../engine/refusal.ts';
import { RefusalMemory } from '../../engine/refusal-memory.ts';
import { nodesLeft } from '../../engine/rules/pod-moves.ts';
import type { AnyRule } from '../../engine/rules/rule.ts';
import type { Pod } from '../../kube/api/core.ts';
import { Nominations } from './nominations.ts';
import { tieSeedOf } from './pods-to-place.ts';

export type Decision = Placement | Refused;

export interface Refused {
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
  readonly #budgets: () => readonly Budget[];
  readonly #nominations = new Nominations();
  readonly #memory: RefusalMemory<Preemption>;

  constructor(index: ClusterIndex, rules: readonly AnyRule[], budgets: () => readonly Budget[]) {
    this.#index = index;
    this.#rules = rules;
    this.#budgets = budgets;
    this.#memory = new RefusalMemory(index);
  }

  decide(pod: Pod, record: PodRecord, nowMs: number): Decision {
    const known = this.#memory.recall(record);
    if (known !== undefined) return { kind: 'refused', refusal: known.refusal, preemption: known.extra };
    const shared = { nowMs, rules: this.#rules, nominated: this.#nominations.all };
    const seed = tieSeedOf(record);
    const answer = planBesideNominated(pod, this.#index, { ...shared, tieSeed: seed });
    if (answer.kind === 'placement') return answer;
    const preemption = findVictims(pod, answer, this.#index, { ...shared, budgets: this.#budgets(), seed });
    if (preemption.kind === 'none') {
      const refusal = answer.waitingFor(preemption);
      this.#memory.remember(refusal, preemption);
      return { kind: 'refused', refusal, preemption };
    }
    // At once: until it stands written, the next pod must not count on the same victims.
    this.nominate(record, preemption.node);
    return { kind: 'refused', refusal: answer.waitingFor({ roomOn: preemption.node }), preemption };
  }

  /** The pod waits for this node. Until it stands written, a word about the pod that doesn't say so takes it back. */
  nominate(pod: PodRecord, nodeName: string): void {
    this.#nominations.changed(pod.key, { ...pod, nominatedNode: nodeName });
  }

  /** No room could be made for the pod: it waits for no node but the one that stands written. The node that it leaves to others. */
  unnominate(podKey: string): string | undefined {
    return this.#nominations.changed(podKey, this.#index.pods.stored(podKey));
  }

  /** The rules themselves have changed. */
  forget(): void {
    this.#memory.forget();
  }

  /** The pods that wait for a node of their own. */
  get nominated(): readonly PodRecord[] {
    return this.#nominations.all;
  }

  /**
   * The node that a pod leaves to others without the change saying so: that it waited there was known to nobody else, or it is on its way
   * out and still names the node.
   */
  changed(change: Change): string | undefined {
    this.#memory.changed(change);
    if (change.kind !== 'Pod') return undefined;
    const { before, after } = change;
    const left = this.#nominations.changed((after ?? before)!.key, after);
    return left !== undefined && nodesLeft(before, after).includes(left) ? undefined : left;
  }

  /** The placement has been reserved. */
  reserved({ pod, node }: Placement): void {
    this.#memory.assumed(pod, node);
  }
}
