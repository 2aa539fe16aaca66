import type { DiskCandidate } from '../../engine/disks/choose-disk.ts';
import type { DiskEntry } from '../../engine/disks/volume-model.ts';
import type { Clock } from '../../runtime/clock.ts';

/** How long a requester waits for the verdict of a disk that is not ready, and of any other disk. */
const notReadyMaxMs = 30_000;
const answerMaxMs = 120_000;

interface PendingRequest {
  readonly bytes: number | undefined;
  readonly sinceMs: number;
}

/** Since when requests have had no verdict. After a restart their time begins again: they wait longer, and nothing is lost. */
export class PendingRequests {
  readonly #clock: Clock;
  readonly #pending = new Map<string, PendingRequest>();

  constructor(clock: Clock) {
    this.#clock = clock;
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
    const nowMs = this.#clock.monotonicMs();
    const known = this.#pending.get(replica);
    const since = known?.bytes === bytes ? known.sinceMs : nowMs;
    this.#pending.set(replica, { bytes, sinceMs: since });
    const maxMs = disk?.state.kind === 'ready' ? answerMaxMs : notReadyMaxMs;
    return Math.max(0, since + maxMs - nowMs);
  }

  forget(replica: string): void {
    this.#pending.delete(replica);
  }
}
