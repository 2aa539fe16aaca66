import type { DiskObjectMaps } from '../../engine/disks/disk-objects.ts';
import { type BackingImage, backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { type DiskSettings, diskSettings } from '../../kube/stowage/disk-settings.ts';
import { type Replica, replicas } from '../../kube/stowage/replica.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { type DiskVolume, diskVolumes } from '../../kube/stowage/volume.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import type { SharedInformers } from '../../reconcile/shared-informers.ts';

/** The objects of `DiskObjectMaps`, as informers report them. */
export interface DiskCaches extends DiskObjectMaps {
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
