import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { AnyRule, Interest } from '../rules/framework/rule.ts';
import { isVacatedBy } from '../rules/wake-conditions/pod-moves.ts';

interface WakerInputs {
  readonly interest: Interest;
  readonly nowMs: number;
  readonly vacatingNode?: string | undefined;
}

/** What else a pod waits for that others are to make room for. */
export interface PreemptionWait {
  /** The rules that keep them from it. */
  readonly blockingRules?: readonly AnyRule[];
  /** The node that they are leaving. */
  readonly vacatingNode?: string | undefined;
}

/**
 * What a refused pod waits for. It may be kept for hours, by thousands, so it holds no more than the rules that refused it and what
 * they need to know of the pod.
 */
export class Waker {
  readonly interest: Interest;
  /** When a node that is avoided for a while can be tried again, in milliseconds since 1970. */
  readonly retryAtMs: number | undefined;
  readonly #index: ClusterIndex;
  readonly #rules: readonly AnyRule[];
  /** Whoever leaves it is news: if the pod doesn't fit there after all, it has to look for another. */
  readonly #vacatingNode: string | undefined;

  constructor(index: ClusterIndex, rules: readonly AnyRule[], waits: WakerInputs) {
    this.#index = index;
    this.#rules = rules;
    this.#vacatingNode = waits.vacatingNode;
    this.interest = waits.interest;
    this.retryAtMs = avoidedUntilMs(index, waits.interest, waits.nowMs);
  }

  /** Could this change make the answer another one, in its words or altogether? */
  isStaleBy(change: ClusterChange): boolean {
    return (
      this.#makesRoom(change) ||
      this.#rules.some((rule) => rule.invalidates(this.interest, change, this.#index))
    );
  }

  /** The same, and whatever could change the minds of these, or empties the node. */
  withPreemption(
    { blockingRules = [], vacatingNode = this.#vacatingNode }: PreemptionWait,
    nowMs: number,
  ): Waker {
    // Which volumes they speak of isn't known: it wakes for slots too.
    const interest = blockingRules.length === 0 ? this.interest : { ...this.interest, lacksSlots: true };
    return new Waker(this.#index, [...new Set([...this.#rules, ...blockingRules])], {
      interest,
      nowMs,
      vacatingNode,
    });
  }

  /** The same for a pod of equal shape. */
  forInterest(interest: Interest): Waker {
    const nowMs = Number.POSITIVE_INFINITY;
    return new Waker(this.#index, this.#rules, { interest, nowMs, vacatingNode: this.#vacatingNode });
  }

  /** Could this change make the pod fit? Asks the rules that refused it. */
  wokenBy(change: ClusterChange): boolean {
    return (
      this.#makesRoom(change) || this.#rules.some((rule) => rule.wakes(this.interest, change, this.#index))
    );
  }

  #makesRoom(change: ClusterChange): boolean {
    return this.#vacatingNode !== undefined && isVacatedBy(this.#vacatingNode, change);
  }
}

function avoidedUntilMs(index: ClusterIndex, { pod }: Interest, nowMs: number): number | undefined {
  const ends = pod.claims.flatMap(({ key }) => {
    const claim = index.claims.get(key);
    return claim === undefined
      ? []
      : [...index.provisioningFailures.avoidedNodes(key, claim.uid, nowMs)].map(([, end]) => end);
  });
  return ends.length === 0 ? undefined : Math.min(...ends);
}
