import type { AttachmentRecord } from '../records/attachment-record.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { ClassRecord } from '../records/class-record.ts';
import type { DeviceClassRecord } from '../records/device-class-record.ts';
import type { DriverRecord, NodeDriversRecord } from '../records/driver-record.ts';
import type { NamespaceRecord } from '../records/namespace-record.ts';
import type { NodeRecord } from '../records/node-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { PodSelectorRecord } from '../records/pod-selector-record.ts';
import type { DriverPoolsRecord, PoolRecord } from '../records/pool-record.ts';
import type { VolumeRecord } from '../records/volume-record.ts';
import type { DriverPoolsDifference } from './pool-changes.ts';

/** The kinds that the index stores, each with its record type. */
export interface RecordOf {
  readonly Node: NodeRecord;
  readonly PersistentVolume: VolumeRecord;
  readonly PersistentVolumeClaim: ClaimRecord;
  readonly StorageClass: ClassRecord;
  readonly CSIDriver: DriverRecord;
  readonly CSINode: NodeDriversRecord;
  readonly CSIStorageCapacity: PoolRecord;
  readonly DriverCapacity: DriverPoolsRecord;
  readonly Drive: PoolRecord;
  readonly VolumeAttachment: AttachmentRecord;
  readonly Pod: PodRecord;
  readonly Namespace: NamespaceRecord;
  readonly Service: PodSelectorRecord;
  readonly ReplicationController: PodSelectorRecord;
  readonly ReplicaSet: PodSelectorRecord;
  readonly StatefulSet: PodSelectorRecord;
  readonly DeviceClass: DeviceClassRecord;
}

export type IndexedKind = keyof RecordOf;

/**
 * A change of the index that may change a plan: an object was added, updated or deleted, or a reservation was released. Rules
 * decide which changes could help a pod that they refused, and which changes invalidate a cached answer.
 */
export type ClusterChange =
  | { [K in Exclude<IndexedKind, 'DriverCapacity'>]: ObjectChange<K> }[Exclude<IndexedKind, 'DriverCapacity'>]
  | DriverPoolsChange
  | ReleaseChange;

export interface ObjectChange<K extends IndexedKind> {
  readonly kind: K;
  /** Undefined if the object was added. */
  readonly before: RecordOf[K] | undefined;
  /** Undefined if the object was deleted. */
  readonly after: RecordOf[K] | undefined;
  /**
   * Pools of which the change released promises, and the pools on the same disks. Their published capacity now includes the volumes, so
   * they may have more available even if the reported capacity fell.
   */
  readonly freedPools: readonly PoolRecord[];
}

export interface DriverPoolsChange extends ObjectChange<'DriverCapacity'> {
  readonly difference: DriverPoolsDifference;
}

export interface ReleaseChange {
  readonly kind: 'Release';
  /** Volumes that are free again. */
  readonly volumes: readonly VolumeRecord[];
  /** Pools that have more available again. */
  readonly pools: readonly PoolRecord[];
  /** The node on which the pod no longer counts; empty if the release concerns no node. */
  readonly nodeName: string;
  /** Set if the reports of these pools had expired at this time, and are used again: that helps only pods that were refused since. */
  readonly expiredAtMs?: number | undefined;
}

/** A problem in an object that its owner should fix. The index uses the readable parts of the object. */
export interface ObjectWarning {
  readonly kind: IndexedKind;
  readonly key: string;
  /** Names the field and how to fix it. */
  readonly problem: string;
}

/** The result of adding, updating or removing one object. */
export interface IndexUpdate {
  /** Undefined if nothing changed: the object had the same version as the stored one, or an older one. */
  readonly change: ClusterChange | undefined;
  readonly warnings: readonly ObjectWarning[];
}

/** The only cast that pairs a kind with its record type. */
export function clusterChangeOf(
  change: { readonly kind: IndexedKind; readonly before: unknown; readonly after: unknown },
  freedPools: readonly PoolRecord[],
): ClusterChange {
  return { ...change, freedPools } as unknown as ClusterChange;
}

export function namelessUpdate(kind: IndexedKind): IndexUpdate {
  const problem = 'metadata.name: is missing; the object is ignored';
  return { change: undefined, warnings: [{ kind, key: '', problem }] };
}
