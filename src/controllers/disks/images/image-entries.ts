import type { Projected } from '../../../cluster/cluster.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import type { DiskCaches } from '../disk-caches.ts';

/** Which schedules have an entry for an image, whatever the image itself says; kept up to date by events. */
export class ImageEntries {
  readonly #caches: DiskCaches;
  readonly #changed: (image: string) => void;
  readonly #disksOf = new Map<string, Set<string>>();

  /** `changed` is called for each image whose request or verdict has changed, also if it went. */
  constructor(caches: DiskCaches, changed: (image: string) => void) {
    this.#caches = caches;
    this.#changed = changed;
  }

  listen(): readonly (() => void)[] {
    return [
      this.#caches.schedules.addHandler({
        added: (schedule) => this.#update(schedule, {}),
        updated: (schedule, old) => this.#update(schedule, old),
        deleted: (schedule) => this.#update({ metadata: schedule.metadata ?? {} }, schedule),
      }),
    ];
  }

  /** UUIDs of the disks. */
  disksOf(image: string): Iterable<string> {
    return this.#disksOf.get(image) ?? [];
  }

  #update(
    schedule: Pick<Projected<DiskSchedule>, 'metadata' | 'spec' | 'status'>,
    old: Pick<Projected<DiskSchedule>, 'spec' | 'status'>,
  ): void {
    const uuid = schedule.metadata?.name ?? '';
    const names = new Set([schedule, old].flatMap(namesIn));
    for (const name of names) {
      const now = entryOf(schedule, name);
      this.#note(
        name,
        uuid,
        now.some((part) => part !== undefined),
      );
      if (!isEqualWhenStored(now, entryOf(old, name))) this.#changed(name);
    }
  }

  #note(image: string, uuid: string, hasEntry: boolean): void {
    const disks = this.#disksOf.get(image) ?? new Set();
    if (hasEntry) this.#disksOf.set(image, disks.add(uuid));
    else if (disks.delete(uuid) && disks.size === 0) this.#disksOf.delete(image);
  }
}

type Entries = Pick<Projected<DiskSchedule>, 'spec' | 'status'>;

function namesIn({ spec, status }: Entries): readonly string[] {
  return [...Object.keys(spec?.backingImages ?? {}), ...Object.keys(status?.backingImages ?? {})];
}

function entryOf({ spec, status }: Entries, name: string): readonly unknown[] {
  return [ownValue(spec?.backingImages, name), ownValue(status?.backingImages, name)];
}
