import type { Replica } from '../../../kube/stowage/replica.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';
import { addTo, removeFrom } from '../../maps.ts';
import type { DiskObjectMaps, ObjectsByName } from '../disk-objects.ts';
import { VolumeReplicas } from '../volumes/volume-replicas.ts';

export interface ImageUse {
  readonly image: string;
  readonly volume: string;
}

/** Which Volumes use an image, and on which disks their replicas are. The caller reports each change of a Volume or Replica. */
export class ImageUsers {
  readonly #volumes: ObjectsByName<DiskVolume>;
  readonly #replicas: VolumeReplicas;
  readonly #volumesOf = new Map<string, Set<string>>();

  constructor({ volumes, replicas }: Pick<DiskObjectMaps, 'volumes' | 'replicas'>) {
    this.#volumes = volumes;
    this.#replicas = new VolumeReplicas(replicas);
  }

  /** The users among objects that do not change. */
  static of(objects: DiskObjectMaps): ImageUsers {
    const users = new ImageUsers(objects);
    for (const volume of objects.volumes.values()) users.addVolume(volume);
    for (const replica of objects.replicas.values()) users.addReplica(replica);
    return users;
  }

  volumesOf(image: string): readonly string[] {
    return [...(this.#volumesOf.get(image) ?? [])].sort();
  }

  /** The replicas of a Volume that are not being deleted. */
  replicasOf(volume: string): readonly Replica[] {
    return this.#replicas.stayingIn(volume);
  }

  /**
   * The disks of all replicas that use the image, by UUID, with the name of one replica each. A replica without its bytes does not count: another disk may get
   * it, and it must not compete with the copy for the free bytes of this one.
   */
  neededOn(image: string): ReadonlyMap<string, string> {
    const disks = new Map<string, string>();
    for (const volume of this.volumesOf(image))
      for (const replica of this.replicasOf(volume)) {
        const uuid = replica.spec?.diskID;
        if (uuid !== undefined && isPlaced(replica) && !disks.has(uuid))
          disks.set(uuid, replica.metadata?.name ?? '');
      }
    return disks;
  }

  /** Returns undefined if the Volume uses no image; so do the other methods that report a change. */
  addVolume(volume: DiskVolume): ImageUse | undefined {
    const use = useOf(volume);
    if (use !== undefined) addTo(this.#volumesOf, use.image, use.volume);
    return use;
  }

  deleteVolume(volume: DiskVolume): ImageUse | undefined {
    const use = useOf(volume);
    if (use !== undefined) removeFrom(this.#volumesOf, use.image, use.volume);
    return use;
  }

  addReplica(replica: Replica): ImageUse | undefined {
    this.#replicas.add(replica);
    return useOf(this.#volumes.get(replica.spec?.volumeName ?? ''));
  }

  deleteReplica(replica: Replica): ImageUse | undefined {
    this.#replicas.delete(replica);
    return useOf(this.#volumes.get(replica.spec?.volumeName ?? ''));
  }
}

function useOf(volume: DiskVolume | undefined): ImageUse | undefined {
  const image = volume?.spec?.backingImage;
  return image === undefined ? undefined : { image, volume: volume?.metadata?.name ?? '' };
}

/** Whether the bytes of the replica have been granted: its desired state is set afterwards. */
function isPlaced({ spec, status }: Replica): boolean {
  return spec?.desiredState === 'running' || status?.healthyAt !== undefined;
}
