import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { AnyRule, Interest } from '../rules/framework/rule.ts';
import { isVacatedBy } from '../rules/wake-conditions/pod-moves.ts';

interface WakerInputs {
  readonly interest: Interest;
  readonly nowMs: number;
  readonly vacatingNode?: string | undefined;
}

/** Further conditions that a pod waits for, because of preemption or of nominated pods. */
export interface PreemptionWait {
  /** Further rules that keep the pod from a node: even after preemption, or together with nominated pods. */
  readonly blockingRules?: readonly AnyRule[];
  /** One of these rules found that a node can attach no more volumes. */
  readonly lacksSlots?: boolean;
  /** The node that the victims are leaving. */
  readonly vacatingNode?: string | undefined;
}

/**
 * Decides which changes wake a refused pod. Thousands of wakers may be kept for hours, so a waker holds only the rules that refused the
 * pod and what these need to know of it.
 */
export class Waker {
  readonly interest: Interest;
  /** When a node that is avoided because of a recent failure can be tried again, in milliseconds since 1970. */
  readonly retryAtMs: number | undefined;
  readonly #index: ClusterIndex;
  readonly #rules: readonly AnyRule[];
  /** Any pod that leaves this node wakes the pod: if it still does not fit there, it has to look for another node. */
  readonly #vacatingNode: string | undefined;

  constructor(index: ClusterIndex, rules: readonly AnyRule[], waits: WakerInputs) {
    this.#index = index;
    this.#rules = rules;
    this.#vacatingNode = waits.vacatingNode;
    this.interest = waits.interest;
    this.retryAtMs = avoidedUntilMs(index, waits.interest, waits.nowMs);
  }

  /** Whether this change could make the answer, or its message, wrong. */
  isStaleBy(change: ClusterChange): boolean {
    return (
      this.#vacatesNode(change) ||
      this.#rules.some((rule) => rule.invalidates(this.interest, change, this.#index))
    );
  }

  /** The same, and also wakes for changes that could make the blocking rules accept the pod, or that vacate the node. */
  withPreemption(
    { blockingRules = [], lacksSlots = false, vacatingNode = this.#vacatingNode }: PreemptionWait,
    nowMs: number,
  ): Waker {
    const interest = lacksSlots ? { ...this.interest, lacksSlots } : this.interest;
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

  /** Whether this change could make the pod fit, according to the rules that refused it. */
  wokenBy(change: ClusterChange): boolean {
    return (
      this.#vacatesNode(change) || this.#rules.some((rule) => rule.wakes(this.interest, change, this.#index))
    );
  }

  #vacatesNode(change: ClusterChange): boolean {
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
