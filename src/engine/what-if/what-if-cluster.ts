import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isActive } from '../../kube/workloads/pod-state.ts';
import type { ClusterChange, IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { indexKeyOf, type ObjectOf } from '../cluster-index/read-object.ts';
import type { WhatIfObjects } from './change.ts';

/**
 * A cluster while it is changed for a question: the index under a savepoint that the caller has set, and the objects beside it. It reports every change
 * of the index, as a scheduler would observe it.
 */
export class WhatIfCluster implements WhatIfObjects {
  readonly index: ClusterIndex;
  /** The time at which what happens now is recorded. */
  nowMs: number;
  /** Remarks for people about what was assumed. */
  readonly notes = new Set<string>();
  readonly #objects: WhatIfObjects;
  readonly #changed = new Map<IndexedKind, Map<string, KubeObject | undefined>>();
  readonly #onChange: (change: ClusterChange) => void;

  constructor(
    index: ClusterIndex,
    objects: WhatIfObjects,
    { nowMs, onChange }: { readonly nowMs: number; readonly onChange: (change: ClusterChange) => void },
  ) {
    this.index = index;
    this.nowMs = nowMs;
    this.#objects = objects;
    this.#onChange = onChange;
  }

  get<K extends IndexedKind>(kind: K, key: string): ObjectOf[K] | undefined {
    const changed = this.#changed.get(kind);
    // Safe: a kind's map holds objects of that kind.
    if (changed?.has(key)) return changed.get(key) as ObjectOf[K] | undefined;
    return this.#objects.get(kind, key);
  }

  *values<K extends IndexedKind>(kind: K): Iterable<ObjectOf[K]> {
    const changed = this.#changed.get(kind) ?? new Map<string, KubeObject | undefined>();
    for (const object of this.#objects.values(kind))
      if (!changed.has(indexKeyOf(kind, object) ?? '')) yield object;
    for (const object of changed.values()) if (object !== undefined) yield object as ObjectOf[K];
  }

  put<K extends IndexedKind>(kind: K, object: ObjectOf[K]): void {
    const { resourceVersion: _, ...metadata } = object.metadata ?? {};
    // Without a resourceVersion the index accepts the object, whichever version it has.
    const unversioned = { ...object, metadata };
    this.#set(kind, indexKeyOf(kind, unversioned) ?? '', unversioned);
    const { change } = this.index.upsert(kind, unversioned);
    if (change !== undefined) this.#onChange(change);
  }

  remove(kind: IndexedKind, key: string): void {
    if (this.get(kind, key) === undefined) return;
    this.#set(kind, key, undefined);
    const { change } = this.index.remove(kind, key);
    if (change !== undefined) this.#onChange(change);
  }

  /** The pods that a controller of this kind and name manages, without those that have ended or are being deleted. */
  podsOf(owner: string, namespace: string): readonly Pod[] {
    return this.podsWith(owner, namespace).filter(isActive);
  }

  /** The pods that a controller of this kind and name manages, with those that are being deleted and without those that have ended. */
  podsWith(owner: string, namespace: string): readonly Pod[] {
    const found: Pod[] = [];
    for (const pod of this.index.pods.records()) {
      if (pod.owner !== owner || pod.namespace !== namespace || pod.isFinished) continue;
      const stored = this.get('Pod', pod.key);
      if (stored !== undefined) found.push(stored);
    }
    return found;
  }

  #set(kind: IndexedKind, key: string, object: KubeObject | undefined): void {
    const known = this.#changed.get(kind);
    if (known === undefined) this.#changed.set(kind, new Map([[key, object]]));
    else known.set(key, object);
  }
}
