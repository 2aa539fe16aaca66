import type { Cluster, Projected } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Selection } from '../../kube/api-requests.ts';
import { keyOf } from '../../kube/object-key.ts';
import { qualifiedPlural, type Resource } from '../../kube/resource.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { BackgroundWork, Supervisor } from '../../runtime/supervisor.ts';
import { type IndexFunctions, ObjectStore } from './object-store.ts';
import { type Projection, project } from './projection.ts';
import { Reflector, type ReflectorStatus } from './reflector.ts';

export interface InformerOptions<T extends KubeObject> {
  readonly cluster: Cluster;
  readonly resource: Resource<T>;
  readonly selection?: Selection;
  readonly projection?: Projection<T>;
  readonly indexes?: IndexFunctions<T>;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with errors (once if a resource is not served); the informer keeps running. Must neither throw nor wait. */
  readonly onError?: (error: unknown) => void;
  /** Distinguishes informers of one resource on a supervisor. */
  readonly purpose?: string;
  readonly pageSize?: number;
  readonly streamInitial?: boolean;
}

/** Receives changes one at a time, after they are in the cache. What a handler throws is reported and counted, and has no other effect. */
export interface InformerHandler<T extends KubeObject> {
  added?(object: Projected<T>): void;
  updated?(object: Projected<T>, old: Projected<T>): void;
  /** The object in its last known state. */
  deleted?(object: Projected<T>): void;
}

export interface InformerStatus extends ReflectorStatus {
  readonly objects: number;
  readonly hasSynced: boolean;
  /** Exceptions from handlers and projections. */
  readonly handlerErrors: number;
}

/**
 * A cache of a resource that follows the cluster and notifies handlers of changes.
 *
 * 1. `start` it on a supervisor; it ends with the supervisor. Wait for `synced` before deciding anything by the absence of an object. A
 *    resource that is optional and not served counts as synced and empty; its objects arrive once it is served.
 * 2. Handlers may be added at any time, even by handlers: a new one first gets an `added` for each existing object, then every
 *    change, none left out and none twice.
 * 3. An object that was replaced under the same name (another uid) is reported as deleted and added. An object that a re-list finds
 *    unchanged is not reported.
 *
 * Objects are `Projected`: they cannot be written back.
 */
