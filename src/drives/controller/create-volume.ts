import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Cluster } from '../../cluster/cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { VolumeSchema } from '../../csi/generated/csi.ts';
import { chooseDrive, fitsOn } from '../../engine/drives/choose-drive.ts';
import type { IndexedDrive } from '../../engine/drives/drive-index.ts';
import { driveRefusalText } from '../../engine/drives/drive-refusal.ts';
import type { DriveRequirements } from '../../engine/drives/drive-requirements.ts';
import { growthReserveBytes } from '../../engine/drives/drive-rule.ts';
import { type DriveVolume, driveNameKey, driveNodeKey } from '../../kube/stowage/drive.ts';
import type { Random } from '../../runtime/random.ts';
import { apiFailure } from './api-failure.ts';
import { claimOwnerGroup } from './claim-owner.ts';
import type { DriveCache } from './drive-cache.ts';
import type { DriveVolumeRequest, SizeRange } from './drive-volume-request.ts';
import type { DriveWriteOutcome, DriveWriter } from './drive-writer.ts';
import { claimPatch } from './ledger-patches.ts';
import type { PlacedVolume, VolumeFinder } from './volume-finder.ts';

/** How often a call chooses again after another client changed the drive; then the caller repeats it. */
const attemptsMax = 8;

export interface VolumeCreatorOptions {
  readonly cluster: Cluster;
  readonly cache: DriveCache;
  readonly writer: DriveWriter;
  readonly finder: VolumeFinder;
  readonly random: Random;
}

/**
 * CreateVolume. One versioned write claims the bytes, and it is the only write: after a crash before it nothing has happened, and after a
 * crash behind it the repeated call finds the entry. Calls with one name must not run at the same time.
 */
export class VolumeCreator {
  readonly #options: VolumeCreatorOptions;
  /** Drives on which the outcome of a write is unknown, by the volume's name: the next call for it looks there first. */
  readonly #uncertain = new Map<string, { readonly name: string; readonly uid: string }>();

  constructor(options: VolumeCreatorOptions) {
    this.#options = options;
  }

  async create(
    request: DriveVolumeRequest,
    signal: AbortSignal,
  ): Promise<MessageInitShape<typeof VolumeSchema>> {
    await this.#lookWhereUncertain(request.name);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const found = await this.#options.finder.find(request.name, signal);
      if (found !== undefined) return existing(found, request);
      await this.#claim(request, await this.#askOf(request, signal));
    }
    throw new CsiStatusError(
      'Aborted',
      `the chosen drive changed ${attemptsMax} times while volume ${request.name} was being placed; repeat the call`,
    );
  }

  async #askOf(request: DriveVolumeRequest, signal: AbortSignal): Promise<DriveRequirements> {
    const { driveClass, claim, size, preferred, requisite, chosenDrive, policy } = request;
    const isSpread = (driveClass.spreadsByOwner || policy.apart.has('drives')) && claim !== undefined;
    const { tier, labels } = driveClass;
    const { growthReservePercent } = policy;
    try {
      const spreadGroup = isSpread ? await claimOwnerGroup(this.#options.cluster, claim, signal) : undefined;
      const bytes = size.requiredBytes ?? 1;
      const place = { tier, labels, preferred, requisite, chosenDrive };
      return { bytes, ...place, spreadGroup, growthReservePercent };
    } catch (error) {
      throw apiFailure(error);
    }
  }

  /** Chooses a drive and writes the entry. Whatever comes of it, the next attempt sees it. */
  async #claim(request: DriveVolumeRequest, ask: DriveRequirements): Promise<DriveWriteOutcome> {
    const { cache, writer, random } = this.#options;
    const { name } = request;
    const choice = chooseDrive(cache.index, ask, random);
    if (choice.kind === 'refused') throw new CsiStatusError('ResourceExhausted', driveRefusalText(choice));
    const { drive } = choice;
    const entry = entryOf(request, ask, drive);
    const { name: driveName } = drive;
    const held = { bytes: entry.sizeBytes, spreadGroup: ask.spreadGroup };
    cache.index.hold(driveName, name, held);
    try {
      return await writer.write(driveName, (now) =>
        mayClaim(now, name, ask) ? claimPatch(now.record, entry) : undefined,
      );
    } catch (error) {
      if (error instanceof CsiStatusError && error.code === 'Unavailable')
        this.#uncertain.set(name, { name: driveName, uid: drive.record.uid });
      throw error;
    } finally {
      cache.index.release(driveName, name);
    }
  }

  async #lookWhereUncertain(volume: string): Promise<void> {
    const drive = this.#uncertain.get(volume);
    if (drive === undefined) return;
    await this.#options.writer.refresh(drive);
    this.#uncertain.delete(volume);
  }
}

