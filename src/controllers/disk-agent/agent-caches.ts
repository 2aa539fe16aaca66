import { type BackingImage, backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { type Replica, replicas } from '../../kube/stowage/replica.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import type { SharedInformers } from '../../reconcile/shared-informers.ts';

/** The caches of all loops of an agent. Agents of several nodes in one process share them. */
export interface DiskAgentCaches {
  readonly nodes: Informer<StorageNode>;
  readonly replicas: Informer<Replica>;
  readonly images: Informer<BackingImage>;
  readonly schedules: Informer<DiskSchedule>;
}

export function diskAgentCaches(informers: SharedInformers): DiskAgentCaches {
  return {
    nodes: informers.of(storageNodes),
    replicas: informers.of(replicas),
    images: informers.of(backingImages),
    schedules: informers.of(diskSchedules),
  };
}