export class Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly #options: InformerOptions<T>;
  readonly #store: ObjectStore<T>;
  readonly #reflector: Reflector<T>;
  /** Replaced, never modified, so that a dispatch in progress keeps the handlers it started with. */
  #handlers: readonly Registration<T>[] = [];
  readonly #onSynced = new Set<() => void>();
  #hasSynced = false;
  #handlerErrors = 0;

  constructor(options: InformerOptions<T>) {
    const { cluster, resource, indexes, projection: _p, onError: _e, ...rest } = options;
    this.resource = resource;
    this.#options = options;
    this.#store = new ObjectStore(indexes ?? {});
    this.#reflector = new Reflector({
      ...rest,
      client: cluster.resource(resource),
      isOptional: resource.isOptional,
      onError: (error) => options.onError?.(error),
      sink: {
        beginReplace: () => this.#store.beginRound(),
        endReplace: () => this.#endReplace(),
        upsert: (object) => this.#upsert(object),
        remove: (object) => this.#remove(object),
      },
    });
  }

  start(supervisor: Supervisor): BackgroundWork {
    const { namespace, labelSelector, fieldSelector } = this.#options.selection ?? {};
    const selected = [namespace, labelSelector, fieldSelector, this.#options.purpose].filter(
      (part) => part !== undefined,
    );
    const name = ['informer', qualifiedPlural(this.resource), ...selected].join(' ');
    return supervisor.start(name, (signal) => this.#reflector.run(signal));
  }

  /** Whether everything that existed at the start is in the cache. Stays true. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves when `hasSynced`; false if `signal` aborted before. */
  async synced(signal: AbortSignal): Promise<boolean> {
    if (this.#hasSynced || signal.aborted) return this.#hasSynced;
    return await new Promise((resolve) => {
      const finish = () => {
        this.#onSynced.delete(finish);
        stopListening();
        resolve(this.#hasSynced);
      };
      const stopListening = onAbort(signal, finish);
      this.#onSynced.add(finish);
    });
  }

  get size(): number {
    return this.#store.size;
  }

  /** Returns the object with the key `name` or `namespace/name`. */
  get(key: string): Projected<T> | undefined {
    return this.#store.get(key);
  }

  /** All objects, in no order. Iterate without awaiting, because the cache changes meanwhile. */
  values(): Iterable<Projected<T>> {
    return this.#store.values();
  }

  /** Keys of the objects that have `value` in the index. A live view: copy it to keep it. */
  keysBy(index: string, value: string): ReadonlySet<string> {
    return this.#store.keysBy(index, value);
  }

  /** The returned function removes the handler, which is then not called any more. */
  addHandler(handler: InformerHandler<T>): () => void {
    const registration: Registration<T> = { handler, isActive: true };
    for (const object of this.#store.values()) this.#notifyOne(registration, object, undefined);
    this.#handlers = [...this.#handlers, registration];
    return () => {
      registration.isActive = false;
      this.#handlers = this.#handlers.filter((other) => other !== registration);
    };
  }

  status(): InformerStatus {
    return {
      ...this.#reflector.status(),
      objects: this.#store.size,
      hasSynced: this.#hasSynced,
      handlerErrors: this.#handlerErrors,
    };
  }

  #upsert(object: T): void {
    const key = keyOf(object);
    const old = this.#store.get(key);
    if (old !== undefined && isSame(old, object)) {
      this.#store.mark(key);
      return;
    }
    const projected = this.#project(object);
    if (old !== undefined && old.metadata?.uid !== projected.metadata?.uid) this.#forget(key, old);
    const replaced = this.#store.get(key);
    this.#store.put(key, projected);
    this.#notify(projected, replaced);
  }

  #remove(object: T): void {
    const key = keyOf(object);
    const old = this.#store.get(key);
    // A deletion carries the last state, which may be newer than the cached one.
    if (old !== undefined) this.#forget(key, this.#project(object));
  }

  #endReplace(): void {
    for (const key of this.#store.unmarked()) {
      const old = this.#store.get(key);
      if (old !== undefined) this.#forget(key, old);
    }
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    for (const finish of this.#onSynced) finish();
  }

  #forget(key: string, last: Projected<T>): void {
    this.#store.delete(key);
    this.#notify(undefined, last);
  }

  #project(object: T): Projected<T> {
    try {
      return project(object, this.#options.projection);
    } catch (error) {
      // Keeping too much of an object is better than not having it.
      this.#noteError(error);
      return project(object, undefined);
    }
  }

  #notify(object: Projected<T> | undefined, old: Projected<T> | undefined): void {
    for (const registration of this.#handlers) this.#notifyOne(registration, object, old);
  }

  #notifyOne(
    { handler, isActive }: Registration<T>,
    object: Projected<T> | undefined,
    old: Projected<T> | undefined,
  ): void {
    if (!isActive) return;
    try {
      if (object === undefined) {
        if (old !== undefined) handler.deleted?.(old);
      } else if (old === undefined) handler.added?.(object);
      else handler.updated?.(object, old);
    } catch (error) {
      this.#noteError(error);
    }
  }

  #noteError(error: unknown): void {
    this.#handlerErrors += 1;
    this.#options.onError?.(error);
  }
}

interface Registration<T extends KubeObject> {
  readonly handler: InformerHandler<T>;
  isActive: boolean;
}

/** The version of an object changes with it, and is unique within its resource. */
function isSame(old: KubeObject, object: KubeObject): boolean {
  const version = object.metadata?.resourceVersion;
  return version !== undefined && version === old.metadata?.resourceVersion;
}
