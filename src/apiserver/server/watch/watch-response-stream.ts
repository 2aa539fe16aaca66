import type { Status } from '../../../kube/api/meta.ts';
import type { Clock, Timer } from '../../../runtime/clock.ts';
import { eventBytes } from '../../registry/event-bytes.ts';
import type { RegistryEvent, WatchHandle, WatchListener } from '../../registry/registry.ts';
import type { ResponseStream, StreamSink } from '../http/http-exchange.ts';
import type { ServerMetrics } from '../metrics.ts';
import type { FlushScheduler } from './flush-scheduler.ts';
import { errorLine, type WatchEncoder } from './watch-encoder.ts';

/** The limit of changes queued for a slow client. Beyond it the server closes the watch; the client resumes from its last version. */
const backlogMaxBytes = 8 * 1024 * 1024;
/** The limit of bytes passed to the connection and not yet sent. */
const inFlightMaxBytes = 256 * 1024;
/** The size of the objects that are encoded before other work gets a turn: a table has few bytes of each object, and parses all of them. */
const turnMaxBytes = 1024 * 1024;
/** A client that reads nothing for this long is considered gone. */
const stallMaxMs = 60_000;
const bookmarkEveryMs = 60_000;
/** How many consumed events are kept before the queue is compacted. */
const consumedMax = 1_000;
/**
 * The queue of events of one watch. Events are shared with all other watchers and encoded only when the connection can
 * take them. The initial events (the state, or the changes since a version) are not limited, because a client that was
 * disconnected for them would only ask again; later events are.
 */
export class WatchBacklog implements WatchListener {
  #events: RegistryEvent[] = [];
  #head = 0;
  /** The size of the queued events that arrived after opening. */
  #laterBytes = 0;
  /** The number of queued initial events. */
  #initialLeft = 0;
  #reader: BacklogReader | undefined;
  #ending: ((reader: BacklogReader) => void) | undefined;

