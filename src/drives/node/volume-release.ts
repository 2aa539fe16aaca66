import { type DriveRecord, readDrive } from '../../engine/drives/drive-record.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import { type Requeue, runWorkers } from '../../reconcile/workers.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { KeyedQueue } from '../../runtime/keyed-queue.ts';
import type { Log } from '../../runtime/log.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { removalPatch } from '../controller/ledger-patches.ts';
import type { NodeDrives, NodeVolume } from './node-drives.ts';
import type { VolumeData } from './volume-data.ts';
import type { VolumeMounts } from './volume-mounts.ts';

/** Volumes whose data is removed at the same time. */
const workers = 2;
/** A volume that is still mounted is checked again after this time, and after each unmount. */
const mountedRetryMs = 10_000;
/** The longest time between attempts, such as on a drive that is lost. */
const retryMsMax = 30_000;

export interface VolumeReleaserOptions {
  readonly drives: NodeDrives;
  readonly data: VolumeData;
  readonly mounts: VolumeMounts;
  /** Calls for one volume and its release wait for each other. */
  readonly volumes: KeyedQueue;
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly log: Log;
}

/**
 * Deletes volumes whose entries are Releasing: the data first (`VolumeData.remove`), then the entry, by one versioned write. Level-based: the
 * entry is the order, and it stays until nothing is left of the data, so the process may end after any step.
 */
export class VolumeReleaser {
  readonly #options: VolumeReleaserOptions;
  readonly #queue: WorkQueue;

  constructor(options: VolumeReleaserOptions) {
    const { drives, clock } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, retryBaseMs: 100, retryMaxMs: retryMsMax });
    drives.onChange((_, after) => {
      for (const { name, state } of after?.record.volumes ?? [])
        if (state === 'Releasing') this.#queue.add(name);
    });
  }

  start(): void {
    const { supervisor, log } = this.#options;
    supervisor.start('volume release', (running) =>
      runWorkers(this.#queue, (volume) => this.#release(volume), {
        workers,
        signal: running,
        onError: (error, volume) => log.warn(`volume ${volume} cannot be deleted yet`, { error }),
      }),
    );
  }

  /** The volume has been unmounted: perhaps it can be deleted now. */
  wake(volume: string): void {
    this.#queue.add(volume);
  }

  #release(volume: string): Promise<Requeue | undefined> {
    const { drives, data, mounts, volumes, log } = this.#options;
    return volumes.run(volume, async () => {
      const placed = drives.findReleasing(volume);
      if (placed === undefined) return undefined;
      if (!(await this.#isHeldElsewhere(placed))) {
        if ((await mounts.of(volume)).length > 0) return { afterMs: mountedRetryMs };
        await data.remove(placed, () => this.#isDue(placed));
      }
      if (await this.#removeEntry(placed))
        log.info(`volume ${volume} is deleted from drive ${placed.record.name}`);
      // If another drive has an entry of the same name, it is next.
      return drives.findReleasing(volume) === undefined ? undefined : { afterMs: 0 };
    });
  }

  /** Whether another ledger of the filesystem has an entry of the same name: both mean one directory, and the last entry takes it along. */
  async #isHeldElsewhere(placed: NodeVolume): Promise<boolean> {
    const { drives } = this.#options;
    const known = drives.sharing(placed.record.name).map(({ record }) => record);
    return isHeldBy(known, placed) && isHeldBy(await this.#records(), placed);
  }

  /** Whether the API server still has the entry, in the same Drive and in no other one. The cache does not suffice: removed data cannot come back. */
  async #isDue(placed: NodeVolume): Promise<boolean> {
    const records = await this.#records();
    return records.some((record) => isReleasing(record, placed)) && !isHeldBy(records, placed);
  }

  async #records(): Promise<readonly DriveRecord[]> {
    return (await this.#options.drives.refresh(undefined)).map(readDrive);
  }

  /** Returns false if the entry is not there any more, or not to be deleted. */
  async #removeEntry(placed: NodeVolume): Promise<boolean> {
    let isRemoved = false;
    await this.#options.drives.write(placed.record.name, ({ record }) => {
      isRemoved = isReleasing(record, placed);
      return isRemoved ? removalPatch(record, placed.entry.name) : undefined;
    });
    return isRemoved;
  }
}

/** A Drive of the same name that was created later has other entries. */
function isReleasing(record: DriveRecord, placed: NodeVolume): boolean {
  const entry = record.volumes.find(({ name }) => name === placed.entry.name);
  return record.uid === placed.record.uid && entry?.state === 'Releasing';
}

function isHeldBy(records: readonly DriveRecord[], { record, entry }: NodeVolume): boolean {
  return records.some(
    ({ uid, filesystem, volumes }) =>
      uid !== record.uid &&
      filesystem === record.filesystem &&
      volumes.some(({ name }) => name === entry.name),
  );
}
