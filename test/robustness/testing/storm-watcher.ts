import type { Random } from '../../../src/runtime/random.ts';
import { StreamBroke, type WatchLine } from './watch-lines.ts';
import type { Interest, SeenEvent } from './watch-model.ts';

export interface WatchRequest {
  readonly interest: Interest;
  /** Undefined: begin with what there is. */
  readonly version: number | undefined;
  readonly initialEvents: boolean;
  readonly bookmarks: boolean;
  readonly signal: AbortSignal;
}

/** How a watcher reaches the server. */
export interface Transport {
  list(
    interest: Interest,
  ): Promise<{ readonly version: number; readonly items: readonly (readonly [string, number])[] }>;
  watch(request: WatchRequest): AsyncIterable<WatchLine>;
}

export interface StormWatcherOptions {
  readonly name: string;
  readonly interest: Interest;
  readonly transport: Transport;
  /** `list` first, or have the watch begin with what there is. */
  readonly start: 'list' | 'initial events';
  readonly bookmarks: boolean;
  readonly random: Random;
  /** Hangs up after so many lines, more or less; 0 never. */
  readonly hangsUpAfter: number;
  /** Waits so long after some lines, in milliseconds. */
  readonly dawdlesMs: number;
}

/** Follows a resource as clients do, through interruptions of all kinds, and records every event. */
export class StormWatcher {
  readonly options: StormWatcherOptions;
  /** What is known; by key, the version. */
  readonly state = new Map<string, number>();
  /** After `startVersion`. */
  events: SeenEvent[] = [];
  startVersion = -1;
  resumes = 0;
  relists = 0;
  bookmarks = 0;
  /** What must not happen. */
  readonly oddities: string[] = [];
  #version: number | undefined;
  #isCalm = false;
  readonly #over = new AbortController();

  constructor(options: StormWatcherOptions) {
    this.options = options;
  }

  /** No more hanging up: it is time to catch up. */
  calm(): void {
    this.#isCalm = true;
  }

  stop(): void {
    this.#over.abort();
  }

  async run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        if (this.#version === undefined) await this.#begin();
        await this.#follow();
      } catch (error) {
        if (!(error instanceof StreamBroke)) throw error;
      }
      this.resumes += 1;
      // A watch within the process may end before any other task has run.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #begin(): Promise<void> {
    this.state.clear();
    this.events = [];
    if (this.options.start !== 'list') {
      this.relists += 1;
      return;
    }
    const { version, items } = await this.options.transport.list(this.options.interest);
    this.relists += 1;
    for (const [key, each] of items) this.state.set(key, each);
    this.#version = version;
    this.startVersion = version;
  }

  async #follow(): Promise<void> {
    const { transport, interest, bookmarks } = this.options;
    const version = this.#version;
    const initialEvents = version === undefined;
    const { signal } = this.#over;
    const lines = transport.watch({
      interest,
      version,
      initialEvents,
      bookmarks: bookmarks || initialEvents,
      signal,
    });
    let left = this.#patience();
    for await (const line of lines) {
      if (signal.aborted || !this.#take(line)) return;
      left -= 1;
      // Who always hangs up before it knows what there is would never know it.
      const mayHangUp = this.#version !== undefined || this.relists < 3;
      if (left <= 0 && mayHangUp && !this.#isCalm) return;
      await this.#dawdle();
    }
  }

  /** False where the stream is of no more use. */
  #take(line: WatchLine): boolean {
    if (line.type === 'ERROR') {
      if (line.code !== 410) this.oddities.push(`error ${line.code}`);
      this.#version = undefined;
      return false;
    }
    const isInitial = this.#version === undefined;
    if (!isInitial && this.#isOutOfOrder(line)) {
      this.oddities.push(`${line.type} ${line.key} ${line.version} after ${this.#version}`);
    }
    if (line.type === 'BOOKMARK') this.#takeBookmark(line);
    else if (isInitial) this.state.set(line.key, line.version);
    else this.#takeEvent(line);
    return true;
  }

  /** Bookmarks may repeat a version, events never do. */
  #isOutOfOrder({ type, version }: WatchLine): boolean {
    const last = this.#version ?? 0;
    return type === 'BOOKMARK' ? version < last : !(version > last);
  }

  #takeBookmark({ version, isInitialEnd }: WatchLine): void {
    this.bookmarks += 1;
    if (isInitialEnd !== (this.#version === undefined)) this.oddities.push('a mark of the end out of place');
    if (isInitialEnd) this.startVersion = version;
    this.#version = version;
  }

  #takeEvent({ type, key, version }: WatchLine): void {
    this.events.push({ type, key, version });
    if (type === 'DELETED') this.state.delete(key);
    else this.state.set(key, version);
    this.#version = version;
  }

  #patience(): number {
    const { hangsUpAfter, random } = this.options;
    return hangsUpAfter === 0 ? Number.POSITIVE_INFINITY : 1 + random.int(2 * hangsUpAfter);
  }

  async #dawdle(): Promise<void> {
    const { dawdlesMs, random } = this.options;
    if (dawdlesMs === 0 || this.#isCalm || random.int(20) > 0) return;
    await new Promise((resolve) => setTimeout(resolve, random.int(2 * dawdlesMs)));
  }
}
