import type {
  IncomingRequest,
  OutgoingResponse,
  ResponseStream,
} from '../../../apiserver/server/http/http-exchange.ts';
import type { Console } from '../../../console/console.ts';

export const consoleToken = 'the-token-of-the-console';

export interface ClientCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts when the browser closes the connection. */
  readonly closed?: AbortSignal;
}

/** Asks the console as a browser would that has signed in. */
export async function ask(console: Console, path: string, call: ClientCall = {}): Promise<OutgoingResponse> {
  const { method = 'GET', headers = {}, body = '', closed = new AbortController().signal } = call;
  const { pathname, searchParams } = new URL(`https://127.0.0.1/console/${path}`);
  return await console.handle({
    method,
    path: pathname,
    query: searchParams,
    headers: {
      host: '127.0.0.1',
      cookie: `__Secure-stowage-console-443=${consoleToken}`,
      ...(method === 'POST' && { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    headerValues: {},
    body: async () => Buffer.from(body),
    closed,
    warnings: { add: () => {} } as unknown as IncomingRequest['warnings'],
  });
}

/** The whole body of a response that does not stream. */
export async function textOf(response: OutgoingResponse): Promise<string> {
  const parts: Uint8Array[] = [];
  if ('body' in response) parts.push(...response.body);
  if ('pieces' in response) for await (const piece of response.pieces) parts.push(piece);
  return Buffer.concat(parts).toString('utf8');
}

interface SentEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/**
 * Processes the state and the stream of changes as a page does, without a browser. `cut` ends the connection and loses the last bytes that were on
 * their way; `connect` resumes from the last event that arrived as a whole.
 */
export class ConsoleClient {
  /** Rows as JSON, by type and id. */
  readonly rows = new Map<string, string>();
  /** Rows that arrived although the client had them already. */
  readonly repeated: string[] = [];
  resets = 0;
  #position = '';
  #stream: ResponseStream | undefined;
  #arrived = Buffer.alloc(0);

  async load(console: Console): Promise<void> {
    const lines = (await textOf(await ask(console, 'data/state'))).trimEnd().split('\n');
    const [head, ...rest] = lines.map((line) => JSON.parse(line));
    this.rows.clear();
    for (const { type, rows = [] } of rest)
      for (const row of rows) this.rows.set(`${type} ${row.id}`, JSON.stringify(row));
    this.#position = head.position;
  }

  async connect(console: Console): Promise<void> {
    const response = await ask(console, 'data/events', { headers: { 'last-event-id': this.#position } });
    if (!('stream' in response)) throw new Error(`no stream: ${response.status}`);
    this.#arrived = Buffer.alloc(0);
    this.#stream = response.stream({
      unsentBytes: 0,
      write: (bytes) => {
        this.#arrived = Buffer.concat([this.#arrived, bytes]);
      },
      end: () => {},
      cut: () => {},
    });
  }

  /** Handles what has arrived; reads the whole state again if the server asks for that. */
  async receive(console: Console): Promise<void> {
    const events = this.#take();
    for (const { type, id, data } of events) {
      if (type === 'delta') this.#apply(JSON.parse(data));
      if (id !== '') this.#position = id;
      if (type !== 'reset') continue;
      this.resets += 1;
      this.cut(0);
      await this.load(console);
      await this.connect(console);
      return;
    }
  }

  cut(lostBytes: number): void {
    this.#arrived = this.#arrived.subarray(0, Math.max(0, this.#arrived.length - lostBytes));
    this.#stream?.closed();
    this.#stream = undefined;
  }

  #take(): readonly SentEvent[] {
    const text = this.#arrived.toString('utf8');
    const end = text.lastIndexOf('\n\n') + 2;
    if (end < 2) return [];
    this.#arrived = Buffer.from(text.slice(end));
    return text
      .slice(0, end - 2)
      .split('\n\n')
      .map((block) => {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        return { type: field('event'), id: field('id'), data: field('data') };
      });
  }

  #apply({
    upserts,
    gone,
  }: {
    upserts: Record<string, { id: string }[]>;
    gone: Record<string, string[]>;
  }): void {
    for (const [type, rows] of Object.entries(upserts))
      for (const row of rows) {
        const key = `${type} ${row.id}`;
        if (this.rows.get(key) === JSON.stringify(row)) this.repeated.push(key);
        this.rows.set(key, JSON.stringify(row));
      }
    for (const [type, ids] of Object.entries(gone)) for (const id of ids) this.rows.delete(`${type} ${id}`);
  }
}
