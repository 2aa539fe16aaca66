import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import type { ObjectsByName } from '../disk-objects.ts';

type Entries = Pick<DiskSchedule, 'spec' | 'status'>;

/** Which schedules have an entry for an image, whatever the image itself says. The caller reports each change of a schedule. */
export class ImageEntries {
  readonly #disksOf = new Map<string, Set<string>>();

  /** The entries of schedules that do not change. */
  static of(schedules: ObjectsByName<DiskSchedule>): ImageEntries {
    const entries = new ImageEntries();
    for (const schedule of schedules.values()) entries.update(schedule, {});
    return entries;
  }

  /** UUIDs of the disks. */
  disksOf(image: string): Iterable<string> {
    return this.#disksOf.get(image) ?? [];
  }

  /** Returns the names of the images whose request or verdict differs between the two versions of the schedule. */
  update(schedule: Pick<DiskSchedule, 'metadata' | 'spec' | 'status'>, old: Entries): readonly string[] {
    const uuid = schedule.metadata?.name ?? '';
    const names = new Set([schedule, old].flatMap(namesIn));
    return [...names].filter((name) => {
      const now = entryOf(schedule, name);
      const hasEntry = now.some((part) => part !== undefined);
      this.#set(name, uuid, hasEntry);
      return !isEqualWhenStored(now, entryOf(old, name));
    });
  }

  #set(image: string, uuid: string, hasEntry: boolean): void {
    const disks = this.#disksOf.get(image) ?? new Set();
    if (hasEntry) this.#disksOf.set(image, disks.add(uuid));
    else if (disks.delete(uuid) && disks.size === 0) this.#disksOf.delete(image);
  }
}

function namesIn({ spec, status }: Entries): readonly string[] {
  return [...Object.keys(spec?.backingImages ?? {}), ...Object.keys(status?.backingImages ?? {})];
}

function entryOf({ spec, status }: Entries, name: string): readonly unknown[] {
  return [ownValue(spec?.backingImages, name), ownValue(status?.backingImages, name)];
}
