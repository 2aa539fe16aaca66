import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { DriveHost } from '../host/drive-host.ts';
import { adviceAbout, type DriveMounts, type MountedDrive } from './drive-mounts.ts';
import type { NodeDrive, NodeDrives, NodeVolume } from './node-drives.ts';

/** Where the data of a volume is. */
export interface PreparedVolume {
  readonly path: string;
  /** Major and minor number of the drive. */
  readonly device: string;
}

/** The directories of volumes and their limits, on drives that it mounts first. */
export class VolumeData {
  readonly #host: DriveHost;
  readonly #mounts: DriveMounts;
  readonly #drives: NodeDrives;
  readonly #onProblem: (drive: string) => void;

  /** `onProblem` is called with the name of a drive that could not be mounted. */
  constructor(host: DriveHost, mounts: DriveMounts, drives: NodeDrives, onProblem: (drive: string) => void) {
    this.#host = host;
    this.#mounts = mounts;
    this.#drives = drives;
    this.#onProblem = onProblem;
  }

  /**
   * A new directory gets its limit before it appears under its name, so that a crash never leaves a volume without one. An existing one gets
   * the limit of the ledger again: it may have grown while this process did not run.
   */
  async prepare({ drive, record, entry }: NodeVolume): Promise<PreparedVolume> {
    this.#requireNotMoving(entry.name);
    const { path: mount, device } = await this.#mounted({ drive, record });
    const { directories, quota } = this.#host;
    const volume = entry.name;
    return await this.#mounts.exclusively(uuidOf(drive), async () => {
      const found = await directories.find(mount, volume);
      const path = found ?? (await directories.begin(mount, volume));
      await quota.limit({ mount, path, volume }, entry.sizeBytes);
      return { path: found ?? (await directories.finish(mount, volume)), device: device.number };
    });
  }

  /**
   * Removes the data of a volume whose entry is Releasing; afterwards nothing is left of it on the drive, and the caller removes the entry.
   *
   * 1. The drive is mounted. 2. `isDue` says whether the volume is still to be deleted; if not, nothing is removed. The drive may have been
   * lost until step 1, and forgotten: then its data stays. From here on the drive is present, and the data may be removed. 3. The directory is
   * renamed: no call mounts it any more, whatever happens. 4. Its limit is lifted, while the directory still exists: only its inode says which
   * limit that is. 5. The data is removed. A repeated call goes on with what is left: it finds the directory under its new name, or nothing.
   * The entry goes last, so that the ledger never promises bytes that are still on the disk.
   */
  async remove({ drive, record, entry }: NodeVolume, isDue: () => Promise<boolean>): Promise<void> {
    const { path: mount } = await this.#mounted({ drive, record });
    const { directories, quota } = this.#host;
    const volume = entry.name;
    const isRetired = await this.#mounts.exclusively(uuidOf(drive), async () => {
      if (!(await isDue())) return false;
      const path = await directories.retire(mount, volume);
      if (path !== undefined) await quota.lift({ mount, path, volume });
      return true;
    });
    // Outside of the drive's queue: removing many files takes its time, and other volumes go on meanwhile.
    if (isRetired) await directories.remove(mount, volume);
  }

  /** A volume that `stowage drives move` moves may have entries on both drives. Only the source is Repairing, and a pod must write to neither. */
  #requireNotMoving(volume: string): void {
    const holders = this.#drives.index.drivesOf(volume).flatMap((name) => this.#drives.get(name) ?? []);
    const source = holders.length < 2 ? undefined : holders.find(isRepairing);
    if (source !== undefined)
      throw new CsiStatusError(
        'Unavailable',
        `volume ${volume} is being moved from drive ${source.record.name}; repeat the call afterwards`,
      );
  }

  async #mounted({ drive, record }: NodeDrive): Promise<MountedDrive> {
    if ([{ drive }, ...this.#drives.sharing(record.name)].some(isRepairing))
      throw new CsiStatusError(
        'Unavailable',
        `drive ${record.name} is being repaired; repeat the call afterwards`,
      );
    const seen = await this.#mounts.mounted(uuidOf(drive));
    if (seen.kind === 'mounted') return seen;
    this.#onProblem(record.name);
    throw new CsiStatusError(
      'Unavailable',
      `drive ${record.name} is not mounted: ${adviceAbout(record.name, seen)}`,
    );
  }
}

function isRepairing({ drive }: Pick<NodeDrive, 'drive'>): boolean {
  return drive.status?.state === 'Repairing';
}

function uuidOf(drive: NodeDrive['drive']): string {
  return drive.spec?.filesystemUUID ?? '';
}
