import type { ConsoleDisk, ConsolePool, ConsoleVolume } from '../../wire/rows.ts';
import type { PageStore } from '../store.ts';

/** Something on a node that holds bytes. */
export interface StorageUnit {
  readonly id: string;
  readonly kind: 'drive' | 'disk' | 'pool' | 'volumes';
  readonly name: string;
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly promisedBytes: number;
  /** A disk that does not answer. */
  readonly isTotalUnknown?: boolean;
  readonly promisedWord?: 'pending';
  /** Empty if it takes new volumes. */
  readonly problem: string;
  readonly isFull: boolean;
}

/** More than this of a pool, drive or disk is used or promised: it is shown as almost full. */
const almostFull = 0.9;

export interface StorageSum {
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly promisedBytes: number;
  readonly hasProblem: boolean;
  readonly isFull: boolean;
}

interface LocalVolumes {
  count: number;
  totalBytes: number;
  usedBytes: number;
}

/**
 * What is on each node, in each zone and everywhere: drives, disks, pools, and local volumes by class. It is kept up to date row by row, so
 * that one change among 50,000 volumes costs one step.
 */
export class NodeStorage {
  /** Units by id, for each node, zone (`zone:NAME`), or the whole cluster (`*`). */
  readonly #units = new Map<string, Map<string, StorageUnit>>();
  /** Local volumes by node and class. */
  readonly #volumes = new Map<string, Map<string, LocalVolumes>>();
  readonly #stops: readonly (() => void)[];

  constructor(store: PageStore) {
    this.#stops = [
      store.observe('pool', (before, after) => {
        if (before !== undefined) this.#remove(placeOfPool(before), before.id);
        if (after !== undefined && !after.isSummary) this.#add(placeOfPool(after), unitOfPool(after));
      }),
      store.observe('disk', (before, after) => {
        if (before !== undefined) this.#remove(before.node, before.id);
        if (after !== undefined) this.#add(after.node, unitOfDisk(after));
      }),
      store.observe('volume', (before, after) => {
        if (before !== undefined) this.#count(before, -1);
        if (after !== undefined) this.#count(after, 1);
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Units of a node, `zone:NAME` or `*`. */
  unitsOf(place: string): readonly StorageUnit[] {
    const units = [...(this.#units.get(place)?.values() ?? [])];
    const local = [...(this.#volumes.get(place) ?? [])].map(([storageClass, volumes]): StorageUnit => {
      const { count, totalBytes, usedBytes } = volumes;
      const name = `${storageClass || 'no class'}: ${count} volume${count === 1 ? '' : 's'}`;
      return {
        id: `volumes ${storageClass}`,
        kind: 'volumes',
        name,
        totalBytes,
        usedBytes,
        promisedBytes: 0,
        problem: '',
        isFull: false,
      };
    });
    return [...units, ...local].sort((a, b) => (a.kind + a.name < b.kind + b.name ? -1 : 1));
  }

  sumOf(place: string): StorageSum {
    let totalBytes = 0;
    let usedBytes = 0;
    let promisedBytes = 0;
    let hasProblem = false;
    for (const unit of this.#units.get(place)?.values() ?? []) {
      totalBytes += unit.totalBytes;
      usedBytes += unit.usedBytes;
      promisedBytes += unit.isTotalUnknown === true ? 0 : unit.promisedBytes;
      hasProblem ||= unit.problem !== '';
    }
    // A volume that exists is free or taken as a whole: a taken one is not almost full.
    const isFull = totalBytes > 0 && (usedBytes + promisedBytes) / totalBytes > almostFull;
    for (const volumes of this.#volumes.get(place)?.values() ?? []) {
      totalBytes += volumes.totalBytes;
      usedBytes += volumes.usedBytes;
    }
    return { totalBytes, usedBytes, promisedBytes, hasProblem, isFull };
  }

  #add(place: string, unit: StorageUnit): void {
    const units = this.#units.get(place);
    if (units === undefined) this.#units.set(place, new Map([[unit.id, unit]]));
    else units.set(unit.id, unit);
  }

  #remove(place: string, id: string): void {
    this.#units.get(place)?.delete(id);
  }

  /** A volume that several nodes reach is on none of them; one that a driver has created is part of a pool or drive. */
  #count({ node, storageClass, sizeBytes, phase, isProvisioned }: ConsoleVolume, sign: 1 | -1): void {
    if (node === '' || isProvisioned) return;
    const ofNode = this.#volumes.get(node) ?? new Map<string, LocalVolumes>();
    this.#volumes.set(node, ofNode);
    const known = ofNode.get(storageClass) ?? { count: 0, totalBytes: 0, usedBytes: 0 };
    ofNode.set(storageClass, known);
    known.count += sign;
    known.totalBytes += sign * sizeBytes;
    if (phase !== 'Available') known.usedBytes += sign * sizeBytes;
    if (known.count === 0) ofNode.delete(storageClass);
  }
}

function placeOfPool({ node, zone }: ConsolePool): string {
  return node !== '' ? node : zone !== '' ? `zone:${zone}` : '*';
}

function unitOfPool(pool: ConsolePool): StorageUnit {
  const { id, source, storageClass, totalBytes, usedBytes, promisedBytes, freeBytes, state } = pool;
  const total = totalBytes ?? (usedBytes ?? 0) + promisedBytes + Math.max(0, freeBytes);
  return {
    id,
    kind: source === 'Drive' ? 'drive' : 'pool',
    name: source === 'Drive' ? `drive ${pool.name}` : `pool ${storageClass}`,
    totalBytes: total,
    isFull: ((usedBytes ?? 0) + promisedBytes) / total > almostFull,
    usedBytes: usedBytes ?? 0,
    promisedBytes,
    problem: state === 'Ready' ? '' : state,
  };
}

function unitOfDisk(disk: ConsoleDisk): StorageUnit {
  const { id, limitBytes, scheduledBytes, pendingBytes, state } = disk;
  return {
    id,
    kind: 'disk',
    name: `disk ${disk.disk}`,
    isFull: limitBytes !== null && (scheduledBytes + pendingBytes) / limitBytes > almostFull,
    totalBytes: limitBytes ?? scheduledBytes,
    usedBytes: scheduledBytes,
    promisedBytes: pendingBytes,
    isTotalUnknown: limitBytes === null,
    promisedWord: 'pending',
    problem: state === 'Ready' ? '' : state,
  };
}
