import type { Random } from '../../../src/runtime/random.ts';
import { StreamBroke, type WatchLine } from './watch-lines.ts';
import type { Interest, SeenEvent } from './watch-model.ts';

export interface WatchRequest {
  readonly interest: Interest;
  /** Undefined: start with the current objects. */
  readonly version: number | undefined;
  readonly initialEvents: boolean;
  readonly bookmarks: boolean;
  readonly signal: AbortSignal;
}

/** How a watcher connects to the server. */
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
  /** `list` lists first; `initial events` lets the watch start with the current objects. */
  readonly start: 'list' | 'initial events';
  readonly bookmarks: boolean;
  readonly random: Random;
  /** Disconnects after about this many lines; 0 means never. */
  readonly disconnectsAfter: number;
  /** Pauses for this many milliseconds after some lines. */
  readonly pausesMs: number;
}

/** Follows a resource as clients do, through interruptions of all kinds, and records every event. */
export class StormWatcher {
  readonly options: StormWatcherOptions;
  /** The resource version of each known object, by key. */
  readonly state = new Map<string, number>();
  /** Events after `startVersion`. */
  events: SeenEvent[] = [];
  startVersion = -1;
  resumes = 0;
  relists = 0;
  bookmarks = 0;
  /** Violations of the watch protocol. */
  readonly problems: string[] = [];
  #version: number | undefined;
  #isFaultFree = false;
  readonly #over = new AbortController();

  constructor(options: StormWatcherOptions) {
    this.options = options;
  }

  /** Stops disconnecting, so that the watcher can catch up. */
  stopFaults(): void {
    this.#isFaultFree = true;
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
      // A watch in process may end before any other task has run.
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
    let left = this.#linesUntilDisconnect();
    for await (const line of lines) {
      if (signal.aborted || !this.#take(line)) return;
      left -= 1;
      // A watcher that always disconnected before it knew the current objects would never catch up.
      const mayDisconnect = this.#version !== undefined || this.relists < 3;
      if (left <= 0 && mayDisconnect && !this.#isFaultFree) return;
      await this.#pause();
    }
  }

  /** Returns false if the stream must be closed. */
  #take(line: WatchLine): boolean {
    if (line.type === 'ERROR') {
      if (line.code !== 410) this.problems.push(`error ${line.code}`);
      this.#version = undefined;
      return false;
    }
    const isInitial = this.#version === undefined;
    if (!isInitial && this.#isOutOfOrder(line)) {
      this.problems.push(`${line.type} ${line.key} ${line.version} after ${this.#version}`);
    }
    if (line.type === 'BOOKMARK') this.#takeBookmark(line);
    else if (isInitial) this.state.set(line.key, line.version);
    else this.#takeEvent(line);
    return true;
  }

  /** Bookmarks may repeat a version; events never do. */
  #isOutOfOrder({ type, version }: WatchLine): boolean {
    const last = this.#version ?? 0;
    return type === 'BOOKMARK' ? version < last : !(version > last);
  }

  #takeBookmark({ version, isInitialEnd }: WatchLine): void {
    this.bookmarks += 1;
    if (isInitialEnd !== (this.#version === undefined))
      this.problems.push('an unexpected end of the initial events');
    if (isInitialEnd) this.startVersion = version;
    this.#version = version;
  }

  #takeEvent({ type, key, version }: WatchLine): void {
    this.events.push({ type, key, version });
    if (type === 'DELETED') this.state.delete(key);
    else this.state.set(key, version);
    this.#version = version;
  }

  #linesUntilDisconnect(): number {
    const { disconnectsAfter, random } = this.options;
    return disconnectsAfter === 0 ? Number.POSITIVE_INFINITY : 1 + random.int(2 * disconnectsAfter);
  }

  async #pause(): Promise<void> {
    const { pausesMs, random } = this.options;
    if (pausesMs === 0 || this.#isFaultFree || random.int(20) > 0) return;
    await new Promise((resolve) => setTimeout(resolve, random.int(2 * pausesMs)));
  }
}
