import type { NodeGroup } from '../explain/node-groups.ts';
import type { PodRefusal } from '../rules/framework/rule.ts';

/** The effect of changes on the pods of a cluster. Pods that stay as they are do not appear. */
export interface Prediction {
  readonly outcomes: readonly PodOutcome[];
  readonly copies: readonly VolumeCopy[];
  /** The number of pods on each node whose number changes, and on each new node. */
  readonly nodes: readonly NodeDifference[];
  /** Nodes, and pods that have a node. */
  readonly before: PlacedCounts;
  readonly after: PlacedCounts;
  /** Remarks about what was assumed. */
  readonly notes: readonly string[];
}

export interface PlacedCounts {
  readonly nodes: number;
  readonly placedPods: number;
  readonly pendingPods: number;
}

/**
 * `moved`: it had a node and gets another. `placed`: it had none. `stranded`: it has none in the end. `lost`: no controller creates it again.
 * `removed`: its controller wants fewer. `stays`: it is on a drained node and remains there, as pods of DaemonSets do. `stuck`: it keeps its node,
 * and its volume cannot leave the drained drive.
 */
export type PodOutcomeKind = 'moved' | 'placed' | 'stranded' | 'lost' | 'removed' | 'stays' | 'stuck';

/** `drained`, `scaled`, `applied`: the change is about it. `preempted`: it yields to a pod of higher priority. `pending`: it had no node before. */
export type PodCause = 'drained' | 'scaled' | 'applied' | 'preempted' | 'pending';

export interface PodOutcome {
  /** `NAMESPACE/NAME`: of the pod before the change, or of the new pod. */
  readonly pod: string;
  /** The controller, as `KIND/NAME`; empty if there is none. */
  readonly owner: string;
  readonly cause: PodCause;
  readonly outcome: PodOutcomeKind;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The key of the pod that a controller creates in its place, if that has another name. */
  readonly replacement: string | undefined;
  readonly why: StrandedReason | undefined;
}

/** Why a pod has no node. */
export interface StrandedReason {
  /** The message in kube-scheduler's grammar, or a sentence if no scheduler has refused it. */
  readonly message: string;
  readonly podRefusals: readonly PodRefusal[];
  readonly groups: readonly NodeGroup[];
}

/** A local volume that has to be copied, because it cannot move. */
export interface VolumeCopy {
  readonly volume: string;
  readonly claim: string;
  readonly driver: string;
  readonly bytes: number;
  readonly pod: string | undefined;
  readonly from: string;
  /** `node/NAME` or `drive/NAME`; undefined if there is no room for it. */
  readonly to: string | undefined;
  /** If `to` is a node: its drive that a copy fits on, where the claim's class uses drives. */
  readonly drive?: string | undefined;
}

export interface NodeDifference {
  readonly node: string;
  readonly podsBefore: number;
  readonly podsAfter: number;
  readonly isNew: boolean;
}
