import type { Cluster } from '../../cluster/cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { DriveRecord } from '../../engine/drives/drive-record.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { type DriveVolume, driveNameKey, drivesDriver } from '../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { Clock } from '../../runtime/clock.ts';
import { apiFailure } from './api-failure.ts';
import type { DriveCache } from './drive-cache.ts';
import type { DriveWriter } from './drive-writer.ts';
import { removalPatch } from './ledger-patches.ts';

/** A controller that saw the order of two entries withdraws the later one within this time; the duration of a Lease. */
const orderGraceMs = 15_000;

/** A volume, and the drive that it is on. */
export interface PlacedVolume {
  readonly record: DriveRecord;
  readonly entry: DriveVolume;
}

export interface VolumeFinderOptions {
  readonly cluster: Cluster;
  readonly cache: DriveCache;
  readonly writer: DriveWriter;
  readonly clock: Clock;
}

/**
 * Finds the drive of a volume, and makes sure that it is on one drive only. Two controllers that both believe to lead may write entries of one
 * name to two drives; a controller that lost an answer may write a second one. So:
 *
 * 1. No volume is answered before the watch has delivered its entry.
 * 2. If an entry on another drive was delivered earlier, that one counts, and the later one is withdrawn. All watches deliver changes in the same
 *    order, so all controllers decide alike.
 * 3. If a list came in between, the order is unknown: the caller gets Aborted and calls again. The drive that the PersistentVolume names stays.
 *    Without a PersistentVolume no caller has been answered for longer than a Lease lasts, and one entry is as good as the other.
 *
 * Any of its writes may be the last one before a crash: it only removes entries that no PersistentVolume names, and the next call goes on.
 */
export class VolumeFinder {
  readonly #options: VolumeFinderOptions;
  /** When entries of one name in unknown order were first seen. */
  readonly #unorderedSinceMs = new Map<string, number>();

  constructor(options: VolumeFinderOptions) {
    this.#options = options;
  }

  /** Uses the newest known state, without waiting. */
  known(volume: string): PlacedVolume | undefined {
    const { cache } = this.#options;
    const { drives } = cache.holders(volume);
    const names = cache.index.drivesOf(volume);
    return this.#placed(volume, drives.find((name) => names.includes(name)) ?? names[0]);
  }

  /** The volume's one drive, after all others have been cleared; undefined if it is on none. */
  async find(volume: string, signal: AbortSignal): Promise<PlacedVolume | undefined> {
    const { cache } = this.#options;
    const known = new Set([...cache.index.drivesOf(volume), ...cache.holders(volume).drives]);
    let isOrdered = true;
    for (const name of known) {
      const version = cache.index.get(name)?.record.version ?? '';
      isOrdered = (await cache.delivered(name, version, signal)) && isOrdered;
    }
    if (!isOrdered || cache.isListing)
      throw new CsiStatusError('Aborted', `drives are being listed again; repeat the call for ${volume}`);
    const names = this.#drivesOf(volume);
    if (names.length < 2) {
      this.#unorderedSinceMs.delete(volume);
      return this.#placed(volume, names[0]);
    }
    const first = cache.holders(volume).isOrdered ? names[0]! : await this.#withoutOrder(volume, names);
    await this.#withdraw(
      volume,
      names.filter((name) => name !== first),
    );
    this.#unorderedSinceMs.delete(volume);
    return this.#placed(volume, first);
  }

  /** Returns the drives in the order of the watch, without those whose entry has been removed since. */
  #drivesOf(volume: string): readonly string[] {
    const { cache } = this.#options;
    return cache.holders(volume).drives.filter((name) => cache.index.get(name)?.hasEntry(volume));
  }

  async #withoutOrder(volume: string, names: readonly string[]): Promise<string> {
    const named = await this.#driveOfPersistentVolume(volume);
    if (named !== undefined && names.includes(named)) return named;
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = this.#unorderedSinceMs.get(volume) ?? nowMs;
    this.#unorderedSinceMs.set(volume, sinceMs);
    if (nowMs - sinceMs < orderGraceMs)
      throw new CsiStatusError(
        'Aborted',
        `volume ${volume} has entries on the drives ${names.join(' and ')}; repeat the call, one of them will be withdrawn`,
      );
    return names.toSorted()[0]!;
  }

  async #driveOfPersistentVolume(volume: string): Promise<string | undefined> {
    try {
      const client = this.#options.cluster.resource(persistentVolumes);
      const csi = (await undefinedIfNotFound(client.get({ name: volume })))?.spec?.csi;
      const isOurs = csi?.driver === drivesDriver && csi.volumeHandle === volume;
      return isOurs ? csi.volumeAttributes?.[driveNameKey] : undefined;
    } catch (error) {
      throw apiFailure(error);
    }
  }

  async #withdraw(volume: string, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const outcome = await this.#options.writer.write(name, ({ record }) =>
        record.volumes.some((entry) => entry.name === volume) ? removalPatch(record, volume) : undefined,
      );
      if (outcome === 'outdated')
        throw new CsiStatusError('Aborted', `drive ${name} changed; repeat the call for ${volume}`);
    }
  }

  #placed(volume: string, drive: string | undefined): PlacedVolume | undefined {
    const record = drive === undefined ? undefined : this.#options.cache.index.get(drive)?.record;
    const entry = record?.volumes.find(({ name }) => name === volume);
    return record === undefined || entry === undefined ? undefined : { record, entry };
  }
}
