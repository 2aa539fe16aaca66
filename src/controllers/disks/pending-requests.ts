import type { DiskCandidate } from '../../engine/disks/choose-disk.ts';
import type { DiskEntry } from '../../engine/disks/volumes/volume-model.ts';
import type { Clock } from '../../runtime/clock.ts';
import { SeenSince } from '../../runtime/seen-since.ts';

/** How long a requester waits for the verdict of a disk that is not ready, and of any other disk. */
const notReadyMaxMs = 30_000;
const answerMaxMs = 120_000;

/** Since when requests have had no verdict. After a restart their time begins again: they wait longer, and nothing is lost. */
export class PendingRequests {
  /** By replica, the size that is requested. */
  readonly #pending: SeenSince<number>;

  constructor(clock: Clock) {
    this.#pending = new SeenSince(clock);
  }

  isOverdue(replica: string, entry: DiskEntry | undefined, disk: DiskCandidate | undefined): boolean {
    return this.remainingMs(replica, entry, disk) === 0;
  }

  /** Undefined if nothing is pending. */
  remainingMs(
    replica: string,
    entry: DiskEntry | undefined,
    disk: DiskCandidate | undefined,
  ): number | undefined {
    const bytes = entry?.askedBytes;
    if (bytes === undefined || entry?.verdict?.observedSize === bytes) {
      this.#pending.delete(replica);
      return undefined;
    }
    const ageMs = this.#pending.ageMs(replica, bytes);
    const maxMs = disk?.state.kind === 'ready' ? answerMaxMs : notReadyMaxMs;
    return Math.max(0, maxMs - ageMs);
  }

  forget(replica: string): void {
    this.#pending.delete(replica);
  }
}
