import type { KubeObject } from '../../kube/meta.ts';
import type { Status } from '../../kube/status.ts';
import { onAbort } from '../../runtime/abort.ts';
import { alreadyExists, conflict, expired, failure, notFound } from '../api-error.ts';
import type {
  Cluster,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ListPage,
  Patch,
  PatchOptions,
  ResourceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../cluster.ts';
import type { ObjectKey, Resource } from '../resource.ts';

/** The calls of a resource that can be made to fail or wait. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/**
 * The least of a cluster that informers, electors and recorders need: one resource, versions that grow, optimistic concurrency,
 * pages of one snapshot, watches that resume, and history that can be thrown away. Tests make it fail through `before`.
 */
export class MemoryCluster<T extends KubeObject> implements Cluster {
  /** Called ahead of every call; it may throw, or wait. */
  before: (
    verb: Verb,
    call: { readonly options?: object | undefined; readonly signal?: AbortSignal },
  ) => unknown = () => undefined;
  readonly calls: string[] = [];
  readonly #objects = new Map<string, T>();
  readonly #snapshots = new Map<number, readonly T[]>();
  #log: LogEntry<T>[] = [];
  #version = 100;
  #compactedVersion = 0;
  #changed = new Signal();
  #cut: { readonly error: unknown } | undefined;

  resource<U extends KubeObject>(resource: Resource<U>): ResourceClient<U> {
    return this.clientOf(resource as unknown as Resource<T>) as unknown as ResourceClient<U>;
  }

  clientOf(resource: Resource<T>): ResourceClient<T> {
    return {
      resource,
      get: (key, options) => this.#get(resource, key, options),
      list: (options) => this.#list(options),
      watch: (options) => this.#watch(options),
      create: (object, options) => this.#create(resource, object, options),
      update: (object, options) => this.#update(resource, object, options),
      patch: (key, patch, options) => this.#patch(resource, key, { patch, options }),
      delete: (key, options) => this.#delete(resource, key, options),
      deleteCollection: () => Promise.reject(new Error('not here')),
      post: () => Promise.reject(new Error('not here')),
    };
  }

  get version(): string {
    return String(this.#version);
  }

  objects(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Writes without asking, as another client would. */
  put(object: T): T {
    const key = keyOf(object.metadata ?? {});
    const old = this.#objects.get(key);
    const uid = object.metadata?.uid ?? old?.metadata?.uid ?? `uid-${this.#version}`;
    return this.#store(key, { ...object, metadata: { ...object.metadata, uid } });
  }

  remove(key: ObjectKey): void {
    const old = this.#objects.get(keyOf(key));
    if (old === undefined) return;
    this.#objects.delete(keyOf(key));
    this.#append('DELETED', old);
  }

  /** Versions move on without anything happening here. */
  bookmark(): void {
    this.#version += 10;
    this.#log.push({ version: this.#version, type: 'BOOKMARK', object: undefined });
    this.#wake();
  }

  /** Forgets history: watches and pages of older versions are too old now. */
  compact(): void {
    this.#log = [];
    this.#snapshots.clear();
    this.#compactedVersion = this.#version;
  }

  /** Ends every open watch, in good order or by an error. */
  cutWatches(error?: unknown): void {
    this.#cut = { error };
    this.#wake();
    this.#cut = undefined;
  }

  async #enter(verb: Verb, options: { readonly signal?: AbortSignal } | undefined): Promise<void> {
    this.calls.push(verb);
    options?.signal?.throwIfAborted();
    const { signal } = options ?? {};
    const waiting = this.before(verb, { options, ...(signal === undefined ? {} : { signal }) });
    if (waiting instanceof Promise) await waiting;
    signal?.throwIfAborted();
  }

  async #get(resource: Resource, key: ObjectKey, options: GetOptions | undefined): Promise<T> {
    await this.#enter('get', options);
    return this.#find(resource, key);
  }

  #find(resource: Resource, key: ObjectKey): T {
    const object = this.#objects.get(keyOf(key));
    if (object === undefined) throw notFound(resource, key.name);
    return object;
  }

  async #list(options: ListOptions = {}): Promise<ListPage<T>> {
    await this.#enter('list', options);
    const [version, start] =
      options.continue === undefined ? [this.#version, 0] : options.continue.split(':').map(Number);
    const items = options.continue === undefined ? this.objects() : this.#snapshots.get(version ?? 0);
    if (items === undefined || version === undefined || start === undefined)
      throw expired('The provided continue parameter is too old');
    this.#snapshots.set(version, items);
    const end = start + (options.limit ?? items.length);
    const next = end < items.length ? { continue: `${version}:${end}` } : {};
    return { items: items.slice(start, end), metadata: { resourceVersion: String(version), ...next } };
  }

  async *#watch(options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    await this.#enter('watch', options);
    let version = Number(options.resourceVersion ?? '0');
    if (options.sendInitialEvents || version === 0) {
      version = this.#version;
      for (const object of this.objects()) yield { type: 'ADDED', object };
      if (options.sendInitialEvents)
        yield { type: 'BOOKMARK', resourceVersion: String(version), isInitialEnd: true };
    }
    for (;;) {
      if (version < this.#compactedVersion) throw expired(`too old resource version: ${version}`);
      const entry = this.#log.find((candidate) => candidate.version > version);
      if (entry !== undefined) {
        version = entry.version;
        if (entry.object !== undefined) yield { type: entry.type as 'ADDED', object: entry.object };
        else if (options.bookmarks)
          yield { type: 'BOOKMARK', resourceVersion: String(version), isInitialEnd: false };
        continue;
      }
      const cut = await this.#changed.wait(options.signal, () => this.#cut);
      if (options.signal.aborted) return;
      if (cut?.error !== undefined) throw cut.error;
      if (cut !== undefined) return;
    }
  }

  async #create(resource: Resource, object: T, options: WriteOptions | undefined): Promise<T> {
    await this.#enter('create', options);
    const key = keyOf(object.metadata ?? {});
    if (this.#objects.has(key)) throw alreadyExists(resource, object.metadata?.name ?? '');
    return this.put(object);
  }

  async #update(resource: Resource, object: T, options: WriteOptions | undefined): Promise<T> {
    await this.#enter('update', options);
    const { name = '', resourceVersion } = object.metadata ?? {};
    const old = this.#find(resource, { ...object.metadata, name });
    if (resourceVersion !== old.metadata?.resourceVersion)
      throw conflict(resource, name, 'the object has been modified; please apply your changes to the latest');
    return this.put(object);
  }

  async #patch(
    resource: Resource,
    key: ObjectKey,
    { patch, options }: { readonly patch: Patch; readonly options: PatchOptions | undefined },
  ): Promise<T> {
    await this.#enter('patch', options);
    if (patch.type !== 'merge') throw failure(415, 'UnsupportedMediaType', 'only merge patches here');
    return this.put({ ...this.#find(resource, key), ...patch.body });
  }

  async #delete(resource: Resource, key: ObjectKey, options: DeleteOptions | undefined): Promise<T | Status> {
    await this.#enter('delete', options);
    const old = this.#find(resource, key);
    this.remove(key);
    return old;
  }

  #store(key: string, object: T): T {
    const type = this.#objects.has(key) ? 'MODIFIED' : 'ADDED';
    const stored = this.#append(type, object);
    this.#objects.set(key, stored);
    return stored;
  }

  #append(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): T {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = { ...object, metadata };
    this.#log.push({ version: this.#version, type, object: stored });
    this.#wake();
    return stored;
  }

  #wake(): void {
    const changed = this.#changed;
    this.#changed = new Signal();
    changed.fire();
  }
}

interface LogEntry<T> {
  readonly version: number;
  readonly type: WatchEvent<T>['type'];
  readonly object: T | undefined;
}

function keyOf({
  namespace,
  name,
}: {
  readonly namespace?: string | undefined;
  readonly name?: string;
}): string {
  return `${namespace ?? ''}/${name ?? ''}`;
}

/** Wakes everyone who waits, once. What `read` answers at that moment is what they get. */
class Signal {
  readonly #waiting = new Set<() => void>();

  fire(): void {
    for (const wake of this.#waiting) wake();
  }

  wait<V>(signal: AbortSignal, read: () => V): Promise<V> {
    if (signal.aborted) return Promise.resolve(read());
    return new Promise((resolve) => {
      const wake = () => {
        stopListening();
        resolve(read());
      };
      const stopListening = onAbort(signal, wake);
      this.#waiting.add(wake);
    });
  }
}
