import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';

/**
 * The kinds that the volume rules read. Pods are last, so that the objects that they refer to are known before. Stowage's own kinds are
 * included: on a cluster without their definitions there are no such objects, and when the definitions are installed the informers find
 * them.
 */
export const volumeKinds: readonly IndexedKind[] = [
  'StorageClass',
  'CSIDriver',
  'CSINode',
  'CSIStorageCapacity',
  'DriverCapacity',
  'Drive',
  'VolumeAttachment',
  'Node',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Pod',
];

/** All kinds that decisions use. */
export const decisionKinds: readonly IndexedKind[] = [
  'Namespace',
  'Service',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
  'DeviceClass',
  ...volumeKinds,
];
