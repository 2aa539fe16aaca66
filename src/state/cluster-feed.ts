import type { Projected } from '../cluster/cluster.ts';
import type { ClusterChange, IndexedKind, ObjectWarning } from '../engine/cluster-index/cluster-change.ts';
import { ClusterIndex, type IndexUpdate } from '../engine/cluster-index/cluster-index.ts';
import type { Profile } from '../engine/cluster-index/profile.ts';
import type { ObjectOf } from '../engine/cluster-index/read-object.ts';
import { isOlderVersion } from '../engine/cluster-index/resource-versions.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { keyOf } from '../kube/object-key.ts';
import type { Resource } from '../kube/resource.ts';
import type { Informer } from '../reconcile/informer/informer.ts';
import { project } from '../reconcile/informer/projection.ts';
import { kindResources } from './kind-resources.ts';

/** Whoever keeps one informer for each resource. */
export interface InformerSource {
  of<T extends KubeObject>(resource: Resource<T>): Informer<T>;
}

export interface ClusterFeedOptions {
  readonly informers: InformerSource;
  /** What its owner decides by; the other tables of the index stay empty. */
  readonly kinds: readonly IndexedKind[];
  readonly profile?: Profile;
  /** Told of every change, once, after the index has it; also of those that the owner made. Must neither throw nor wait. */
  readonly onChange?: (change: ClusterChange) => void;
  /** Told what the index could not read. */
  readonly onWarning?: (notice: ObjectWarning) => void;
}

/**
 * Keeps a `ClusterIndex` true to informers.
 *
 * 1. `start`, then wait for `synced` before deciding anything by what is not there.
 * 2. After a write, hand its answer to `noteWrite`: the index and `get` have it at once, and an informer that is behind doesn't
 *    take it back. So the owner never trips over its own writes, and never promises the same thing twice.
 */
export class ClusterFeed {
  readonly index: ClusterIndex;
  readonly #options: ClusterFeedOptions;
  readonly #tables = new Map<IndexedKind, Table>();

  constructor(options: ClusterFeedOptions) {
    this.#options = options;
    this.index = new ClusterIndex(options.profile);
    for (const kind of options.kinds) {
      const informer = options.informers.of<KubeObject>(kindResources[kind]);
      this.#tables.set(kind, { informer, written: new Map() });
    }
  }

  /** The returned function ends it. */
  start(): () => void {
    const stops = [...this.#tables].map(([kind, table]) => this.#follow(kind, table));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Whether everything that was there at the start is in the index; false when `signal` aborted before. */
  async synced(signal: AbortSignal): Promise<boolean> {
    const answers = [...this.#tables.values()].map(({ informer }) => informer.synced(signal));
    return (await Promise.all(answers)).every(Boolean);
  }

  /** The newest version that is known, by `name` or `namespace/name`. */
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
    // What the cache doesn't have may have been deleted meanwhile; nobody would tell us again.
    if (!isNewer(own, informer.get(key))) return;
    written.set(key, own);
    this.#tell(this.index.upsert(kind, object));
  }

  #follow(kind: IndexedKind, { informer, written }: Table): () => void {
    const upsert = (object: Projected<KubeObject>) => {
      const key = keyOf(object);
      if (!isNewer(written.get(key), object)) written.delete(key);
      this.#tell(this.index.upsert(kind, object));
    };
    return informer.addHandler({
      added: upsert,
      updated: upsert,
      deleted: (object) => {
        written.delete(keyOf(object));
        this.#tell(this.index.remove(kind, keyOf(object)));
      },
    });
  }

  #tell({ change, warnings: notices }: IndexUpdate): void {
    for (const notice of notices) this.#options.onWarning?.(notice);
    if (change !== undefined) this.#options.onChange?.(change);
  }

  #table(kind: IndexedKind): Table {
    const table = this.#tables.get(kind);
    if (table === undefined) throw new RangeError(`the feed was not asked for ${kind}`);
    return table;
  }
}

interface Table {
  readonly informer: Informer<KubeObject>;
  /** Written by the owner, and newer than what the informer has. */
  readonly written: Map<string, Projected<KubeObject>>;
}

/** The same object at a later version than the one in the cache. */
function isNewer(own: KubeObject | undefined, cached: KubeObject | undefined): boolean {
  if (own === undefined || cached === undefined || own.metadata?.uid !== cached.metadata?.uid) return false;
  return isOlderVersion(cached.metadata?.resourceVersion ?? '', own.metadata?.resourceVersion ?? '');
}
