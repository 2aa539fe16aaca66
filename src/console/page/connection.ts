import { type ConsoleRows, type RowType, rowTypes, type StateDelta, type StateHead } from '../wire/rows.ts';
import { nextTask } from './next-task.ts';
import type { PageStore } from './store.ts';

export type ConnectionState = 'loading' | 'live' | 'frozen' | 'interrupted' | 'signedOut';

export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** When the server was heard of last; only while it is `interrupted`. */
  readonly lostAtMs?: number;
}

/** Work between two frames; then the browser may draw. */
const sliceMs = 8;
const retryMs = 2_000;
/** The server says that it is there every 15 seconds. A connection that was cut without a word looks open to the browser. */
const silenceMaxMs = 40_000;
const lookMs = 5_000;

interface StateLine {
  readonly type?: RowType;
  readonly rows?: readonly never[];
  readonly isEnd?: true;
}

/** Reads the whole state once, and then follows its changes. An interrupted stream is resumed where it ended. */
export class Connection {
  readonly #store: PageStore;
  readonly #onStatus: (status: ConnectionStatus) => void;
  #events: EventSource | undefined;
  /** Position of the last change in the store. */
  #position = '';
  #heardMs = Date.now();
  #lostAtMs: number | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(store: PageStore, onStatus: (status: ConnectionStatus) => void) {
    this.#store = store;
    this.#onStatus = onStatus;
    setInterval(() => this.#look(), lookMs);
    // The browser knows that the network is back before the next try is due.
    addEventListener('online', () => {
      if (this.#lostAtMs !== undefined) this.#restart();
    });
  }

  async start(): Promise<void> {
    this.#close();
    try {
      const position = await this.#load();
      if (position === undefined) return;
      this.#position = position;
      if (this.#store.about?.takenAtMs != null) this.#onStatus({ state: 'frozen' });
      else this.#follow();
    } catch {
      this.#lost(Date.now());
      this.#startLater();
    }
  }

  /** The position where the changes start; undefined if the viewer has to sign in, or to wait. */
  async #load(): Promise<string | undefined> {
    const response = await fetch('/console/data/state');
    if (response.status === 401) {
      this.#onStatus({ state: 'signedOut' });
      return undefined;
    }
    // The server has started, and reads the cluster.
    if (response.status === 503 && this.#lostAtMs === undefined) {
      this.#startLater();
      return undefined;
    }
    if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
    const kept = new Map(rowTypes.map((type) => [type, new Set<string>()]));
    let head: StateHead | undefined;
    let isComplete = false;
    for await (const line of linesOf(response.body)) {
      if (head === undefined) {
        head = line as unknown as StateHead;
        this.#store.about = head.about;
        continue;
      }
      if (line.isEnd === true) isComplete = true;
      if (line.type === undefined || line.rows === undefined) continue;
      const ids = kept.get(line.type);
      for (const { id } of line.rows as readonly ConsoleRows[RowType][]) ids?.add(id);
      this.#store.upsert(line.type, line.rows);
    }
    if (!isComplete || head === undefined) throw new Error('the state is incomplete');
    this.#store.retain(kept);
    return head.position;
  }

  #follow(): void {
    const events = new EventSource(`/console/data/events?since=${encodeURIComponent(this.#position)}`);
    this.#events = events;
    this.#heardMs = Date.now();
    events.addEventListener('open', () => this.#heard());
    events.addEventListener('alive', () => this.#heard());
    events.addEventListener('delta', (event) => {
      this.#store.apply(JSON.parse(event.data) as StateDelta);
      this.#position = event.lastEventId;
      this.#heard();
    });
    events.addEventListener('reset', () => void this.start());
    events.addEventListener('error', () => {
      this.#lost(Date.now());
      // The browser reconnects by itself, except after a response that is not a stream, such as 401.
      if (events.readyState === EventSource.CLOSED) this.#startLater();
    });
  }

  #heard(): void {
    this.#heardMs = Date.now();
    this.#lostAtMs = undefined;
    this.#onStatus({ state: 'live' });
  }

  #lost(atMs: number): void {
    this.#lostAtMs ??= atMs;
    this.#onStatus({ state: 'interrupted', lostAtMs: this.#lostAtMs });
  }

  /** Opens another stream if this one has been silent for too long, such as after the computer slept. */
  #look(): void {
    if (this.#events === undefined || Date.now() - this.#heardMs <= silenceMaxMs) return;
    this.#lost(this.#heardMs);
    this.#events.close();
    this.#follow();
  }

  #startLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#restart(), retryMs);
  }

  #restart(): void {
    clearTimeout(this.#retry);
    void this.start();
  }

  #close(): void {
    this.#events?.close();
    this.#events = undefined;
  }
}

/** One parsed line at a time; pauses for the browser now and then. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncIterable<StateLine> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let startedMs = performance.now();
  while (true) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') yield JSON.parse(line) as StateLine;
      if (performance.now() - startedMs < sliceMs) continue;
      await nextTask();
      startedMs = performance.now();
    }
    if (done) return;
  }
}
