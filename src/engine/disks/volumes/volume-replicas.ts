import type { Replica } from '../../../kube/stowage/replica.ts';
import { belongsTo } from '../../../kube/stowage/replica-volume.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';
import { addTo, removeFrom } from '../../maps.ts';
import type { ObjectsByName } from '../disk-objects.ts';

/** The replicas of each Volume. The caller reports each change of a Replica. */
export class VolumeReplicas {
  readonly #replicas: ObjectsByName<Replica>;
  readonly #namesOf = new Map<string, Set<string>>();

  constructor(replicas: ObjectsByName<Replica>) {
    this.#replicas = replicas;
  }

  add({ metadata, spec }: Replica): void {
    addTo(this.#namesOf, spec?.volumeName ?? '', metadata?.name ?? '');
  }

  delete({ metadata, spec }: Replica): void {
    removeFrom(this.#namesOf, spec?.volumeName ?? '', metadata?.name ?? '');
  }

  /** The replicas that belong to this Volume, and not to a deleted one with the same name. */
  *of(volume: DiskVolume): Iterable<Replica> {
    for (const name of this.#namesOf.get(volume.metadata?.name ?? '') ?? []) {
      const replica = this.#replicas.get(name);
      if (replica !== undefined && belongsTo(replica, volume)) yield replica;
    }
  }

  /** The replicas that name the Volume and are not being deleted, by name. */
  stayingIn(volumeName: string): readonly Replica[] {
    return [...(this.#namesOf.get(volumeName) ?? [])].sort().flatMap((name) => {
      const replica = this.#replicas.get(name);
      return replica === undefined || replica.metadata?.deletionTimestamp !== undefined ? [] : [replica];
    });
  }
}
