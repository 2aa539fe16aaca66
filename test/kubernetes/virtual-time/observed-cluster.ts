import type { Cluster, ResourceClient } from '../../../src/cluster/cluster.ts';
import type { KubeObject, Status } from '../../../src/kube/api/meta.ts';
import type { WatchEvent, WatchOptions } from '../../../src/kube/api-requests.ts';
import { qualifiedPlural, type Resource } from '../../../src/kube/resource.ts';
import { assert } from '../../../src/runtime/assert.ts';
import type { StoredState } from '../../../src/simulation/invariants/stored-state.ts';
import { revisionOf, VersionLog } from './version-log.ts';

/** A machine that is busy may need long for one request. */
const requestMaxMs = 240_000;

interface OpenWatch {
  readonly plural: string;
  /** The newest version that its client has received. */
  seen: number;
}

/**
 * A real API server under virtual time: all requests of a process go through it, so it knows when nothing is on its way any more. That is so
 * when every request has its answer, and every watch has delivered everything that these requests stored. No other program may write the
 * resources that it follows.
 */
export class ObservedCluster implements Cluster {
  readonly #cluster: Cluster;
  readonly #log = new VersionLog(() => this.#noteActivity());
  readonly #stop = new AbortController();
  readonly #watches = new Set<OpenWatch>();
  /** Requests without an answer, as texts. */
  readonly #requests = new Map<object, string>();
  /** The newest version that an answer has named, by resource. */
  readonly #written = new Map<string, number>();
  /** Objects by uid whose removal was acknowledged, and has not been delivered yet. */
  readonly #removing = new Map<string, string>();
  #activity = 0;
  #notify = () => {};
  /** Checks every version that is stored from now on; undefined while nothing does. */
  checks: StoredState | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async follow(resources: readonly Resource[]): Promise<void> {
    for (const resource of resources) await this.#log.follow(this.#cluster, resource, this.#stop.signal);
  }

  close(): void {
    this.#stop.abort();
  }

  /** Resolves when nothing is on its way, and all versions that were stored have been checked. */
  async quiet(): Promise<void> {
    for (let activity = -1; activity !== this.#activity || this.#outstanding() !== undefined; ) {
      activity = this.#activity;
      await this.#change();
      // Twice: an event that has arrived may need another turn of the event loop.
      await nextImmediate();
      await nextImmediate();
    }
    this.#log.flush(this.checks);
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#cluster.resource(resource);
    const plural = qualifiedPlural(resource);
    const read = <R>(verb: string, name: string, send: () => Promise<R>) =>
      this.#track(`${verb} ${plural}/${name}`, send());
    // A request is not cancelled when its client stops waiting: it arrives at the server or not, and here we must know which.
    const write = async <R>(
      verb: string,
      name: string,
      signal: AbortSignal | undefined,
      send: () => Promise<R>,
    ) => {
      signal?.throwIfAborted();
      const sent = this.#track(`${verb} ${plural}/${name}`, send(), (answer) =>
        this.#noteWrite(plural, name, answer as KubeObject | Status | undefined),
      );
      return await unlessAborted(sent, signal);
    };
    return {
      resource,
      get: (key, options) => read('get', key.name, () => client.get(key, options)),
      list: (options) => read('list', '', () => client.list(options)),
      watch: (options) => this.#watch(client, plural, options),
      create: (object, { signal, ...rest } = {}) =>
        write('create', object.metadata?.name ?? '', signal, () => client.create(object, rest)),
      update: (object, { signal, ...rest } = {}) =>
        write('update', object.metadata?.name ?? '', signal, () => client.update(object, rest)),
      patch: (key, patch, { signal, ...rest } = {}) =>
        write('patch', key.name, signal, () => client.patch(key, patch, rest)),
      delete: (key, { signal, ...rest } = {}) =>
        write('delete', key.name, signal, () => client.delete(key, rest)),
      deleteCollection: async (options) => {
        assert(!this.#log.isFollowed(plural), 'what it removes is not known');
        await read('deleteCollection', '', () => client.deleteCollection(options));
      },
      post: (key, subresource, body, { signal, ...rest } = {}) =>
        write('post', key.name, signal, () => client.post(key, subresource, body, rest)),
    };
  }

