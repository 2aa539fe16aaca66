import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { IndexedDrive } from '../../engine/drives/drive-index.ts';
import { driveExclusions } from '../../engine/drives/drive-record.ts';
import type { Patch } from '../../kube/api-requests.ts';
import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import type { DriveCache } from './drive-cache.ts';
import type { SizeRange } from './drive-volume-request.ts';
import type { DriveWriter } from './drive-writer.ts';
import { entryPatch, removalPatch } from './ledger-patches.ts';
import type { PlacedVolume, VolumeFinder } from './volume-finder.ts';

/** How often a change is tried again after another client changed the drive; then the caller repeats the call. */
const attemptsMax = 8;

export interface VolumeChangerOptions {
  readonly cache: DriveCache;
  readonly writer: DriveWriter;
  readonly finder: VolumeFinder;
}

/** DeleteVolume and ControllerExpandVolume. Both set an entry to a state, so that repeating them changes nothing. */
export class VolumeChanger {
  readonly #options: VolumeChangerOptions;

  constructor(options: VolumeChangerOptions) {
    this.#options = options;
  }

  /**
   * Where a node service has mounted the drive, the entry becomes `Releasing`: the bytes are free when that service has deleted the data. A
   * drive without node service has no data, so the entry is removed immediately; the versioned write fails if a node service mounts the drive
   * meanwhile. A volume that does not exist is deleted.
   */
  async delete(volume: string): Promise<void> {
    for (const name of this.#options.cache.index.drivesOf(volume))
      await this.#change(volume, name, ({ record }) => {
        const entry = record.volumes.find((one) => one.name === volume);
        if (entry === undefined) return undefined;
        if (!record.hasNodeService) return removalPatch(record, volume);
        return entry.state === 'Releasing' ? undefined : entryPatch(record, volume, { state: 'Releasing' });
      });
  }

  /** Returns the size after it. A volume that is large enough already stays as it is. */
  async expand(volume: string, size: SizeRange): Promise<number> {
    const placed = this.#existing(volume);
    await this.#change(volume, placed.record.name, (drive) => {
      this.#requireNotMoving(volume);
      const entry = drive.record.volumes.find((one) => one.name === volume);
      if (entry === undefined || entry.state === 'Releasing') throw volumeNotFound(volume);
      const { requiredBytes = entry.sizeBytes } = size;
      checkLimit(volume, Math.max(requiredBytes, entry.sizeBytes), size);
      if (requiredBytes <= entry.sizeBytes) return undefined;
      checkGrowth(drive, volume, requiredBytes - entry.sizeBytes);
      return entryPatch(drive.record, volume, { sizeBytes: requiredBytes });
    });
    return this.#existing(volume).entry.sizeBytes;
  }

  /** While `stowage drives move` moves a volume, it may have an entry on each of two drives, of which the source is Repairing. */
  #requireNotMoving(volume: string): void {
    const { index } = this.#options.cache;
    const names = index.drivesOf(volume);
    const source = names.find((name) => index.get(name)?.record.exclusion === 'Repairing');
    if (names.length > 1 && source !== undefined)
      throw new CsiStatusError(
        'FailedPrecondition',
        `volume ${volume} cannot grow: it is being moved from drive ${source}`,
      );
  }

  #existing(volume: string): PlacedVolume {
    const placed = this.#options.finder.known(volume);
    if (placed === undefined || placed.entry.state === 'Releasing') throw volumeNotFound(volume);
    return placed;
  }

  async #change(
    volume: string,
    drive: string,
    decide: (drive: IndexedDrive) => Patch | undefined,
  ): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if ((await this.#options.writer.write(drive, decide)) !== 'outdated') return;
    }
    throw new CsiStatusError(
      'Aborted',
      `drive ${drive} keeps changing; repeat the call for volume ${volume}`,
    );
  }
}

export function volumeNotFound(volume: string): CsiStatusError {
  return new CsiStatusError('NotFound', `there is no volume ${volume}`);
}

function checkLimit(volume: string, bytes: number, { limitBytes }: SizeRange): void {
  if (limitBytes !== undefined && bytes > limitBytes)
    throw new CsiStatusError(
      'OutOfRange',
      `volume ${volume} would have ${bytes} bytes, above the limit of ${limitBytes}; a volume never shrinks`,
    );
}

/** A cordoned drive takes no new volumes, but those that are there may grow. */
function checkGrowth({ record, freeBytes, name }: IndexedDrive, volume: string, moreBytes: number): void {
  const { exclusion } = record;
  if (exclusion !== undefined && exclusion !== 'Cordoned' && exclusion !== 'LedgerFull')
    throw new CsiStatusError(
      'FailedPrecondition',
      `volume ${volume} cannot grow: drive ${name} ${driveExclusions[exclusion]}`,
    );
  if (moreBytes > freeBytes)
    throw new CsiStatusError(
      'OutOfRange',
      `volume ${volume} needs ${text(moreBytes)} more, and drive ${name} has ${text(Math.max(0, freeBytes))} free; a volume stays on its drive`,
    );
}

function text(bytes: number): string {
  return quantityOfBytes(bytes);
}
