import { type BackingImage, backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import {
  type DiskCapacitySettings,
  type DiskSettings,
  diskSettings,
  diskSettingsName,
} from '../../kube/stowage/disk-settings.ts';
import { type Replica, replicas } from '../../kube/stowage/replica.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { type DiskVolume, diskVolumes } from '../../kube/stowage/volume.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import type { SharedInformers } from '../../reconcile/shared-informers.ts';

export interface DiskCaches {
  readonly volumes: Informer<DiskVolume>;
  readonly schedules: Informer<DiskSchedule>;
  readonly nodes: Informer<StorageNode>;
  readonly replicas: Informer<Replica>;
  readonly images: Informer<BackingImage>;
  readonly settings: Informer<DiskSettings>;
}

export function diskCaches(informers: SharedInformers): DiskCaches {
  return {
    volumes: informers.of(diskVolumes),
    schedules: informers.of(diskSchedules),
    nodes: informers.of(storageNodes),
    replicas: informers.of(replicas),
    images: informers.of(backingImages),
    settings: informers.of(diskSettings),
  };
}

/** The settings of all disks. */
export function capacitySettings({
  settings,
}: Pick<DiskCaches, 'settings'>): DiskCapacitySettings | undefined {
  return settings.get(diskSettingsName)?.spec;
}

/** UUIDs of the disks that the node reports. */
export function reportedDisks({ status }: Pick<StorageNode, 'status'>): ReadonlyMap<string, string> {
  const disks = Object.entries(status?.diskStatus ?? {});
  return new Map(disks.flatMap(([name, { diskUUID }]) => (diskUUID ? [[diskUUID, name] as const] : [])));
}

/** Whether nothing is requested, and nothing granted. */
export function isEmptySchedule({ spec, status }: Pick<DiskSchedule, 'spec' | 'status'>): boolean {
  const maps = [spec?.replicas, spec?.backingImages, status?.replicas, status?.backingImages];
  return maps.every((map) => Object.keys(map ?? {}).length === 0);
}
