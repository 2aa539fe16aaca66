import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeReason, PodReason } from '../reasons.ts';
import type { Cycle } from './cycle.ts';
import type { Decisions } from './decisions.ts';
import type { Finding } from './finding.ts';

/**
 * One rule about where a pod may go: what it refuses and why, how it ranks nodes, which changes wake a pod that it refused, and which
 * changes invalidate a cached answer. Explanations, what-if questions, the scheduler and the extender all run these rules.
 *
 * For one pod a plan calls, synchronously and in this order:
 *
 * 1. `prepare` once. It reads what the pod needs from the index. It returns `skip` if the rule does not apply to the pod, or refuses
 *    the pod on every node.
 * 2. `filter` once, for all nodes: it removes the nodes that don't fit from `cycle.feasible` by `cycle.reject`. It ignores nodes that an
 *    earlier rule has rejected.
 * 3. `score` once, for all nodes that are left: 0 to 100 each.
 * 4. `decide` once, for the chosen node: what has to be written.
 *
 * `explain` is called on demand, for one node at a time, whether or not the rule rejected the node.
 *
 * `State` belongs to the rule: `prepare` creates it, and it is valid until the index changes.
 */
export interface Rule<State> {
  readonly name: string;
  /** All reasons for which it refuses nodes; a verdict is a set of these, by position. */
  readonly reasons: readonly NodeReason[];
  prepare(cycle: Cycle): Prepared<State>;
  filter(state: State, cycle: Cycle): void;
  readonly score?: Score<State>;
  decide?(state: State, cycle: Cycle, node: number, decisions: Decisions): void;
  explain(state: State, cycle: Cycle, node: number): readonly Finding[];
  /**
   * Whether this change could make the rule accept a pod that it refused. It is called for every waiting pod, so it must be cheap. It may
   * return true in vain, but it must not miss a change. The index already has the change.
   */
  readonly wakes: (interest: Interest, change: ClusterChange, index: ClusterIndex) => boolean;
  /** Whether this change could make a cached answer wrong, in either direction. */
  readonly invalidates: (interest: Interest, change: ClusterChange, index: ClusterIndex) => boolean;
}

export interface Score<State> {
  readonly weight: number;
  /** Writes 0 to 100 into `scores` for each feasible node. */
  run(state: State, cycle: Cycle, scores: Float64Array): void;
}

export type Prepared<State> =
  | { readonly kind: 'ready'; readonly state: State }
  | { readonly kind: 'skip' }
  | { readonly kind: 'refuse'; readonly refusals: readonly PodRefusal[] };

export const skip: Prepared<never> = { kind: 'skip' };

/** Why a pod can't run on any node. */
export interface PodRefusal {
  readonly reason: PodReason;
  /** The claim that it concerns, as `namespace/name`. */
  readonly claim: string | undefined;
  /** kube-scheduler's text. */
  readonly message: string;
}

/**
 * The objects that a pod depends on, in a form that is valid after the plan: small, and enough to decide which changes could matter to the pod.
 */
export interface Interest {
  /** The pod, for rules about its own spec and labels. */
  readonly pod: PodRecord;
  readonly claimKeys: ReadonlySet<string>;
  /** Classes of claims that still need a volume, with the smallest request in each. */
  readonly classes: ReadonlyMap<string, number>;
  /** Volumes that the pod's claims are bound to, or that are reserved for them. */
  readonly volumeNames: ReadonlySet<string>;
  /** CSI drivers of the pod's volumes, provisioned or not, and of the volumes that it might get. */
  readonly drivers: ReadonlySet<string>;
  /** Groups of the pod's claims, of whose volumes a drive takes only one. */
  readonly spreadGroups: ReadonlySet<string>;
  /** Owners of the pod's claims whose volumes are kept on different nodes or in different zones. */
  readonly apartGroups: ReadonlySet<string>;
  /** Some node refused the pod because it can't attach more volumes, so attachments of other pods matter. */
  readonly lacksSlots: boolean;
  /** When the pod was refused, in milliseconds since 1970: pools that had expired by then did not count. Undefined if unknown. */
  readonly refusedAtMs?: number | undefined;
}

/** A rule with any type of state. */
export type AnyRule = Rule<unknown>;

/** Erases the type of the state. This is safe because the plan passes each rule only the state that the rule itself prepared. */
export function eraseState<State>(rule: Rule<State>): AnyRule {
  return rule as AnyRule;
}
