import type { IndexedKind, ObjectWarning } from '../engine/cluster-index/cluster-change.ts';
import { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { Profile } from '../engine/cluster-index/profile.ts';
import { setPublisherLease } from '../engine/cluster-index/publisher-lease.ts';
import type { ObjectOf } from '../engine/cluster-index/read-object.ts';
import type { Lease } from '../kube/api/coordination.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { textOf } from '../kube/wire.ts';
import { runToEnd } from '../runtime/run-in-slices.ts';
import { everyKind, kindResources } from './kind-resources.ts';

export interface IndexedSnapshot {
  readonly index: ClusterIndex;
  readonly warnings: readonly ObjectWarning[];
}

/** The objects of a cluster at one moment, by kind and key. */
export class ClusterSnapshot {
  readonly #byKind = new Map<IndexedKind, Map<string, KubeObject>>();
  /** False if Nodes could not be read: then one that is not here may exist. */
  knowsNodes = true;
  /** Leases by `namespace/name`. */
  readonly #leases = new Map<string, Lease>();

  /** A later object with the same key replaces the earlier one. An object without a name is ignored. */
  add<K extends IndexedKind>(kind: K, object: ObjectOf[K]): void {
    const key = keyOf(kind, object);
    if (key === undefined) return;
    const known = this.#byKind.get(kind);
    if (known === undefined) this.#byKind.set(kind, new Map([[key, object]]));
    else known.set(key, object);
  }

  /** A Lease that a publisher of capacity may renew: an index does not use the capacity of one that no longer does. */
  addLease(lease: Lease): void {
    const { namespace, name } = lease.metadata ?? {};
    this.#leases.set(`${textOf(namespace)}/${textOf(name)}`, lease);
  }

  removeLease(key: string): void {
    this.#leases.delete(key);
  }

  /** Returns the Lease with the key `namespace/name`. */
  lease(key: string): Lease | undefined {
    return this.#leases.get(key);
  }

  /** `key` is `name` or `namespace/name`. */
  remove(kind: IndexedKind, key: string): void {
    this.#byKind.get(kind)?.delete(key);
  }

  /** `key` is `name` or `namespace/name`. */
  get<K extends IndexedKind>(kind: K, key: string): ObjectOf[K] | undefined {
    // Safe: a kind's map holds objects of that kind.
    return this.#byKind.get(kind)?.get(key) as ObjectOf[K] | undefined;
  }

  values<K extends IndexedKind>(kind: K): Iterable<ObjectOf[K]> {
    return (this.#byKind.get(kind)?.values() ?? []) as Iterable<ObjectOf[K]>;
  }

  count(kind: IndexedKind): number {
    return this.#byKind.get(kind)?.size ?? 0;
  }

  /** The same objects at this moment: what is added or removed later concerns one of the two only. Objects are never changed in place, so they are shared. */
  copy(): ClusterSnapshot {
    const copy = new ClusterSnapshot();
    copy.knowsNodes = this.knowsNodes;
    for (const [kind, objects] of this.#byKind) copy.#byKind.set(kind, new Map(objects));
    for (const [key, lease] of this.#leases) copy.#leases.set(key, lease);
    return copy;
  }

  /** A new index of the objects, and the problems found in them. */
  toIndex(profile: Profile): IndexedSnapshot {
    return runToEnd(this.toIndexInSteps(profile));
  }

  /** As `toIndex`, one object after the other. The snapshot must not change before the last step. */
  *toIndexInSteps(profile: Profile): Generator<void, IndexedSnapshot, void> {
    const index = new ClusterIndex(profile);
    index.pools.knowsNodes = this.knowsNodes;
    const warnings: ObjectWarning[] = [];
    for (const kind of everyKind) {
      for (const object of this.values(kind)) {
        warnings.push(...index.upsert(kind, object as never).warnings);
        yield;
      }
    }
    for (const [key, lease] of this.#leases) setPublisherLease(index, key, lease);
    return { index, warnings };
  }
}

function keyOf(kind: IndexedKind, { metadata }: KubeObject): string | undefined {
  const name = textOf(metadata?.name);
  if (name === '') return undefined;
  return kindResources[kind].namespaced ? `${textOf(metadata?.namespace)}/${name}` : name;
}
