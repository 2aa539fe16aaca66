import type { KubeObject } from '../../kube/api/meta.ts';
import type { WatchEvent, WatchOptions } from '../../kube/api-requests.ts';
import type { Resource } from '../../kube/resource.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Cluster, ResourceClient } from '../cluster.ts';

export type Verb = Exclude<keyof ResourceClient<KubeObject>, 'resource'>;

/** A call that somebody makes. */
export interface Call {
  readonly verb: Verb;
  /** As the caller gave them. */
  readonly options: { readonly limit?: number | undefined; readonly continue?: string | undefined };
  readonly signal: AbortSignal | undefined;
  /** Makes the call at last, whether or not the caller still waits: for requests that were given up and arrive late. */
  arrive(): Promise<unknown>;
}

/** What goes wrong with a call: it may throw, wait, or do something else first. */
export type Fault = (call: Call) => unknown;

/**
 * A way to a cluster on which things go wrong when a test says so; until then every call passes through. Several may lead to
 * one cluster: each is the network of one client.
 */
export class FaultyCluster implements Cluster {
  /** The calls that were tried, those that failed included. */
  readonly calls: Verb[] = [];
  /** Bookmarks do not come through. */
  dropsBookmarks = false;
  /** Watches from now on end after so many events, in good order; with 0 as soon as they have begun. */
  eventsPerWatchMax = Number.POSITIVE_INFINITY;
  readonly #cluster: Cluster;
  readonly #requestFaults = new Set<Fault>();
  readonly #answerFaults = new Set<Fault>();
  readonly #lines = new Set<WatchLine>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#cluster.resource(resource);
    return {
      resource,
      get: (key, options) => this.#pass('get', options, (how) => client.get(key, how)),
      list: (options) => this.#pass('list', options, (how) => client.list(how)),
      watch: (options) => this.#watch(client, options),
      create: (object, options) => this.#pass('create', options, (how) => client.create(object, how)),
      update: (object, options) => this.#pass('update', options, (how) => client.update(object, how)),
      patch: (key, patch, options) => this.#pass('patch', options, (how) => client.patch(key, patch, how)),
      delete: (key, options) => this.#pass('delete', options, (how) => client.delete(key, how)),
      deleteCollection: (options) =>
        this.#pass('deleteCollection', options, (how) => client.deleteCollection(how)),
      post: (key, subresource, body, options) =>
        this.#pass('post', options, (how) => client.post(key, subresource, body, how)),
    };
  }

  /** Ahead of every call: what fails here never reaches the cluster. The returned function puts an end to it. */
  onRequest(fault: Fault): () => void {
    this.#requestFaults.add(fault);
    return () => void this.#requestFaults.delete(fault);
  }

  /** After every call but watches: what fails here has taken place, and the caller cannot know. */
  onAnswer(fault: Fault): () => void {
    this.#answerFaults.add(fault);
    return () => void this.#answerFaults.delete(fault);
  }

  /** The next calls of a verb fail, one error each. */
  failNext(verb: Verb, ...errors: readonly unknown[]): void {
    const left = [...errors];
    const stop = this.onRequest((call) => {
      if (call.verb !== verb) return;
      const error = left.shift();
      if (left.length === 0) stop();
      throw error;
    });
  }

  /**
   * Ends every open watch. In good order where no error is given; then maybe with a last bookmark, which must not be newer than
   * what the watches have told.
   */
  cutWatches(end: WatchEnd = {}): void {
    for (const line of this.#lines) line.cut(end);
  }

  async #pass<O extends CallOptions, R>(
    verb: Verb,
    options: O | undefined,
    send: (options: O) => Promise<R>,
  ): Promise<R> {
    this.calls.push(verb);
    const { signal, ...rest } = options ?? ({} as O);
    const call: Call = { verb, options: rest, signal, arrive: () => send(rest as O) };
    await suffer(this.#requestFaults, call);
    const answer = await send(options ?? ({} as O));
    await suffer(this.#answerFaults, call);
    return answer;
  }

  async *#watch<T extends KubeObject>(
    client: ResourceClient<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    this.calls.push('watch');
    const arrive = () => Promise.reject(new Error('a watch that was given up does not arrive'));
    await suffer(this.#requestFaults, { verb: 'watch', options: {}, signal: options.signal, arrive });
    const line = new WatchLine(options.signal);
    this.#lines.add(line);
    let eventsLeft = this.eventsPerWatchMax;
    try {
      if (eventsLeft === 0) return;
      for await (const event of client.watch({ ...options, signal: line.signal })) {
        if (event.type === 'BOOKMARK' && this.dropsBookmarks) continue;
        yield event;
        eventsLeft -= 1;
        if (eventsLeft <= 0) return;
      }
      const { bookmark, error } = line.end;
      if (bookmark !== undefined) yield { type: 'BOOKMARK', resourceVersion: bookmark, isInitialEnd: false };
      if (error !== undefined) throw error;
    } finally {
      line.hangUp();
      this.#lines.delete(line);
    }
  }
}

export interface WatchEnd {
  readonly error?: unknown;
  readonly bookmark?: string;
}

type CallOptions = Call['options'] & { readonly signal?: AbortSignal };

async function suffer(faults: ReadonlySet<Fault>, call: Call): Promise<void> {
  call.signal?.throwIfAborted();
  for (const fault of faults) await fault(call);
  call.signal?.throwIfAborted();
}

/** A watch in progress: ends with its caller's signal, or when it is cut. */
class WatchLine {
  end: WatchEnd = {};
  readonly #abort = new AbortController();
  readonly #stopListening: () => void;

  constructor(signal: AbortSignal) {
    if (signal.aborted) this.#abort.abort();
    this.#stopListening = signal.aborted ? () => {} : onAbort(signal, () => this.#abort.abort());
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  cut(end: WatchEnd): void {
    this.end = end;
    this.#abort.abort();
  }

  hangUp(): void {
    this.#stopListening();
  }
}

/** Every call fails. */
export function refusing(error: unknown): Fault {
  return () => {
    throw error;
  };
}

/** No call is ever answered; the caller has to give up. */
export function hanging(): Fault {
  return ({ signal }) =>
    new Promise((_, reject) => {
      if (signal !== undefined) onAbort(signal, () => reject(signal.reason));
    });
}
