import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { Lease } from '../kube/api/coordination.ts';
import type { Event } from '../kube/api/core.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { apiVersionOf } from '../kube/resource.ts';
import { backingImages } from '../kube/stowage/backing-image.ts';
import { diskSchedules } from '../kube/stowage/disk-schedule.ts';
import { diskSettings } from '../kube/stowage/disk-settings.ts';
import { type DriverCapacity, stowageApiVersion } from '../kube/stowage/driver-capacity.ts';
import { replicas } from '../kube/stowage/replica.ts';
import { storageNodes } from '../kube/stowage/storage-node.ts';
import { diskVolumes } from '../kube/stowage/volume.ts';
import { isRecord, textOf } from '../kube/wire.ts';
import type { ClusterSnapshot } from './cluster-snapshot.ts';
import { kindResources } from './kind-resources.ts';

export interface SortedObjects {
  /** How many objects were added to the snapshot. */
  readonly objects: number;
  readonly events: readonly Event[];
  readonly leases: readonly Lease[];
  /** Disks and their volumes, which decisions don't use and explanations do. */
  readonly diskKinds: readonly KubeObject[];
  /** PriorityClasses and PodDisruptionBudgets, which predictions use. */
  readonly policies: readonly KubeObject[];
  /** Objects of all other kinds. */
  readonly others: readonly KubeObject[];
}

/** Adds the objects that decisions use to a snapshot, and sorts the others. */
export function addObjects(objects: Iterable<KubeObject>, snapshot: ClusterSnapshot): SortedObjects {
  const events: Event[] = [];
  const leases: Lease[] = [];
  const diskKinds: KubeObject[] = [];
  const policies: KubeObject[] = [];
  const others: KubeObject[] = [];
  let added = 0;
  for (const object of objects) {
    const kind = indexedKind(object);
    if (kind !== undefined) {
      snapshot.add(kind, withNamespace(kind, object) as never);
      const pools = kind === 'CSIDriver' ? poolsOfDriver(object) : undefined;
      if (pools !== undefined) snapshot.add('DriverCapacity', pools);
      added += 1;
    } else if (object.kind === 'Event') events.push(object as Event);
    else if (object.kind === 'Lease') {
      leases.push(object as Lease);
      snapshot.addLease(object as Lease);
    } else if (isDiskKind(object)) diskKinds.push(object);
    else if (object.kind === 'PriorityClass' || object.kind === 'PodDisruptionBudget') policies.push(object);
    else others.push(object);
  }
  return { objects: added, events, leases, diskKinds, policies, others };
}

/**
 * The storage-capacity proposal has the pools in the status of the CSIDriver, where Kubernetes has no such field. A file in that form gives
 * the DriverCapacity of the same name, which has the same fields.
 */
function poolsOfDriver({ metadata, ...rest }: KubeObject): DriverCapacity | undefined {
  const { spec, status } = rest as Pick<DriverCapacity, 'spec' | 'status'>;
  if (!isRecord(status) || !Array.isArray(status.storage) || metadata === undefined) return undefined;
  return {
    apiVersion: stowageApiVersion,
    kind: 'DriverCapacity',
    metadata: { name: metadata.name ?? (metadata as { readonly Name?: string }).Name ?? '' },
    spec: { capacityTracking: isRecord(spec) && spec.capacityTracking === true },
    status,
  };
}

/** Kinds of other API groups may have the same name: a Knative Service is not a core Service. */
function indexedKind({ kind, apiVersion }: KubeObject): IndexedKind | undefined {
  if (kind === undefined || !Object.hasOwn(kindResources, kind)) return undefined;
  const resource = kindResources[kind as IndexedKind];
  const group = (version: string) => (version.includes('/') ? version.split('/')[0] : '');
  const isSame = apiVersion === undefined || group(apiVersion) === group(apiVersionOf(resource));
  return isSame ? (kind as IndexedKind) : undefined;
}

const diskResources = [diskSchedules, storageNodes, diskSettings, diskVolumes, replicas, backingImages];

function isDiskKind({ kind, apiVersion }: KubeObject): boolean {
  return diskResources.some((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
}

/** Adds the namespace `default` to a namespaced object without one, as kubectl does. */
function withNamespace(kind: IndexedKind, object: KubeObject): KubeObject {
  const hasNamespace = !kindResources[kind].namespaced || textOf(object.metadata?.namespace) !== '';
  return hasNamespace ? object : { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}
