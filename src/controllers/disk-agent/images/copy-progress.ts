import type { Clock } from '../../../runtime/clock.ts';

/** A watcher needs no more, and every write goes to every watcher. */
const writeEveryMs = 2_000;

export interface CopyProgressOptions {
  readonly clock: Clock;
  /** For data whose length is unknown. */
  readonly expectedBytes: number | undefined;
  /** Its failure is reported, and does not end the copy. */
  readonly write: (percent: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Writes the progress of one copy, now and then. */
export class CopyProgress {
  readonly #options: CopyProgressOptions;
  #percent = -1;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;

  constructor(options: CopyProgressOptions) {
    this.#options = options;
  }

  report(doneBytes: number, totalBytes: number | undefined): void {
    const { clock, expectedBytes, write, onError } = this.#options;
    const all = totalBytes ?? expectedBytes;
    // Only a copy that has been checked is complete.
    const percent = all === undefined || all === 0 ? 0 : Math.min(99, Math.floor((doneBytes / all) * 100));
    const nowMs = clock.monotonicMs();
    if (percent === this.#percent || this.#writing !== undefined) return;
    if (nowMs - this.#writtenMs < writeEveryMs) return;
    this.#percent = percent;
    this.#writtenMs = nowMs;
    this.#writing = write(percent)
      .catch(onError)
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Resolves when no write is on its way. */
  async settled(): Promise<void> {
    await this.#writing;
  }
}
