import type { Resource } from '../cluster/resource.ts';
import { driverCapacities } from '../cluster/resources.ts';
import type { Kind } from '../engine/index/change.ts';

/** All that decisions are made from; a cluster that has never heard of our own kinds does without them. */
export function decisionKinds(served: readonly Pick<Resource, 'group' | 'plural'>[]): readonly Kind[] {
  const isServed = served.some(({ group, plural }) => {
    return group === driverCapacities.group && plural === driverCapacities.plural;
  });
  return isServed ? [...kinds, 'DriverCapacity'] : kinds;
}

/** What the rules about volumes read. Pods last: whatever they speak of is known when they come. */
export const volumeKinds: readonly Kind[] = [
  'StorageClass',
  'CSIDriver',
  'CSINode',
  'CSIStorageCapacity',
  'VolumeAttachment',
  'Node',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Pod',
];

const kinds: readonly Kind[] = [
  'Namespace',
  'Service',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
  ...volumeKinds,
];
