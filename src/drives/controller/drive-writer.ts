import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { IndexedDrive } from '../../engine/drives/drive-index.ts';
import type { DriveRecord } from '../../engine/drives/drive-record.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Patch } from '../../kube/api-requests.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';
import { KeyedQueue } from '../../runtime/keyed-queue.ts';
import { apiFailure } from './api-failure.ts';
import type { DriveCache } from './drive-cache.ts';

/**
 * - `written`: the API server has stored the patch.
 * - `unchanged`: there was nothing to write.
 * - `outdated`: the drive had changed; its current state is in the index.
 * - `gone`: there is no such drive.
 */
export type DriveWriteOutcome = 'written' | 'unchanged' | 'outdated' | 'gone';

/**
 * Writes drives, each on the newest known version. Writes of this process to one drive wait for each other, so that they conflict only with
 * those of other clients. A write is never cancelled: its outcome becomes known although the caller has cancelled the call.
 */
export class DriveWriter {
  readonly #cache: DriveCache;
  readonly #client: ResourceClient<Drive>;
  readonly #queue = new KeyedQueue();

  constructor(cluster: Cluster, cache: DriveCache) {
    this.#cache = cache;
    this.#client = cluster.resource(drives);
  }

  /** `decide` sees the newest version and returns what to write, or undefined. Rejects with `CsiStatusError`. */
  write(name: string, decide: (drive: IndexedDrive) => Patch | undefined): Promise<DriveWriteOutcome> {
    return this.#queue.run(name, async () => {
      const drive = this.#cache.index.get(name);
      if (drive === undefined) return 'gone';
      const { record } = drive;
      const patch = decide(drive);
      if (patch === undefined) return 'unchanged';
      try {
        this.#cache.learnWritten(await this.#client.patch({ name }, patch));
        return 'written';
      } catch (error) {
        return await this.#refused(record, error);
      }
    });
  }

  /** Reads the drive's current state from the API server. */
  async refresh({ name, uid }: Pick<DriveRecord, 'name' | 'uid'>): Promise<boolean> {
    try {
      this.#cache.learn(await this.#client.get({ name }));
      return true;
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw apiFailure(error);
      this.#cache.forget(name, uid);
      return false;
    }
  }

  async #refused(record: DriveRecord, error: unknown): Promise<DriveWriteOutcome> {
    if (isReason(error, 'NotFound')) {
      this.#cache.forget(record.name, record.uid);
      return 'gone';
    }
    // Invalid: the sum of the ledger would exceed the capacity as it is now, or the ledger is not as it was.
    if (!isReason(error, 'Conflict', 'Invalid')) throw apiFailure(error);
    if (!(await this.refresh(record))) return 'gone';
    const now = this.#cache.index.get(record.name)?.record;
    if (isReason(error, 'Invalid') && now?.version === record.version)
      throw new CsiStatusError('Internal', `drive ${record.name}: ${error.message}`, { cause: error });
    return 'outdated';
  }
}
