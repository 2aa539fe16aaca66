import {
  ephemeralStorageClassName,
  fallbackStorageClassName,
} from '../../../kube/stowage/driver-capacity.ts';
import { setOrDelete } from '../../maps.ts';
import type { DriverPoolsRecord } from '../../records/pool-record.ts';
import type { EntriesDifference } from '../pool-changes.ts';

/**
 * For which classes each driver publishes capacity, over all DriverCapacity objects that carry its pools. An object that does not track
 * capacity counts for nothing. Objects are counted, so that an object that comes or goes costs its own entries.
 */
export class DriverEntries {
  readonly #byDriver = new Map<string, Counts>();

  isTracked(driver: string): boolean {
    return this.#byDriver.has(driver);
  }

  /** False if the driver's objects have only pools for inline volumes: then its classes may be published in another form. */
  coversClasses(driver: string): boolean {
    const counts = this.#byDriver.get(driver);
    return counts !== undefined && coversClasses(counts);
  }

  /** The class whose entry serves volumes of the class: itself or `<fallback>`; undefined if there is neither. */
  entryName(driver: string, storageClass: string): string | undefined {
    const classes = this.#byDriver.get(driver)?.classes;
    if (classes === undefined) return undefined;
    if (classes.has(storageClass)) return storageClass;
    return classes.has(fallbackStorageClassName) ? fallbackStorageClassName : undefined;
  }

  /** Replaces one version of an object by the next. */
  replace(before: DriverPoolsRecord | undefined, after: DriverPoolsRecord | undefined): EntriesDifference {
    if (haveSameEntries(before, after)) return noDifference;
    const drivers = new Set([before, after].flatMap((record) => record?.driver ?? []));
    const names = new Set([...(before?.entries.keys() ?? []), ...(after?.entries.keys() ?? [])]);
    const stateBefore = this.#stateOf(drivers, names);
    this.#count(before, -1);
    this.#count(after, 1);
    const state = this.#stateOf(drivers, names);
    return {
      changesTracking: state.tracked.some((each, position) => each !== stateBefore.tracked[position]),
      entries: [...names].filter((name) => state.entries.has(name) !== stateBefore.entries.has(name)),
    };
  }

  #stateOf(drivers: ReadonlySet<string>, names: ReadonlySet<string>) {
    const found = [...drivers].map((driver) => this.#byDriver.get(driver));
    return {
      tracked: found.map((counts) => counts !== undefined && (coversClasses(counts) ? 'classes' : 'inline')),
      entries: new Set([...names].filter((name) => found.some((counts) => counts?.classes.has(name)))),
    };
  }

  #count(record: DriverPoolsRecord | undefined, difference: 1 | -1): void {
    if (record?.tracksCapacity !== true) return;
    const counts = this.#byDriver.get(record.driver) ?? { objects: 0, classes: new Map<string, number>() };
    counts.objects += difference;
    for (const name of record.entries.keys()) {
      const count = (counts.classes.get(name) ?? 0) + difference;
      setOrDelete(counts.classes, name, count === 0 ? undefined : count);
    }
    setOrDelete(this.#byDriver, record.driver, counts.objects === 0 ? undefined : counts);
  }
}

interface Counts {
  /** Objects that track the driver. */
  objects: number;
  /** How many of them have an entry for each class. */
  readonly classes: Map<string, number>;
}

function coversClasses({ classes }: Counts): boolean {
  return classes.size !== 1 || !classes.has(ephemeralStorageClassName);
}

const noDifference: EntriesDifference = { entries: [], changesTracking: false };

function haveSameEntries(
  before: DriverPoolsRecord | undefined,
  after: DriverPoolsRecord | undefined,
): boolean {
  if (before === undefined || after === undefined) return before === after;
  if (before.driver !== after.driver || before.tracksCapacity !== after.tracksCapacity) return false;
  if (before.entries.size !== after.entries.size) return false;
  for (const name of after.entries.keys()) if (!before.entries.has(name)) return false;
  return true;
}
