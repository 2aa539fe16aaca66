import type { Random } from '../../../src/runtime/random.ts';
import type { ApiClient, ApiObject } from '../../up/api-client.ts';
import { delay } from '../../up/stowage-process.ts';
import type { WatchEvent } from '../linearizability/history.ts';
import { configMaps, isOurs, itemOf, nowMs, type Recorder } from './recorder.ts';

interface Line {
  readonly type: WatchEvent['type'] | 'ERROR';
  readonly object: ApiObject & { readonly code?: number };
}

/** Lists and watches as an informer does: it resumes at the last version, and lists again only after 410. */
export class RecordingWatcher {
  lists = 0;
  /** The newest version that it knows of; 0 if it has to list. */
  version = 0;
  readonly #name: string;
  readonly #recorder: Recorder;
  readonly #random: Random;
  #events: WatchEvent[] = [];

  constructor(name: string, recorder: Recorder, random: Random) {
    this.#name = name;
    this.#recorder = recorder;
    this.#random = random;
  }

  /** Until the server ends or the signal aborts; sometimes it drops its own connection. */
  async run(api: ApiClient, hasEnded: () => boolean, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !hasEnded()) {
      try {
        if (this.version === 0) await this.#list(api);
        await this.#watch(api, signal);
      } catch {
        // The server is gone, or the connection broke: resume where it was.
        await delay(2);
      }
    }
  }

  async #list(api: ApiClient): Promise<void> {
    const { status, body } = await api.call('GET', configMaps);
    if (status !== 200) throw new Error(`a list was answered with ${status}`);
    this.version = Number(body.metadata.resourceVersion);
    this.lists += 1;
    this.#events = [];
    this.#recorder.watches.push({
      watcher: `${this.#name}, list ${this.lists}`,
      startVersion: this.version,
      startItems: (body.items ?? []).filter(isOurs).map(itemOf),
      events: this.#events,
    });
  }

  async #watch(api: ApiClient, signal: AbortSignal): Promise<void> {
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${this.version}`;
    const response = await api.watch(`${configMaps}?${query}`);
    const stop = () => response.destroy();
    signal.addEventListener('abort', stop);
    const timer = setTimeout(stop, 50 + this.#random.int(600));
    if (signal.aborted) stop();
    let rest = '';
    try {
      response.setEncoding('utf8');
      for await (const chunk of response) {
        const lines = `${rest}${chunk}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (!this.#receive(JSON.parse(line))) return;
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /** False if the watch is over and a list is necessary. */
  #receive({ type, object }: Line): boolean {
    const atMs = nowMs();
    if (type === 'ERROR') {
      if (object.code !== 410) throw new Error(`a watch ended with ${JSON.stringify(object)}`);
      this.version = 0;
      return false;
    }
    const item = itemOf(object);
    if (type === 'BOOKMARK') this.#events.push({ type, version: item.version, atMs });
    else if (isOurs(object)) this.#events.push({ type, ...item, atMs });
    this.version = item.version;
    return true;
  }
}
