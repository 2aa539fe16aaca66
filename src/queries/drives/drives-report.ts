import type { Note } from '../view/note.ts';

/** The output of `drives list -o json`. Within a version, fields are only added and never change their meaning. */
export interface DrivesReport {
  readonly apiVersion: 'stowage.dev/drives/v1';
  readonly kind: 'DrivesReport';
  readonly drives: readonly DriveLine[];
  readonly notes: readonly Note[];
}

export interface DriveLine {
  readonly drive: string;
  readonly node: string;
  readonly tier: string;
  /** `status.state`; Unknown until the node has reported one, Deleting once the object is deleted, NodeGone if its Node does not exist. */
  readonly state: string;
  readonly isCordoned: boolean;
  readonly device?: string | undefined;
  readonly make?: string | undefined;
  readonly filesystemUUID: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent until the node has reported it; so is `freeBytes`. */
  readonly capacityBytes?: number | undefined;
  /** The sum of the ledger. */
  readonly usedBytes: number;
  /** The bytes that the scheduler promised to claims that are not in the ledger yet; absent if claims could not be read. */
  readonly promisedBytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly volumeCount: number;
  readonly createdAt?: string | undefined;
  /** Contradictions between its ledger, its directories and the volumes; absent if there are none. */
  readonly findings?: readonly DriveFinding[] | undefined;
}

/** From a condition of the Drive. */
export interface DriveFinding {
  readonly reason: string;
  readonly message: string;
}

/** The output of `drives list volumes -o json`. */
export interface DriveVolumesReport {
  readonly apiVersion: 'stowage.dev/drives/v1';
  readonly kind: 'DriveVolumesReport';
  readonly volumes: readonly DriveVolumeLine[];
  readonly notes: readonly Note[];
}

export interface DriveVolumeLine {
  readonly volume: string;
  readonly sizeBytes: number;
  readonly node: string;
  readonly drive: string;
  readonly device?: string | undefined;
  /** As `state` of a DriveLine. */
  readonly driveState: string;
  readonly isDriveCordoned: boolean;
  readonly state: DriveVolumeState;
  /** `NAMESPACE/NAME`. */
  readonly claim?: string | undefined;
  readonly persistentVolume?: string | undefined;
  /** Pods that use it now. */
  readonly pods: readonly string[];
}

/**
 * - `Active`: it has its bytes, and a PersistentVolume or a pod uses them.
 * - `Pending`: its claim has no PersistentVolume yet.
 * - `Releasing`: its data is being deleted.
 * - `Lost`: its drive is lost.
 * - `Leaked`: neither its claim nor its PersistentVolume exists.
 */
export type DriveVolumeState = 'Active' | 'Pending' | 'Releasing' | 'Lost' | 'Leaked';

/** The output of `drives info -o json`: each node that has drives. */
export interface DriveNodesReport {
  readonly apiVersion: 'stowage.dev/drives/v1';
  readonly kind: 'DriveNodesReport';
  readonly nodes: readonly DriveNodeLine[];
  readonly notes: readonly Note[];
}

export interface DriveNodeLine {
  readonly node: string;
  readonly driveCount: number;
  /** Drives by their state, such as `Ready` or `Ready,SchedulingDisabled`. */
  readonly states: Readonly<Record<string, number>>;
  /** Drives that take new volumes. */
  readonly readyCount: number;
  readonly volumeCount: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly promisedBytes?: number | undefined;
  readonly freeBytes: number;
}
