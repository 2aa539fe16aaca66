import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';

/**
 * What the rules about volumes read. Pods last: whatever they speak of is known when they come. Our own kinds are among them: a cluster
 * that has never heard of them has none, and when they are installed they are seen.
 */
export const volumeKinds: readonly IndexedKind[] = [
  'StorageClass',
  'CSIDriver',
  'CSINode',
  'CSIStorageCapacity',
  'DriverCapacity',
  'VolumeAttachment',
  'Node',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Pod',
];

/** All that decisions are made from. */
export const decisionKinds: readonly IndexedKind[] = [
  'Namespace',
  'Service',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
  ...volumeKinds,
];
