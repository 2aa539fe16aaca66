import type { KubeObject } from '../kube/api/meta.ts';
import type {
  DeleteCollectionOptions,
  ListOptions,
  PatchOptions,
  WatchEvent,
  WatchOptions,
} from '../kube/api-requests.ts';
import type { Resource } from '../kube/resource.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Cluster, ResourceClient } from './cluster.ts';

/**
 * One client's connection to a cluster, with hooks on every call. Without hooks every call passes through unchanged. Several
 * intercepted clusters may lead to one cluster, so that each client has its own faults. `fault-hooks.ts` has hooks for the
 * usual faults.
 *
 * A call other than a watch runs through these steps; a hook that throws or rejects fails the call, and the later steps are skipped:
 * 1. `before` of all hooks, in the order in which they were added. What fails here never reaches the cluster.
 * 2. `answer` of all hooks, until one returns an answer; then the cluster is not called, and step 4 follows.
 * 3. The call itself. Where it fails, `failed` of all hooks sees the error, and the caller receives it.
 * 4. `after` of all hooks. The call has taken place; if a hook fails here, the caller cannot know that.
 *
 * A watch runs steps 1 and 2 when its first event is requested; then `onWatchEvent` decides about each event.
 * A call whose signal has aborted before step 1, or during steps 1 or 4, rejects with the signal's reason.
 */
export class InterceptedCluster implements Cluster {
  readonly #cluster: Cluster;
  readonly #hooks = new Set<ClusterHooks>();
  readonly #watches = new Set<OpenWatch>();

  constructor(cluster: Cluster, ...hooks: readonly ClusterHooks[]) {
    this.#cluster = cluster;
    for (const one of hooks) this.addHooks(one);
  }

  /** Applies to calls and watch events from now on. The returned function removes the hooks again. */
  addHooks(hooks: ClusterHooks): () => void {
    this.#hooks.add(hooks);
    return () => void this.#hooks.delete(hooks);
  }

  /** Ends every open watch: regularly, or with an error. */
  endWatches(end: WatchEnd = {}): void {
    for (const watch of this.#watches) watch.end(end);
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#cluster.resource(resource);
    const on = (
      verb: ClusterVerb,
      { name = '' }: { readonly name?: string | undefined } = {},
      body?: unknown,
    ) => ({ verb, resource, name, body });
    return {
      resource,
      get: (key, options) => this.#call(on('get', key), options, (how) => client.get(key, how)),
      list: (options) => this.#call(on('list'), options, (how) => client.list(how)),
      watch: (options) => this.#watch(client, options),
      create: (object, options) =>
        this.#call(on('create', object.metadata, object), options, (how) => client.create(object, how)),
      update: (object, options) =>
        this.#call(on('update', object.metadata, object), options, (how) => client.update(object, how)),
      patch: (key, patch, options) =>
        this.#call(on('patch', key, patch.type === 'json' ? patch.operations : patch.body), options, (how) =>
          client.patch(key, patch, how),
        ),
      delete: (key, options) => this.#call(on('delete', key), options, (how) => client.delete(key, how)),
      deleteCollection: (options) =>
        this.#call(on('deleteCollection'), options, (how) => client.deleteCollection(how)),
      post: (key, subresource, body, options) =>
        this.#call(on('post', key, body), options, (how) => client.post(key, subresource, body, how)),
    };
  }

