import { type ConsoleRows, type RowType, rowTypes, type StateDelta, type StateHead } from '../wire/rows.ts';
import { nextTask } from './next-task.ts';
import type { PageStore } from './store.ts';

export type ConnectionState = 'loading' | 'live' | 'frozen' | 'interrupted' | 'signedOut';

/** Work between two frames; then the browser may draw. */
const sliceMs = 8;
const retryMs = 2_000;

interface StateLine {
  readonly type?: RowType;
  readonly rows?: readonly never[];
  readonly isEnd?: true;
}

/** Reads the whole state once, and then follows its changes. The browser resumes an interrupted stream where it ended. */
export class Connection {
  readonly #store: PageStore;
  readonly #onState: (state: ConnectionState) => void;
  #events: EventSource | undefined;

  constructor(store: PageStore, onState: (state: ConnectionState) => void) {
    this.#store = store;
    this.#onState = onState;
  }

  async start(): Promise<void> {
    this.#events?.close();
    try {
      const position = await this.#load();
      if (position === undefined) return;
      if (this.#store.about?.takenAtMs != null) this.#onState('frozen');
      else this.#follow(position);
    } catch {
      this.#onState('interrupted');
      setTimeout(() => void this.start(), retryMs);
    }
  }

  /** The position where the changes start; undefined if the viewer has to sign in. */
  async #load(): Promise<string | undefined> {
    const response = await fetch('/console/data/state');
    if (response.status === 401) {
      this.#onState('signedOut');
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

  #follow(position: string): void {
    const events = new EventSource(`/console/data/events?since=${encodeURIComponent(position)}`);
    this.#events = events;
    events.addEventListener('open', () => this.#onState('live'));
    events.addEventListener('delta', (event) => this.#store.apply(JSON.parse(event.data) as StateDelta));
    events.addEventListener('reset', () => void this.start());
    events.addEventListener('error', () => {
      this.#onState('interrupted');
      // The browser tries again by itself, except after an answer that is no stream, such as 401.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => void this.start(), retryMs);
    });
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
