import type { ReplicaSet, StatefulSet } from '../../kube/api/apps.ts';
import type {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  Service,
} from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { DeviceClass } from '../../kube/api/resource.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
} from '../../kube/api/storage.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import type { DriverCapacity } from '../../kube/stowage/driver-capacity.ts';
import { readAttachment } from '../records/attachment-record.ts';
import { readClaim } from '../records/claim-record.ts';
import { readClass } from '../records/class-record.ts';
import { readDeviceClass } from '../records/device-class-record.ts';
import { readDriver, readNodeDrivers } from '../records/driver-record.ts';
import { readNamespace } from '../records/namespace-record.ts';
import { readNode } from '../records/node-record.ts';
import { readPod } from '../records/pod-record.ts';
import { readLabelSelector, readMapSelector, readStatefulSet } from '../records/pod-selector-record.ts';
import { readCapacity, readDriverPools } from '../records/pool-record.ts';
import { type ReadContext, readVolume } from '../records/volume-record.ts';
import type { IndexedKind, RecordOf } from './cluster-change.ts';
import { readDrivePool } from './pools/drive-pool.ts';

/** The Kubernetes object type of each kind that the index stores. */
export interface ObjectOf {
  readonly Node: Node;
  readonly PersistentVolume: PersistentVolume;
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
  readonly StorageClass: StorageClass;
  readonly CSIDriver: CSIDriver;
  readonly CSINode: CSINode;
  readonly CSIStorageCapacity: CSIStorageCapacity;
  readonly DriverCapacity: DriverCapacity;
  readonly Drive: Drive;
  readonly VolumeAttachment: VolumeAttachment;
  readonly Pod: Pod;
  readonly Namespace: Namespace;
  readonly Service: Service;
  readonly ReplicationController: ReplicationController;
  readonly ReplicaSet: ReplicaSet;
  readonly StatefulSet: StatefulSet;
  readonly DeviceClass: DeviceClass;
}

type Readers = { readonly [K in IndexedKind]: (object: ObjectOf[K], context: ReadContext) => RecordOf[K] };

/** Converts objects to records, one reader per kind. Readers never throw. */
export const readers: Readers = {
  Node: readNode,
  PersistentVolume: readVolume,
  PersistentVolumeClaim: (claim, { interner }) => readClaim(claim, interner),
  StorageClass: readClass,
  CSIDriver: readDriver,
  CSINode: readNodeDrivers,
  CSIStorageCapacity: (capacity, { interner, classOf }) => readCapacity(capacity, interner, classOf),
  DriverCapacity: (capacity, { interner, knownPools, classOf }) =>
    readDriverPools(capacity, interner, knownPools(capacity.metadata?.name ?? ''), classOf),
  Drive: (drive, { interner }) => readDrivePool(drive, interner),
  VolumeAttachment: readAttachment,
  Pod: readPod,
  Namespace: readNamespace,
  Service: readMapSelector,
  ReplicationController: readMapSelector,
  ReplicaSet: readLabelSelector,
  StatefulSet: readStatefulSet,
  DeviceClass: readDeviceClass,
};

const namespacedKinds: ReadonlySet<IndexedKind> = new Set([
  'PersistentVolumeClaim',
  'CSIStorageCapacity',
  'Pod',
  'Service',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
]);

/** `name` or `namespace/name`; undefined if the object has no name. */
export function indexKeyOf(kind: IndexedKind, object: KubeObject): string | undefined {
  const { name, namespace } = object.metadata ?? {};
  if (typeof name !== 'string' || name === '') return undefined;
  return namespacedKinds.has(kind) ? `${typeof namespace === 'string' ? namespace : ''}/${name}` : name;
}

/** A watch can deliver any JSON value. */
export function asObject<T extends KubeObject>(object: T): T {
  return typeof object === 'object' && object !== null ? object : ({} as T);
}
