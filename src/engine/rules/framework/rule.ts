import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeReason, PodReason } from '../reasons.ts';
import type { Cycle } from './cycle.ts';
import type { Decisions } from './decisions.ts';
import type { Finding } from './finding.ts';

/**
 * One rule about where a pod may go, whole: what it refuses, how it ranks, why, what would change its mind and what makes
 * a remembered answer stale. Explain, what-if, the scheduler and the extender all run these; nobody re-implements one.
 *
 * For a pod a plan calls, in this order and synchronously:
 *
 * 1. `prepare` once. It reads what the pod needs from the index and says `skip` if the rule has nothing to do with this
 *    pod, or refuses the pod wherever it would run.
 * 2. `filter` once, for all nodes: it clears the nodes that don't fit from `cycle.feasible` by `cycle.reject`. A node
 *    that an earlier rule has rejected is not looked at again.
 * 3. `score` once, for all nodes that are left: 0 to 100 each.
 * 4. `decide` once, for the chosen node: what has to be written to make it so.
 *
 * `explain` is called only when somebody asks, for one node at a time, whether or not the rule rejected it.
 *
 * `State` is the rule's own, made by `prepare` and valid until the index changes.
 */
export interface Rule<State> {
  readonly name: string;
  /** All that it refuses nodes for; a verdict is a set of these, by position. */
  readonly reasons: readonly NodeReason[];
  prepare(cycle: Cycle): Prepared<State>;
  filter(state: State, cycle: Cycle): void;
  readonly score?: Score<State>;
  decide?(state: State, cycle: Cycle, node: number, decisions: Decisions): void;
  explain(state: State, cycle: Cycle, node: number): readonly Finding[];
  /**
   * Could this change make the rule accept a pod that it refused? Asked of pods that wait, so it has to be cheap, and may
   * say yes in vain but never no wrongly. The index has the change already.
   */
  readonly wakes: (interest: Interest, change: ClusterChange, index: ClusterIndex) => boolean;
  /** Could this change make a remembered answer wrong, in either direction? */
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

/** Why a pod can't run anywhere. */
export interface PodRefusal {
  readonly reason: PodReason;
  /** The claim that it is about, as `namespace/name`. */
  readonly claim: string | undefined;
  /** In kube-scheduler's words. */
  readonly message: string;
}

/**
 * What a pod depends on, in a form that outlives the plan: small, and enough to tell a change that could matter from one
 * that can't.
 */
export interface Interest {
  /** Whose; for rules about its own spec and labels. */
  readonly pod: PodRecord;
  readonly claimKeys: ReadonlySet<string>;
  /** Classes of claims that still need a volume, with the smallest request in each. */
  readonly classes: ReadonlyMap<string, number>;
  /** Volumes that the pod's claims are bound to, or that are reserved for them. */
  readonly volumeNames: ReadonlySet<string>;
  /** CSI drivers of the pod's volumes, made and unmade, and of those that it might get. */
  readonly drivers: ReadonlySet<string>;
  /** It was refused, somewhere, because a node can't attach more; then what others attach matters. */
  readonly lacksSlots: boolean;
}

/** A rule of any state, as the plan holds them. */
export type AnyRule = Rule<unknown>;

/** The one place where a rule's state type is forgotten: the plan hands each rule only what the rule itself prepared. */
export function eraseState<State>(rule: Rule<State>): AnyRule {
  return rule as AnyRule;
}
