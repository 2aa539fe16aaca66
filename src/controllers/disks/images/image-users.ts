import type { Projected } from '../../../cluster/cluster.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';
import type { DiskCaches } from '../disk-caches.ts';

export interface ImageUse {
  readonly image: string;
  readonly volume: string;
}

/** Which Volumes use an image, and on which disks their replicas are; kept up to date by events. */
export class ImageUsers {
  readonly #caches: DiskCaches;
  readonly #changed: (use: ImageUse) => void;
  readonly #volumesOf = new Map<string, Set<string>>();
  readonly #replicasOf = new Map<string, Set<string>>();

  /** `changed` is called if a Volume that uses an image, or one of its replicas, has changed. */
  constructor(caches: DiskCaches, changed: (use: ImageUse) => void) {
    this.#caches = caches;
    this.#changed = changed;
  }

  listen(): readonly (() => void)[] {
    const { volumes, replicas } = this.#caches;
    const addVolume = (volume: Projected<DiskVolume>) => this.#volumeChanged(volume, addTo);
    const addReplica = (replica: Projected<Replica>) => this.#replicaChanged(replica, addTo);
    return [
      volumes.addHandler({
        added: addVolume,
        updated: addVolume,
        deleted: (volume) => this.#volumeChanged(volume, removeFrom),
      }),
      replicas.addHandler({
        added: addReplica,
        updated: addReplica,
        deleted: (replica) => this.#replicaChanged(replica, removeFrom),
      }),
    ];
  }

  volumesOf(image: string): readonly string[] {
    return [...(this.#volumesOf.get(image) ?? [])].sort();
  }

  /** The replicas of a Volume that stay. */
  replicasOf(volume: string): readonly Projected<Replica>[] {
    return [...(this.#replicasOf.get(volume) ?? [])].sort().flatMap((name) => {
      const replica = this.#caches.replicas.get(name);
      return replica === undefined || replica.metadata?.deletionTimestamp !== undefined ? [] : [replica];
    });
  }

  /**
   * The disks of all replicas that use the image, by UUID, with the name of one replica each. A replica without its bytes does not count: it may go
   * to another disk, and must not compete with the copy for the room of this one.
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

  #volumeChanged({ metadata, spec }: Projected<DiskVolume>, change: SetChange): void {
    if (spec?.backingImage === undefined) return;
    const volume = metadata?.name ?? '';
    change(this.#volumesOf, spec.backingImage, volume);
    this.#changed({ image: spec.backingImage, volume });
  }

  #replicaChanged({ metadata, spec }: Projected<Replica>, change: SetChange): void {
    const volume = spec?.volumeName ?? '';
    change(this.#replicasOf, volume, metadata?.name ?? '');
    const image = this.#caches.volumes.get(volume)?.spec?.backingImage;
    if (image !== undefined) this.#changed({ image, volume });
  }
}

/** Its desired state is set when its bytes have been granted. */
function isPlaced({ spec, status }: Projected<Replica>): boolean {
  return spec?.desiredState === 'running' || status?.healthyAt !== undefined;
}

type SetChange = (sets: Map<string, Set<string>>, key: string, value: string) => void;

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}

function removeFrom(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}