  async *#watch<T extends KubeObject>(
    client: ResourceClient<T>,
    plural: string,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const { resourceVersion, labelSelector, fieldSelector, namespace } = options;
    const isWhole = (labelSelector ?? fieldSelector ?? namespace) === undefined;
    assert(isWhole && resourceVersion !== undefined, 'it must be known what a watch will deliver');
    const watch: OpenWatch = { plural, seen: Number(resourceVersion) };
    this.#watches.add(watch);
    try {
      for await (const event of client.watch(options)) {
        watch.seen = event.type === 'BOOKMARK' ? Number(event.resourceVersion) : revisionOf(event.object);
        this.#noteActivity();
        yield event;
      }
    } finally {
      this.#watches.delete(watch);
      this.#noteActivity();
    }
  }

  async #track<R>(text: string, answer: Promise<R>, onAnswer?: (answer: R) => void): Promise<R> {
    const key = {};
    this.#requests.set(key, text);
    this.#noteActivity();
    try {
      const result = await answer;
      onAnswer?.(result);
      return result;
    } finally {
      this.#requests.delete(key);
      this.#noteActivity();
    }
  }

  #noteWrite(plural: string, name: string, answer: KubeObject | Status | undefined): void {
    if (!this.#log.isFollowed(plural)) {
      const isWatched = [...this.#watches].some((watch) => watch.plural === plural);
      assert(!isWatched, `${plural} are written and watched, and not followed`);
      return;
    }
    const { uid, deletionTimestamp, finalizers = [] } = (answer as KubeObject).metadata ?? {};
    const isObject = uid !== undefined;
    if (isObject)
      this.#written.set(plural, Math.max(this.#written.get(plural) ?? 0, revisionOf(answer as KubeObject)));
    const removedUid = isObject ? uid : (answer as Status).details?.uid;
    assert(removedUid !== undefined, `the answer about ${plural}/${name} names no uid`);
    // Removed at once, or with its last finalizer.
    const isRemoved = !isObject || (deletionTimestamp !== undefined && finalizers.length === 0);
    if (isRemoved) this.#removing.set(removedUid, `${plural}/${name}`);
  }

  /** What is still on its way; undefined if nothing is. */
  #outstanding(): string | undefined {
    if (this.#log.failure !== undefined) throw this.#log.failure;
    const [request] = this.#requests.values();
    if (request !== undefined) return `the answer to ${request}`;
    for (const [plural, revision] of this.#written)
      if (this.#log.newest(plural) < revision) return `version ${revision} of ${plural}`;
    for (const [uid, text] of this.#removing) {
      if (!this.#log.isRemoved(uid)) return `the removal of ${text}`;
      this.#removing.delete(uid);
    }
    for (const { plural, seen } of this.#watches)
      if (seen < this.#log.newest(plural))
        return `a watch of ${plural} that is at ${seen} and not at ${this.#log.newest(plural)}`;
    return undefined;
  }

  #noteActivity(): void {
    this.#activity += 1;
    this.#notify();
  }

  /** Resolves when something has arrived, or nothing is on its way. */
  async #change(): Promise<void> {
    const outstanding = this.#outstanding();
    if (outstanding === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const isLate = await new Promise<boolean>((resolve) => {
      this.#notify = () => resolve(false);
      timer = setTimeout(() => resolve(true), requestMaxMs);
    });
    clearTimeout(timer);
    if (isLate) throw new Error(`nothing has come for ${requestMaxMs / 1000} s: ${outstanding}`);
  }
}

function nextImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The response, or a rejection as soon as the client stops waiting; the request stays on its way. */
async function unlessAborted<R>(sent: Promise<R>, signal: AbortSignal | undefined): Promise<R> {
  if (signal === undefined) return await sent;
  let stopListening = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const listener = () => reject(signal.reason);
    signal.addEventListener('abort', listener, { once: true });
    stopListening = () => signal.removeEventListener('abort', listener);
  });
  try {
    return await Promise.race([sent, aborted]);
  } finally {
    stopListening();
    sent.catch(() => {});
  }
}
