import type { Projected } from '../cluster/cluster.ts';
import type {
  ClusterChange,
  IndexedKind,
  IndexUpdate,
  ObjectWarning,
} from '../engine/cluster-index/cluster-change.ts';
import { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { Profile } from '../engine/cluster-index/profile.ts';
import { setPublisherLease } from '../engine/cluster-index/publisher-lease.ts';
import type { ObjectOf } from '../engine/cluster-index/read-object.ts';
import { isOlderVersion } from '../engine/cluster-index/resource-versions.ts';
import type { Lease } from '../kube/api/coordination.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { Selection } from '../kube/api-requests.ts';
import { keyOf } from '../kube/object-key.ts';
import type { Resource } from '../kube/resource.ts';
import type { Informer } from '../reconcile/informer/informer.ts';
import { project } from '../reconcile/informer/projection.ts';
import { kindResources } from './kind-resources.ts';
import { publisherLeaseInformer } from './publisher-leases.ts';

/** Provides one shared informer per resource and selection. */
export interface InformerSource {
  of<T extends KubeObject>(resource: Resource<T>, selection?: Selection): Informer<T>;
}

export interface ClusterFeedOptions {
  readonly informers: InformerSource;
  /** The kinds that the owner needs. The tables of other kinds stay empty. */
  readonly kinds: readonly IndexedKind[];
  readonly profile?: Profile;
  /** Called once for every change, after the index has it, including changes by the owner's writes. Must neither throw nor block. */
  readonly onChange?: (change: ClusterChange) => void;
  /** Called with each part of an object that the index could not read. */
  readonly onWarning?: (warning: ObjectWarning) => void;
}

/**
 * Keeps a `ClusterIndex` up to date from informers.
 *
 * 1. Call `start`, then wait for `synced` before any decision that relies on the absence of an object.
 * 2. After a write, pass the response to `recordWrite`: the index and `get` have it immediately, and an informer that is behind doesn't
 *    revert it. So the owner sees its own writes, and never promises the same resource twice.
 */
export class ClusterFeed {
  readonly index: ClusterIndex;
  readonly #options: ClusterFeedOptions;
  readonly #tables = new Map<IndexedKind, Table>();
  readonly #publishers: Informer<Lease> | undefined;

  constructor(options: ClusterFeedOptions) {
    this.#options = options;
    this.index = new ClusterIndex(options.profile);
    for (const kind of options.kinds) {
      const informer = options.informers.of<KubeObject>(kindResources[kind]);
      this.#tables.set(kind, { informer, written: new Map() });
    }
    if (options.kinds.includes('CSIStorageCapacity') && this.index.profile.honoursHeartbeats)
      this.#publishers = publisherLeaseInformer(options.informers);
  }

  /** Subscribes to the informers. The returned function unsubscribes. */
  start(): () => void {
    const stops = [...this.#tables].map(([kind, table]) => this.#follow(kind, table));
    if (this.#publishers !== undefined) stops.push(this.#followPublishers(this.#publishers));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Resolves with true once every object that existed at the start is in the index, or with false if `signal` aborts first. */
  async synced(signal: AbortSignal): Promise<boolean> {
    const informers = [...this.#tables.values()].map(({ informer }) => informer);
    const awaited = this.#publishers === undefined ? informers : [...informers, this.#publishers];
    return (await Promise.all(awaited.map((informer) => informer.synced(signal)))).every(Boolean);
  }

  /** The newest known version of an object, by `name` or `namespace/name`. */
  get<K extends IndexedKind>(kind: K, key: string): Projected<ObjectOf[K]> | undefined {
    const { informer, written } = this.#table(kind);
    const cached = informer.get(key);
    const own = written.get(key);
    // Safe: a kind's table holds objects of that kind.
    return (own !== undefined && isNewer(own, cached) ? own : cached) as Projected<ObjectOf[K]> | undefined;
  }

  /** All objects of a kind as the informer has them, in no order. Iterate without awaiting. */
  values<K extends IndexedKind>(kind: K): Iterable<Projected<ObjectOf[K]>> {
    return this.#table(kind).informer.values() as Iterable<Projected<ObjectOf[K]>>;
  }

  recordWrite<K extends IndexedKind>(kind: K, object: ObjectOf[K]): void {
    const { informer, written } = this.#table(kind);
    const key = keyOf(object);
    const own = project<KubeObject>(object, undefined);
    // If the informer's cache lacks the object, it may have been deleted, and no further event would remove it from the index.
    if (!isNewer(own, informer.get(key))) return;
    written.set(key, own);
    this.#notify(this.index.upsert(kind, object));
  }

  #follow(kind: IndexedKind, { informer, written }: Table): () => void {
    const upsert = (object: Projected<KubeObject>) => {
      const key = keyOf(object);
      if (!isNewer(written.get(key), object)) written.delete(key);
      this.#notify(this.index.upsert(kind, object));
    };
    return informer.addHandler({
      added: upsert,
      updated: upsert,
      deleted: (object) => {
        written.delete(keyOf(object));
        this.#notify(this.index.remove(kind, keyOf(object)));
      },
    });
  }

  #followPublishers(informer: Informer<Lease>): () => void {
    const set = (key: string, lease: Lease | undefined) => {
      const change = setPublisherLease(this.index, key, lease);
      if (change !== undefined) this.#options.onChange?.(change);
    };
    return informer.addHandler({
      added: (lease) => set(keyOf(lease), lease),
      updated: (lease) => set(keyOf(lease), lease),
      deleted: (lease) => set(keyOf(lease), undefined),
    });
  }

  #notify({ change, warnings }: IndexUpdate): void {
    for (const warning of warnings) this.#options.onWarning?.(warning);
    if (change !== undefined) this.#options.onChange?.(change);
  }

  #table(kind: IndexedKind): Table {
    const table = this.#tables.get(kind);
    if (table === undefined) throw new RangeError(`the feed does not include ${kind}; add it to "kinds"`);
    return table;
  }
}

interface Table {
  readonly informer: Informer<KubeObject>;
  /** Objects that the owner wrote and that are newer than the informer's. */
  readonly written: Map<string, Projected<KubeObject>>;
}

/** Whether `own` is the same object (by uid) as `cached`, at a later version. */
function isNewer(own: KubeObject | undefined, cached: KubeObject | undefined): boolean {
  if (own === undefined || cached === undefined || own.metadata?.uid !== cached.metadata?.uid) return false;
  return isOlderVersion(cached.metadata?.resourceVersion ?? '', own.metadata?.resourceVersion ?? '');
}