  async #call<O extends { readonly signal?: AbortSignal }, R>(
    target: CallTarget,
    options: O | undefined,
    send: (options: O) => Promise<R>,
  ): Promise<R> {
    const { signal, ...rest } = options ?? ({} as O);
    const call: ClusterCall = { ...target, options: rest, signal, send: () => send(rest as O) };
    await this.#run('before', call);
    const override = this.#answer(call);
    const answer = override ? await override.value : await this.#send(call, () => send(options ?? ({} as O)));
    await this.#run('after', call);
    return answer as R;
  }

  async #send<R>(call: ClusterCall, send: () => Promise<R>): Promise<R> {
    try {
      return await send();
    } catch (error) {
      for (const { failed } of this.#hooks) await failed?.(call, error);
      throw error;
    }
  }

  async *#watch<T extends KubeObject>(
    client: ResourceClient<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const { signal, ...rest } = options;
    const send = () => Promise.reject(new Error('a watch cannot be sent by a hook'));
    const call: ClusterCall = {
      verb: 'watch',
      resource: client.resource,
      name: '',
      options: rest,
      signal,
      send,
    };
    await this.#run('before', call);
    const override = this.#answer(call);
    const watch = new OpenWatch(signal);
    this.#watches.add(watch);
    const events = override?.value ?? client.watch({ ...options, signal: watch.signal });
    try {
      for await (const event of events as AsyncIterable<WatchEvent<T>>) {
        const outcome = await this.#onWatchEvent(call, event);
        if (outcome !== 'drop') yield event;
        if (outcome === 'last') return;
      }
      const { bookmark, error } = watch.ended;
      if (bookmark !== undefined) yield { type: 'BOOKMARK', resourceVersion: bookmark, isInitialEnd: false };
      if (error !== undefined) throw error;
    } finally {
      watch.stopListening();
      this.#watches.delete(watch);
    }
  }

  async #run(moment: 'before' | 'after', call: ClusterCall): Promise<void> {
    call.signal?.throwIfAborted();
    for (const hooks of this.#hooks) await hooks[moment]?.(call);
    call.signal?.throwIfAborted();
  }

  #answer(call: ClusterCall): AnswerOverride | undefined {
    for (const { answer } of this.#hooks) {
      const override = answer?.(call);
      if (override !== undefined) return override;
    }
    return undefined;
  }

  async #onWatchEvent(call: ClusterCall, event: WatchEvent<KubeObject>): Promise<WatchEventOutcome> {
    let outcome: WatchEventOutcome;
    for (const { onWatchEvent } of this.#hooks) outcome = (await onWatchEvent?.(call, event)) ?? outcome;
    return outcome;
  }
}

export interface ClusterHooks {
  /** Throws or rejects to fail the call, or takes its time to delay it. */
  readonly before?: ClusterHook;
  /** Answers in the place of the cluster; undefined leaves the call to the cluster. */
  readonly answer?: (call: ClusterCall) => AnswerOverride | undefined;
  /** Throws or rejects to lose the answer, or takes its time to delay it. */
  readonly after?: ClusterHook;
  /** Observes an error of the cluster; the caller receives it in any case. */
  readonly failed?: (call: ClusterCall, error: unknown) => unknown;
  /** Takes its time to delay the event and all later ones of this watch; throws or rejects to break the watch. */
  readonly onWatchEvent?: (
    call: ClusterCall,
    event: WatchEvent<KubeObject>,
  ) => WatchEventOutcome | Promise<WatchEventOutcome>;
}

/** What it returns is awaited and otherwise ignored. */
export type ClusterHook = (call: ClusterCall) => unknown;

/** Undefined delivers the event, `drop` leaves it out, `last` delivers it and ends the watch. */
export type WatchEventOutcome = 'drop' | 'last' | undefined;

/** `value` may be a promise. For a watch, it is an iterable of watch events. */
export interface AnswerOverride {
  readonly value: unknown;
}

export type ClusterVerb = Exclude<keyof ResourceClient<KubeObject>, 'resource'>;

/** A call as its client makes it. */
export interface ClusterCall extends CallTarget {
  readonly options: Omit<ListOptions & WatchOptions & PatchOptions & DeleteCollectionOptions, 'signal'>;
  readonly signal: AbortSignal | undefined;
  /** Makes the call without the client's signal: for requests that arrive after the client has aborted them. */
  readonly send: () => Promise<unknown>;
}

interface CallTarget {
  readonly verb: ClusterVerb;
  readonly resource: Resource;
  /** Empty for collections, and for objects whose name the server generates. */
  readonly name: string;
  /** The object or patch that is sent; undefined for other calls. */
  readonly body?: unknown;
}

/** How `endWatches` ends a watch. */
export interface WatchEnd {
  /** Undefined: the watch ends regularly. */
  readonly error?: unknown;
  /** Sent at the end. Must not be newer than the last event of the watches. */
  readonly bookmark?: string;
}

/** A watch in progress: it ends with its client's signal, or by `endWatches`. */
class OpenWatch {
  ended: WatchEnd = {};
  readonly #abort = new AbortController();
  readonly stopListening: () => void;

  constructor(signal: AbortSignal) {
    if (signal.aborted) this.#abort.abort();
    this.stopListening = signal.aborted ? () => {} : onAbort(signal, () => this.#abort.abort());
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  end(end: WatchEnd): void {
    this.ended = end;
    this.#abort.abort();
  }
}
