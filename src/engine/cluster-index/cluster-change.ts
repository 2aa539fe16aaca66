import type { AttachmentRecord } from '../records/attachment-record.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { ClassRecord } from '../records/class-record.ts';
import type { DriverRecord, NodeDriversRecord } from '../records/driver-record.ts';
import type { NamespaceRecord } from '../records/namespace-record.ts';
import type { NodeRecord } from '../records/node-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { PodSelectorRecord } from '../records/pod-selector-record.ts';
import type { DriverPoolsRecord, PoolRecord } from '../records/pool-record.ts';
import type { VolumeRecord } from '../records/volume-record.ts';

/** The kinds that the index is fed with, each with what it keeps of them. */
export interface RecordOf {
  readonly Node: NodeRecord;
  readonly PersistentVolume: VolumeRecord;
  readonly PersistentVolumeClaim: ClaimRecord;
  readonly StorageClass: ClassRecord;
  readonly CSIDriver: DriverRecord;
  readonly CSINode: NodeDriversRecord;
  readonly CSIStorageCapacity: PoolRecord;
  readonly DriverCapacity: DriverPoolsRecord;
  readonly VolumeAttachment: AttachmentRecord;
  readonly Pod: PodRecord;
  readonly Namespace: NamespaceRecord;
  readonly Service: PodSelectorRecord;
  readonly ReplicationController: PodSelectorRecord;
  readonly ReplicaSet: PodSelectorRecord;
  readonly StatefulSet: PodSelectorRecord;
}

export type IndexedKind = keyof RecordOf;

/**
 * Something that happened to the index and may change an answer: an object came, went or changed, or a reservation was
 * given back. Rules say which changes could help a pod that they refused, and which make a remembered answer stale.
 */
export type ClusterChange = { [K in IndexedKind]: ObjectChange<K> }[IndexedKind] | ReleaseChange;

export interface ObjectChange<K extends IndexedKind> {
  readonly kind: K;
  /** Undefined: it was added. */
  readonly before: RecordOf[K] | undefined;
  /** Undefined: it was deleted. */
  readonly after: RecordOf[K] | undefined;
  /** Of a pool: its number includes volumes now that had been promised, so that it may have room even if the number fell. */
  readonly freesPromises: boolean;
}

export interface ReleaseChange {
  readonly kind: 'Release';
  /** Volumes that are on offer again. */
  readonly volumes: readonly VolumeRecord[];
  /** Pools that have more room again. */
  readonly pools: readonly PoolRecord[];
  /** The node that a pod no longer occupies. */
  readonly nodeName: string;
}

/** Something about an object that its owner should know; the index has taken what it could. */
export interface ObjectWarning {
  readonly kind: IndexedKind;
  readonly key: string;
  /** Names the field and the remedy. */
  readonly problem: string;
}
