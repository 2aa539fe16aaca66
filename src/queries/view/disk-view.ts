import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { type BackingImage, backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { type DiskSettings, diskSettings } from '../../kube/stowage/disk-settings.ts';
import { type Replica, replicas } from '../../kube/stowage/replica.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { type DiskVolume, disksDriver, diskVolumes } from '../../kube/stowage/volume.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';

/** The disks that claims of `disks.stowage.dev` get their bytes from. */
export interface DiskView {
  readonly schedules: readonly DiskSchedule[];
  readonly nodes: readonly StorageNode[];
  readonly settings: readonly DiskSettings[];
  readonly volumes: readonly DiskVolume[];
  /** Only of files and the console. */
  readonly replicas?: readonly Replica[];
  /** Undefined if they may not be read. */
  readonly images?: readonly BackingImage[] | undefined;
}

/** Reads the disks, if a class uses them; undefined if there is none, or if the caller may not read them. */
export async function readDiskView(
  cluster: Cluster,
  snapshot: ClusterSnapshot,
): Promise<DiskView | undefined> {
  const isUsed = [...snapshot.values('StorageClass')].some(({ provisioner }) => provisioner === disksDriver);
  if (!isUsed) return undefined;
  const list = async <T extends KubeObject>(resource: Resource<T>) =>
    (await cluster.resource(resource).list()).items;
  try {
    const [schedules, nodes, settings, volumes] = await Promise.all([
      list(diskSchedules),
      list(storageNodes),
      list(diskSettings),
      list(diskVolumes),
    ]);
    const images = await unlessForbidden(list(backingImages));
    return { schedules, nodes, settings, volumes, images };
  } catch (error) {
    // They only add to the answer.
    if (isReason(error, 'Forbidden', 'NotFound')) return undefined;
    throw error;
  }
}

async function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isReason(error, 'Forbidden', 'NotFound')) return undefined;
    throw error;
  }
}

/** The disks among the objects of files; undefined if there are none. */
export function diskViewIn(objects: readonly KubeObject[]): DiskView | undefined {
  // Safe: an object of a kind is read by optional fields only.
  const of = <T extends KubeObject>({ kind }: Resource<T>) =>
    objects.filter((object) => object.kind === kind) as unknown as readonly T[];
  const found = {
    schedules: of(diskSchedules),
    nodes: of(storageNodes),
    settings: of(diskSettings),
    volumes: of(diskVolumes),
    replicas: of(replicas),
    images: of(backingImages),
  };
  return found.schedules.length + found.nodes.length === 0 ? undefined : found;
}
