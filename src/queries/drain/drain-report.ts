import type { Note } from '../view/note.ts';

export const drainApiVersion = 'stowage.dev/drain/v1';

/** The output of `stowage drain-plan -o json`. */
export interface DrainPlanReport {
  readonly apiVersion: string;
  readonly kind: 'DrainPlanReport';
  /** `node/NAME` or `drive/NAME`. */
  readonly target: string;
  readonly summary: string;
  /** The steps, in the order in which they are carried out. */
  readonly steps: readonly DrainStep[];
  /** The pods and volumes that Stowage cannot move. The target is empty only once they have left. */
  readonly left: readonly LeftLine[];
  /** False if objects could not be read that the plan depends on. */
  readonly isComplete: boolean;
  /** Their kinds. `PodDisruptionBudget`, if pods are to be stopped: the API server may refuse that. */
  readonly unreadKinds: readonly string[];
  /** Pods of DaemonSets and static pods. They keep nothing from being emptied. */
  readonly stays: readonly string[];
  /** The bytes of the volumes, replicas and copies of images that the steps copy. */
  readonly copiedBytes: number;
  /** The bytes of the volumes that are left. */
  readonly leftBytes: number;
  readonly notes: readonly Note[];
}

export type DrainAction = 'cordon' | 'evict-disks' | 'evict-pods' | 'copy-volumes' | 'uncordon';

export interface DrainStep {
  readonly number: number;
  readonly action: DrainAction;
  readonly title: string;
  /** Recognized by what the cluster stores. */
  readonly isDone: boolean;
  /** Objects that are written, as `KIND/NAME`. */
  readonly objects: readonly string[];
  readonly pods: readonly EvictedPodLine[];
  readonly volumes: readonly MovedVolumeLine[];
  /** Commands that only root on a node can run. Empty: `stowage move` does the step from any machine. */
  readonly commands: readonly NodeCommand[];
}

export interface EvictedPodLine {
  readonly pod: string;
  readonly owner: string | undefined;
  /** Pods of one wave may be stopped at the same time; undefined if a PodDisruptionBudget allows no eviction now. */
  readonly wave: number | undefined;
  /** Where it goes; undefined if it comes back when the volumes are copied. */
  readonly to: string | undefined;
}

export interface MovedVolumeLine {
  readonly kind: 'replica' | 'image' | 'volume';
  readonly name: string;
  readonly claim: string | undefined;
  readonly bytes: number;
  /** `disk/NODE/NAME` or `drive/NAME`. */
  readonly from: string;
  /** Undefined if enough others have the same data, so that nothing is copied. */
  readonly to: string | undefined;
}

/** A command, and the node that it must be run on, by root. */
export interface NodeCommand {
  readonly node: string;
  readonly command: string;
}

export interface LeftLine {
  readonly kind: 'volume' | 'replica' | 'image' | 'pod';
  readonly name: string;
  readonly claim: string | undefined;
  readonly driver: string | undefined;
  readonly bytes: number;
  /** Where a copy would fit: `drive/NAME` or `node/NAME`. */
  readonly fitsOn: string | undefined;
  readonly why: string;
  readonly remedy: string;
}
