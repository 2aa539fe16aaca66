import type { Cluster } from '../../cluster/cluster.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { type BackingImage, backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { type DiskSettings, diskSettings } from '../../kube/stowage/disk-settings.ts';
import { type Replica, replicas } from '../../kube/stowage/replica.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { type DiskVolume, diskVolumes } from '../../kube/stowage/volume.ts';
import { listIfPermitted, unreadNote } from '../drives/drive-objects.ts';
import type { DiskView } from '../view/disk-view.ts';
import type { Note } from '../view/note.ts';

/** The objects that reports are computed from. Undefined: the caller is not permitted to list that kind. */
export interface DiskObjects {
  readonly nodes: readonly StorageNode[];
  readonly schedules: readonly DiskSchedule[];
  readonly settings: readonly DiskSettings[] | undefined;
  readonly volumes: readonly DiskVolume[] | undefined;
  readonly replicas: readonly Replica[] | undefined;
  readonly images: readonly BackingImage[] | undefined;
  readonly persistentVolumes: readonly PersistentVolume[] | undefined;
  readonly notes: readonly Note[];
}

/** The disks of a view; kinds that it lacks have no objects. */
export function diskObjectsOf(disks: DiskView, persistentVolumes: readonly PersistentVolume[]): DiskObjects {
  return { replicas: [], images: [], ...disks, persistentVolumes, notes: [] };
}

/** Reads nodes with their disks, and the objects that use them, as far as the caller is permitted to list them. Claims are found through PersistentVolumes. */
export async function readDiskObjects(
  cluster: Cluster,
  { withClaims = true }: { readonly withClaims?: boolean } = {},
): Promise<DiskObjects> {
  const [nodes, schedules, settings, volumes, found, images, pvs] = await Promise.all([
    cluster.resource(storageNodes).list(),
    cluster.resource(diskSchedules).list(),
    listIfPermitted(cluster, diskSettings),
    listIfPermitted(cluster, diskVolumes),
    listIfPermitted(cluster, replicas),
    listIfPermitted(cluster, backingImages),
    withClaims ? listIfPermitted(cluster, persistentVolumes) : [],
  ]);
  return {
    nodes: nodes.items,
    schedules: schedules.items,
    settings,
    volumes,
    replicas: found,
    images,
    persistentVolumes: pvs,
    notes: [
      ...(settings ? [] : [unreadNote('disksettings', 'limits may be those of another policy')]),
      ...(volumes ? [] : [unreadNote('volumes.stowage.dev', 'nothing is known about volumes')]),
      ...(found ? [] : [unreadNote('replicas', 'the volumes of replicas are not known')]),
      ...(images ? [] : [unreadNote('backingimages', 'nothing is known about images')]),
      ...(pvs ? [] : [unreadNote('persistentvolumes', 'the claims of volumes are not known')]),
    ],
  };
}