  events(events: readonly RegistryEvent[]): void {
    for (const event of events) {
      if (this.#reader !== undefined) this.#laterBytes += eventBytes(event);
      this.#events.push(event);
    }
    this.#reader?.onEvents();
  }

  ended(): void {
    this.#end((reader) => reader.onEnd());
  }

  failed(error: unknown): void {
    this.#end((reader) => reader.onFailure(error));
  }

  /** Events that arrive from now on count against the limit. */
  opened(reader: BacklogReader): void {
    this.#initialLeft = this.#events.length;
    this.#reader = reader;
    this.#ending?.(reader);
  }

  #end(ending: (reader: BacklogReader) => void): void {
    this.#ending = ending;
    if (this.#reader !== undefined) ending(this.#reader);
  }

  get isEmpty(): boolean {
    return this.#head === this.#events.length;
  }

  get isTooLong(): boolean {
    return this.#laterBytes > backlogMaxBytes;
  }

  shift(): RegistryEvent | undefined {
    const event = this.#events[this.#head];
    if (event === undefined) return undefined;
    this.#head += 1;
    if (this.#initialLeft > 0) this.#initialLeft -= 1;
    else if (this.#reader !== undefined) this.#laterBytes -= eventBytes(event);
    if (this.isEmpty) this.clear();
    else if (this.#head >= consumedMax) this.#dropConsumed();
    return event;
  }

  /** A reader that is always slightly behind never empties the queue; consumed events must be freed anyway. */
  #dropConsumed(): void {
    if (this.#head < this.#events.length / 2) return;
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
  }

  clear(): void {
    this.#events = [];
    this.#head = 0;
    this.#laterBytes = 0;
    this.#initialLeft = 0;
  }
}

/** Consumes a backlog; called when there is something to do. */
export interface BacklogReader {
  onEvents(): void;
  /** No event follows the queued ones. */
  onEnd(): void;
  /** No event follows the queued ones because the watch has failed. */
  onFailure(error: unknown): void;
}

export interface WatchResponseStreamOptions {
  readonly backlog: WatchBacklog;
  readonly handle: WatchHandle;
  readonly encoder: WatchEncoder;
  readonly sink: StreamSink;
  readonly clock: Clock;
  readonly flushScheduler: FlushScheduler;
  readonly metrics: ServerMetrics;
  readonly timeoutMs: number;
  readonly bookmarks: boolean;
  /** Called when an event cannot be encoded; returns the Status to send. */
  onError(error: unknown): Status;
}

/** One watch on one connection: writes events, keeps timeouts and bookmarks, and ends gracefully. */
export class WatchResponseStream implements ResponseStream {
  readonly #options: WatchResponseStreamOptions;
  readonly #timers = new Set<Timer>();
  readonly #flush = () => this.#write();
  #stallTimer: Timer | undefined;
  #isEnding = false;
  #isClosed = false;
  /** Written after the last queued event. */
  #lastLine: Uint8Array | undefined;

  constructor(options: WatchResponseStreamOptions) {
    this.#options = options;
    const { backlog, clock, flushScheduler, metrics, timeoutMs, bookmarks } = options;
    metrics.watchesOpen += 1;
    metrics.watchesOpened += 1;
    this.#timers.add(clock.after(timeoutMs, () => this.finish()));
    backlog.opened({
      onEvents: () => this.#onEvents(),
      onEnd: () => this.finish(),
      onFailure: (error) => this.#fail(error),
    });
    if (bookmarks) this.#scheduleBookmark();
    if (!backlog.isEmpty) flushScheduler.schedule(this.#flush);
  }

  drained(): void {
    this.#stallTimer?.cancel();
    this.#stallTimer = undefined;
    if (!this.#isClosed) this.#options.flushScheduler.schedule(this.#flush);
  }

  finish(): void {
    if (this.#isEnding || this.#isClosed) return;
    if (this.#options.bookmarks) this.#bookmark();
    this.#isEnding = true;
    this.#options.handle.close();
    this.#write();
  }

  /** Sends no bookmark: it would claim a version whose events were not all sent. */
  #fail(error: unknown): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#isEnding = true;
    this.#lastLine = errorLine(this.#options.onError(error));
    this.#write();
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.metrics.watchesOpen -= 1;
    this.#options.handle.close();
    this.#options.backlog.clear();
    this.#stallTimer?.cancel();
    for (const timer of this.#timers) timer.cancel();
  }

  #onEvents(): void {
    if (this.#isClosed || this.#isEnding) return;
    if (!this.#options.backlog.isTooLong) this.#options.flushScheduler.schedule(this.#flush);
    else this.#disconnectSlowClient();
  }

  #disconnectSlowClient(): void {
    this.#options.metrics.watchesCut += 1;
    this.#options.sink.cut();
    this.closed();
  }

  /** Returns the size of the objects that were encoded. */
  #write(): number {
    const { backlog, sink, flushScheduler } = this.#options;
    const isWritable = () => !this.#isClosed && !backlog.isEmpty && sink.unsentBytes < inFlightMaxBytes;
    let objectBytes = 0;
    while (objectBytes < turnMaxBytes && isWritable())
      objectBytes += this.#writeChunk(turnMaxBytes - objectBytes);
    if (this.#isClosed) return objectBytes;
    if (backlog.isEmpty) {
      if (this.#isEnding) this.#end();
    } else if (isWritable()) flushScheduler.schedule(this.#flush);
    else this.#armStallTimer();
    return objectBytes;
  }

  #end(): void {
    const { sink } = this.#options;
    if (this.#lastLine !== undefined) sink.write(this.#lastLine);
    this.#lastLine = undefined;
    sink.end();
  }

  /** Writes queued events as one chunk. Returns the size of their objects; beyond `objectBytesMax` it takes no further one. */
  #writeChunk(objectBytesMax: number): number {
    const { backlog, encoder, sink, clock, metrics } = this.#options;
    const nowMs = clock.nowMs();
    const lines: Uint8Array[] = [];
    let bytes = 0;
    let objectBytes = 0;
    while (bytes < inFlightMaxBytes && objectBytes < objectBytesMax) {
      const event = backlog.shift();
      if (event === undefined) break;
      objectBytes += eventBytes(event);
      const encoded = this.#encoded(() => encoder.encode(event, nowMs));
      lines.push(encoded);
      bytes += encoded.length;
    }
    metrics.watchEvents += lines.length;
    metrics.watchBytes += bytes;
    sink.write(lines.length === 1 ? lines[0]! : Buffer.concat(lines));
    return objectBytes;
  }

  #encoded(encode: () => Uint8Array): Uint8Array {
    try {
      return encode();
    } catch (error) {
      // The client must not continue with an event missing: it receives an error and starts over with a list.
      this.#options.backlog.clear();
      this.#isEnding = true;
      return errorLine(this.#options.onError(error));
    }
  }

  #armStallTimer(): void {
    this.#stallTimer ??= this.#options.clock.after(stallMaxMs, () => this.#disconnectSlowClient());
  }

  #scheduleBookmark(): void {
    const timer = this.#options.clock.after(bookmarkEveryMs, () => {
      this.#timers.delete(timer);
      if (this.#isEnding || this.#isClosed) return;
      this.#bookmark();
      this.#scheduleBookmark();
    });
    this.#timers.add(timer);
  }

  /** Queued after all pending events, so that the version is correct when the client reads it. */
  #bookmark(): void {
    const { resourceVersion } = this.#options.handle;
    this.#options.backlog.events([{ type: 'BOOKMARK', resourceVersion, isInitialEnd: false }]);
  }
}
