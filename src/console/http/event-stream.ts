import type {
  ResponseStream,
  StreamResponse,
  StreamSink,
} from '../../apiserver/server/http/http-exchange.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import { maySee, type Rights, withoutHidden } from '../access/rights.ts';
import type { RowChange, RowStore } from '../state/row-store.ts';
import { securityHeaders } from './console-responses.ts';
import { positionFor, positionOf } from './stream-position.ts';

/** Proxies and browsers close connections that are silent for longer. */
const keepAliveMs = 15_000;
/** A client with more unread bytes gets nothing more until it has read them; changes of one row are then sent once. */
const unreadBytesMax = 256 * 1024;

export interface EventStreamOptions {
  readonly rows: RowStore;
  /** `Viewer.key`. */
  readonly viewer: string;
  readonly rights: Rights;
  /** The position from which the client resumes. */
  readonly position: string;
  readonly clock: Clock;
  /** Whether the viewer still has the same permissions; the stream ends if not. */
  readonly isStillAllowed: () => Promise<boolean>;
  readonly recheckMs: number;
  readonly onClosed: (stream: EventStream) => void;
}

/** One stream of server-sent events. Each event has the position as its id, from which a browser resumes after an interruption. */
export class EventStream implements ResponseStream {
  readonly #options: EventStreamOptions;
  readonly #sink: StreamSink;
  #position: string;
  #isClosed = false;
  #timer: Timer;
  #lastCheckMs: number;

  constructor(options: EventStreamOptions, sink: StreamSink) {
    this.#options = options;
    this.#sink = sink;
    this.#position = positionOf(options.rights, options.position);
    this.#lastCheckMs = options.clock.monotonicMs();
    sink.write(Buffer.from('retry: 1000\n\n'));
    this.#timer = this.#nextTick();
    this.send();
  }

  get viewer(): string {
    return this.#options.viewer;
  }

  /** Sends what has changed since the last event, unless the client is behind. */
  send(): void {
    if (this.#isClosed || this.#sink.unsentBytes > unreadBytesMax) return;
    const { rows } = this.#options;
    const changes = rows.since(this.#position);
    if (changes === undefined) {
      // The browser reads the whole state again.
      this.#write('reset', rows.position, '{}');
    } else if (changes.length > 0) {
      const data = deltaText(changes, this.#options.rights);
      if (data !== undefined) this.#write('delta', rows.position, data);
    }
    this.#position = rows.position;
  }

  drained(): void {
    this.send();
  }

  finish(): void {
    this.#close();
    this.#sink.end();
  }

  closed(): void {
    this.#close();
  }

  #write(event: string, position: string, data: string): void {
    const id = positionFor(this.#options.rights, position);
    this.#sink.write(Buffer.from(`event: ${event}\nid: ${id}\ndata: ${data}\n\n`));
  }

  #nextTick(): Timer {
    return this.#options.clock.after(keepAliveMs, () => {
      if (this.#isClosed) return;
      // An event and no comment, so that the page knows too. Without an id, as nothing has changed.
      this.#sink.write(Buffer.from('event: alive\ndata: {}\n\n'));
      void this.#recheck();
      this.#timer = this.#nextTick();
    });
  }

  async #recheck(): Promise<void> {
    const { clock, recheckMs, isStillAllowed } = this.#options;
    if (clock.monotonicMs() - this.#lastCheckMs < recheckMs) return;
    this.#lastCheckMs = clock.monotonicMs();
    try {
      if (await isStillAllowed()) return;
    } catch {
      // The cluster could not be asked. Without an answer nothing more is shown; the browser connects again.
    }
    this.finish();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer.cancel();
    this.#options.onClosed(this);
  }
}

export function eventStreamResponse(open: (sink: StreamSink) => ResponseStream): StreamResponse {
  const headers = { ...securityHeaders, 'Cache-Control': 'no-store', 'Content-Type': 'text/event-stream' };
  return { status: 200, headers, stream: open };
}

/** Undefined if the viewer may see none of the changes. */
export function deltaText(changes: readonly RowChange[], rights: Rights): string | undefined {
  const upserts = new Map<string, string[]>();
  const gone = new Map<string, string[]>();
  const add = (lists: Map<string, string[]>, type: string, text: string) => {
    const list = lists.get(type);
    if (list === undefined) lists.set(type, [text]);
    else list.push(text);
  };
  for (const { type, id, stored, last } of changes) {
    if (stored !== undefined) {
      if (!maySee(rights, type, stored.row)) continue;
      const shown = withoutHidden(rights, type, stored.row);
      add(upserts, type, shown === stored.row ? stored.text : JSON.stringify(shown));
    } else if (last !== undefined && maySee(rights, type, last.row)) add(gone, type, JSON.stringify(id));
  }
  if (upserts.size + gone.size === 0) return undefined;
  return `{"upserts":${listsText(upserts)},"gone":${listsText(gone)}}`;
}

function listsText(lists: ReadonlyMap<string, readonly string[]>): string {
  return `{${[...lists].map(([type, texts]) => `"${type}":[${texts.join(',')}]`).join(',')}}`;
}
