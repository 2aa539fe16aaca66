import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { ObjectOf } from '../engine/cluster-index/read-object.ts';
import type { Resource } from '../kube/resource.ts';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  deviceClasses,
  driverCapacities,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
  storageClasses,
  volumeAttachments,
} from '../kube/resources.ts';
import { drives } from '../kube/stowage/drive.ts';

/** The API resource of each kind that the index stores. */
export const kindResources: { readonly [K in IndexedKind]: Resource<ObjectOf[K]> } = {
  Node: nodes,
  PersistentVolume: persistentVolumes,
  PersistentVolumeClaim: persistentVolumeClaims,
  StorageClass: storageClasses,
  CSIDriver: csiDrivers,
  CSINode: csiNodes,
  CSIStorageCapacity: csiStorageCapacities,
  DriverCapacity: driverCapacities,
  Drive: drives,
  VolumeAttachment: volumeAttachments,
  Pod: pods,
  Namespace: namespaces,
  Service: services,
  ReplicationController: replicationControllers,
  ReplicaSet: replicaSets,
  StatefulSet: statefulSets,
  DeviceClass: deviceClasses,
};

/** All kinds, in the order in which they are added to an empty index. */
export const everyKind = Object.keys(kindResources) as readonly IndexedKind[];
