import type { Condition, KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from './driver-capacity.ts';

/** The requests for the bytes of one disk, and the verdicts: `stowage.dev/v1alpha1`, cluster-scoped. docs/kinds.md describes each field. */
export interface DiskSchedule extends KubeObject {
  readonly spec?: DiskScheduleSpec;
  readonly status?: DiskScheduleStatus;
}

export interface DiskScheduleSpec {
  /** The disk's name in the StorageNode. */
  readonly name?: string;
  readonly nodeID?: string;
  /** Bytes by the name of the Replica. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** Bytes by the name of the BackingImage. */
  readonly backingImages?: Readonly<Record<string, number>>;
}

export interface DiskScheduleStatus {
  readonly observedGeneration?: number;
  readonly replicas?: Readonly<Record<string, DiskVerdict>>;
  readonly backingImages?: Readonly<Record<string, DiskVerdict>>;
  readonly storageScheduled?: number;
  readonly storageLimit?: number;
  readonly conditions?: readonly Condition[];
}

/** The answer to one request. */
export interface DiskVerdict {
  readonly state: 'scheduled' | 'rejected';
  readonly scheduledSize?: number;
  /** The size that this answers. */
  readonly observedSize?: number;
  readonly reason?: DiskVerdictReason;
}

export type DiskVerdictReason =
  | 'InsufficientStorage'
  | 'SchedulingDisabled'
  | 'DiskNotReady'
  | 'DiskRemoved'
  | 'Adopted';

export const diskSchedules: Resource<DiskSchedule> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'DiskSchedule',
  plural: 'diskschedules',
  isOptional: true,
};

/** On a DiskSchedule while it has entries. */
export const diskScheduleFinalizer = 'stowage.dev/disk-schedule';
