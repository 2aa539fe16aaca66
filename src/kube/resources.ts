import type { CustomResourceDefinition } from './api/apiextensions.ts';
import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from './api/apps.ts';
import type { Lease } from './api/coordination.ts';
import type {
  ConfigMap,
  Event as CoreEvent,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  Secret,
  Service,
  ServiceAccount,
} from './api/core.ts';
import type { Event } from './api/events.ts';
import type { PodDisruptionBudget } from './api/policy.ts';
import type { DeviceClass } from './api/resource.ts';
import type { PriorityClass } from './api/scheduling.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
} from './api/storage.ts';
import type { Resource } from './resource.ts';
import { type DriverCapacity, stowageGroup, stowageVersion } from './stowage/driver-capacity.ts';

/* The collections that we have types for: `cluster.resource(pods).list()` returns pods. */

const core = { group: '', version: 'v1' } as const;
const apps = { group: 'apps', version: 'v1' } as const;
const storage = { group: 'storage.k8s.io', version: 'v1' } as const;
const inNamespace = { namespaced: true } as const;
const clusterWide = { namespaced: false } as const;

export const pods: Resource<Pod> = { ...core, ...inNamespace, kind: 'Pod', plural: 'pods' };
export const nodes: Resource<Node> = { ...core, ...clusterWide, kind: 'Node', plural: 'nodes' };
export const namespaces: Resource<Namespace> = {
  ...core,
  ...clusterWide,
  kind: 'Namespace',
  plural: 'namespaces',
};
export const persistentVolumes: Resource<PersistentVolume> = {
  ...core,
  ...clusterWide,
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
};
export const persistentVolumeClaims: Resource<PersistentVolumeClaim> = {
  ...core,
  ...inNamespace,
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
};
export const configMaps: Resource<ConfigMap> = {
  ...core,
  ...inNamespace,
  kind: 'ConfigMap',
  plural: 'configmaps',
};
export const secrets: Resource<Secret> = { ...core, ...inNamespace, kind: 'Secret', plural: 'secrets' };
export const replicationControllers: Resource<ReplicationController> = {
  ...core,
  ...inNamespace,
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
};
export const services: Resource<Service> = { ...core, ...inNamespace, kind: 'Service', plural: 'services' };
export const serviceAccounts: Resource<ServiceAccount> = {
  ...core,
  ...inNamespace,
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
};

/** Events by their older names; `events` are the same objects. */
export const coreEvents: Resource<CoreEvent> = { ...core, ...inNamespace, kind: 'Event', plural: 'events' };
export const events: Resource<Event> = {
  group: 'events.k8s.io',
  version: 'v1',
  ...inNamespace,
  kind: 'Event',
  plural: 'events',
};

export const statefulSets: Resource<StatefulSet> = {
  ...apps,
  ...inNamespace,
  kind: 'StatefulSet',
  plural: 'statefulsets',
};
export const deployments: Resource<Deployment> = {
  ...apps,
  ...inNamespace,
  kind: 'Deployment',
  plural: 'deployments',
};
export const replicaSets: Resource<ReplicaSet> = {
  ...apps,
  ...inNamespace,
  kind: 'ReplicaSet',
  plural: 'replicasets',
};
export const daemonSets: Resource<DaemonSet> = {
  ...apps,
  ...inNamespace,
  kind: 'DaemonSet',
  plural: 'daemonsets',
};
export const controllerRevisions: Resource<ControllerRevision> = {
  ...apps,
  ...inNamespace,
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
};

export const storageClasses: Resource<StorageClass> = {
  ...storage,
  ...clusterWide,
  kind: 'StorageClass',
  plural: 'storageclasses',
};
export const csiDrivers: Resource<CSIDriver> = {
  ...storage,
  ...clusterWide,
  kind: 'CSIDriver',
  plural: 'csidrivers',
};
export const csiNodes: Resource<CSINode> = {
  ...storage,
  ...clusterWide,
  kind: 'CSINode',
  plural: 'csinodes',
};
export const csiStorageCapacities: Resource<CSIStorageCapacity> = {
  ...storage,
  ...inNamespace,
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
};
export const volumeAttachments: Resource<VolumeAttachment> = {
  ...storage,
  ...clusterWide,
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
};
export const volumeAttributesClasses: Resource<VolumeAttributesClass> = {
  ...storage,
  ...clusterWide,
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
};

export const leases: Resource<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  ...inNamespace,
  kind: 'Lease',
  plural: 'leases',
};
export const podDisruptionBudgets: Resource<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  ...inNamespace,
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
};
export const priorityClasses: Resource<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  ...clusterWide,
  kind: 'PriorityClass',
  plural: 'priorityclasses',
};
export const customResourceDefinitions: Resource<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  ...clusterWide,
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};
/** Clusters before Kubernetes 1.34 do not serve it. */
export const deviceClasses: Resource<DeviceClass> = {
  group: 'resource.k8s.io',
  version: 'v1',
  ...clusterWide,
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  isOptional: true,
};
export const driverCapacities: Resource<DriverCapacity> = {
  group: stowageGroup,
  version: stowageVersion,
  ...clusterWide,
  kind: 'DriverCapacity',
  plural: 'drivercapacities',
  isOptional: true,
};
