import type { KubeObject } from '../../kube/api/meta.ts';
import { shortDefinition, shortNode, shortPod, shortWorkload } from '../../kube/redaction/short-forms.ts';
import type { Resource } from '../../kube/resource.ts';
import {
  coreEvents,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  customResourceDefinitions,
  daemonSets,
  deployments,
  driverCapacities,
  leases,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  priorityClasses,
  replicaSets,
  services,
  statefulSets,
  storageClasses,
  volumeAttachments,
  volumeAttributesClasses,
} from '../../kube/resources.ts';
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { diskSettings } from '../../kube/stowage/disk-settings.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { stowageGroup } from '../../kube/stowage/driver-capacity.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';

type Json = Readonly<Record<string, unknown>>;

export interface BundledKind {
  readonly resource: Resource;
  /** Leaves out fields before secrets are looked for. */
  readonly short?: (object: Json) => Json;
  readonly isWanted?: (object: KubeObject) => boolean;
}

/** No Secrets, no ConfigMaps, no service accounts: nothing in which secrets are kept. */
export const bundledKinds: readonly BundledKind[] = [
  { resource: nodes, short: shortNode },
  { resource: namespaces },
  { resource: pods, short: (pod) => shortPod(pod, { hasArguments: isOwnPod(pod as KubeObject) }) },
  { resource: persistentVolumes },
  { resource: persistentVolumeClaims },
  { resource: storageClasses },
  { resource: volumeAttributesClasses },
  { resource: volumeAttachments },
  { resource: csiDrivers },
  { resource: csiNodes },
  { resource: csiStorageCapacities },
  { resource: priorityClasses },
  { resource: podDisruptionBudgets, short: shortWorkload },
  { resource: deployments, short: shortWorkload },
  { resource: daemonSets, short: shortWorkload },
  { resource: statefulSets, short: shortWorkload },
  { resource: replicaSets, short: shortWorkload },
  { resource: services, short: shortWorkload },
  { resource: leases },
  { resource: coreEvents },
  {
    resource: customResourceDefinitions,
    short: shortDefinition,
    isWanted: ({ metadata }) => metadata?.name?.endsWith(`.${stowageGroup}`) === true,
  },
  { resource: driverCapacities },
  { resource: drives },
  { resource: storageNodes },
  { resource: diskSettings },
  { resource: diskSchedules },
  { resource: diskVolumes },
  { resource: replicas },
  { resource: backingImages },
] as readonly BundledKind[];

/** A pod of a component of Stowage, by the labels of its manifests. */
function isOwnPod({ metadata }: KubeObject): boolean {
  const labels = metadata?.labels ?? {};
  return labels['app.kubernetes.io/name'] === 'stowage' || labels.app === 'stowage';
}
