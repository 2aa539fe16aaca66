import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { type DiskSettings, diskSettings } from '../../kube/stowage/disk-settings.ts';
import { type Replica, replicas } from '../../kube/stowage/replica.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { type DiskVolume, diskVolumes } from '../../kube/stowage/volume.ts';
import { everyKind, kindResources } from '../../state/kind-resources.ts';

/** The kinds of disks, which the engine's index does not have. */
export interface DiskObjectOf {
  readonly DiskSchedule: DiskSchedule;
  readonly StorageNode: StorageNode;
  readonly DiskSettings: DiskSettings;
  readonly DiskVolume: DiskVolume;
  readonly Replica: Replica;
}

export type DiskKind = keyof DiskObjectOf;

/** Every kind that the console reads. */
export type ConsoleKind = IndexedKind | DiskKind;

const diskResources: { readonly [K in DiskKind]: Resource<DiskObjectOf[K]> } = {
  DiskSchedule: diskSchedules,
  StorageNode: storageNodes,
  DiskSettings: diskSettings,
  DiskVolume: diskVolumes,
  Replica: replicas,
};

export const diskKinds = Object.keys(diskResources) as readonly DiskKind[];

export const consoleKinds: readonly ConsoleKind[] = [...everyKind, ...diskKinds];

export function resourceOfKind(kind: ConsoleKind): Resource<KubeObject> {
  return isDiskKind(kind) ? diskResources[kind] : (kindResources[kind] as Resource<KubeObject>);
}

export function isDiskKind(kind: ConsoleKind): kind is DiskKind {
  return Object.hasOwn(diskResources, kind);
}