/** Whether the drive still takes the volume, whose bytes are held on it. */
function mayClaim(drive: IndexedDrive, volume: string, ask: DriveRequirements): boolean {
  const { record, freeBytes } = drive;
  const hasGroup = record.volumes.some(
    ({ spreadGroup }) => spreadGroup !== undefined && spreadGroup === ask.spreadGroup,
  );
  if (drive.hasEntry(volume) || freeBytes < 0 || hasGroup) return false;
  return fitsOn(drive, { ...ask, bytes: 0, spreadGroup: undefined });
}

function entryOf(
  { name, size, claim }: DriveVolumeRequest,
  { spreadGroup, growthReservePercent }: DriveRequirements,
  drive: IndexedDrive,
): DriveVolume {
  const reserve = growthReserveBytes(drive.record.capacityBytes, growthReservePercent);
  return {
    name,
    sizeBytes: sizeOn(drive.freeBytes - reserve, size),
    ...(claim !== undefined && { claimRef: claim }),
    ...(spreadGroup !== undefined && { spreadGroup }),
  };
}

/** Without a required size the volume takes all that is free, within the limit. */
function sizeOn(freeBytes: number, { requiredBytes, limitBytes = freeBytes }: SizeRange): number {
  return requiredBytes ?? Math.min(freeBytes, limitBytes);
}

/** The answer for a volume that exists, which the caller may have asked for before. */
function existing(
  { record, entry }: PlacedVolume,
  { name, size }: DriveVolumeRequest,
): MessageInitShape<typeof VolumeSchema> {
  if (entry.state === 'Releasing')
    throw new CsiStatusError(
      'Aborted',
      `volume ${name} is being deleted on drive ${record.name}; repeat the call when its data is gone`,
    );
  if (!isCompatible(entry.sizeBytes, size))
    throw new CsiStatusError(
      'AlreadyExists',
      `volume ${name} exists on drive ${record.name} with ${entry.sizeBytes} bytes, and ${rangeText(size)} were asked`,
    );
  return volumeMessage({ record, entry });
}

/** Without a limit the driver creates exactly what is required, so another size is another volume. */
function isCompatible(sizeBytes: number, { requiredBytes, limitBytes }: SizeRange): boolean {
  if (limitBytes === undefined) return requiredBytes === undefined || sizeBytes === requiredBytes;
  return sizeBytes >= (requiredBytes ?? 0) && sizeBytes <= limitBytes;
}

function rangeText({ requiredBytes = 0, limitBytes }: SizeRange): string {
  return limitBytes === undefined ? `${requiredBytes} bytes` : `${requiredBytes} to ${limitBytes} bytes`;
}

/** A volume as CSI describes it. Its context names the drive: the PersistentVolume keeps it. */
export function volumeMessage({ record, entry }: PlacedVolume): MessageInitShape<typeof VolumeSchema> {
  return {
    volumeId: entry.name,
    capacityBytes: BigInt(entry.sizeBytes),
    volumeContext: { [driveNameKey]: record.name },
    accessibleTopology: [{ segments: { [driveNodeKey]: record.nodeName } }],
  };
}
