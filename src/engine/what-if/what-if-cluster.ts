import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isFinished } from '../../kube/pods.ts';
import type { ClusterChange, IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { indexKeyOf, type ObjectOf } from '../cluster-index/read-object.ts';
import { isActive } from '../workloads/pod-state.ts';
import type { WhatIfObjects } from './change.ts';
import { type OwnedPodCounts, OwnedPods } from './owned-pods.ts';

/**
 * A cluster while it is changed for a question: the index under a savepoint that the caller has set, and the objects beside it. It reports every change
 * of the index, as a scheduler would observe it.
 */
export class WhatIfCluster implements WhatIfObjects {
  readonly index: ClusterIndex;
  /** The time at which what happens now is recorded. */
  nowMs: number;
  /** Remarks for users about what was assumed. */
  readonly notes = new Set<string>();
  readonly #objects: WhatIfObjects;
  readonly #changed = new Map<IndexedKind, Map<string, KubeObject | undefined>>();
  readonly #onChange: (change: ClusterChange) => void;
  #owned: OwnedPods | undefined;

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
    if (change?.kind === 'Pod' && change.after !== undefined) this.#owned?.set(change.after);
    if (change !== undefined) this.#onChange(change);
  }

  remove(kind: IndexedKind, key: string): void {
    if (this.get(kind, key) === undefined) return;
    this.#set(kind, key, undefined);
    const { change } = this.index.remove(kind, key);
    if (kind === 'Pod') this.#owned?.delete(key);
    if (change !== undefined) this.#onChange(change);
  }

  /** The pods that a controller of this kind and name manages, without those that have ended or are being deleted. */
  podsOf(owner: string, namespace: string): readonly Pod[] {
    return this.podsWith(owner, namespace).filter(isActive);
  }

  /** The pods that a controller of this kind and name manages, with those that are being deleted and without those that have ended. */
  podsWith(owner: string, namespace: string): readonly Pod[] {
    return [...this.#podsOf(owner, namespace)];
  }

  /** The first of the pods that `podsOf` returns. */
  firstPodOf(owner: string, namespace: string): Pod | undefined {
    for (const pod of this.#podsOf(owner, namespace)) if (isActive(pod)) return pod;
    return undefined;
  }

  /** How many pods a controller of this kind and name has, without a walk over them. */
  podCounts(owner: string, namespace: string): OwnedPodCounts {
    return this.#ownedPods().countsOf(owner, namespace);
  }

  *#podsOf(owner: string, namespace: string): Iterable<Pod> {
    for (const key of this.#ownedPods().keysOf(owner, namespace)) {
      const stored = this.get('Pod', key);
      if (stored !== undefined && !isFinished(stored)) yield stored;
    }
  }

  /** Counted on first use: many questions are not about pods of controllers. */
  #ownedPods(): OwnedPods {
    if (this.#owned !== undefined) return this.#owned;
    this.#owned = new OwnedPods();
    for (const pod of this.index.pods.records())
      if (this.get('Pod', pod.key) !== undefined) this.#owned.set(pod);
    return this.#owned;
  }

  #set(kind: IndexedKind, key: string, object: KubeObject | undefined): void {
    const known = this.#changed.get(kind);
    if (known === undefined) this.#changed.set(kind, new Map([[key, object]]));
    else known.set(key, object);
  }
}
