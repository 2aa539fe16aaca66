/** Random histories of a cluster as a watch might deliver them: in order, but with repetitions, stale events and gaps. */
import fc from 'fast-check';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { IndexedKind, IndexUpdate } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { ObjectOf } from '../../cluster-index/read-object.ts';
import type { ClusterObjects } from '../cluster.ts';
import { arbClaim } from './claims.ts';
import { claimNames, classNames, drivers, named, nodeNames, otherClaimNames, volumeNames } from './names.ts';
import { arbClass, arbCsiDriver, arbCsiNode, arbNode } from './nodes.ts';
import { arbAttachment, arbOtherPod } from './pods.ts';
import { arbCapacity, arbDriverCapacity } from './pools.ts';
import { arbVolume } from './volumes.ts';

/**
 * - `write`: the object is created or updated.
 * - `replace`: it was deleted and recreated, and the watch missed the deletion.
 * - `repeat`: a resync delivers the known version.
 * - `stale`: an older version than the known one.
 * - `delete`: the object is deleted.
 */
export type RandomEventType = 'write' | 'replace' | 'repeat' | 'stale' | 'delete';

export interface RandomEvent {
  readonly type: RandomEventType;
  readonly kind: IndexedKind;
  readonly object: KubeObject;
}

const types = fc.constantFrom<RandomEventType>(
  'write',
  'write',
  'write',
  'write',
  'replace',
  'repeat',
  'stale',
  'delete',
);

function events<T extends KubeObject>(
  kind: IndexedKind,
  names: readonly string[],
  arbitrary: (name: string) => fc.Arbitrary<T>,
): fc.Arbitrary<RandomEvent> {
  return fc.record({
    type: types,
    kind: fc.constant(kind),
    object: fc.oneof(...names.map((name) => arbitrary(name))),
  });
}

const anyEvent: fc.Arbitrary<RandomEvent> = fc.oneof(
  { weight: 4, arbitrary: events('Node', nodeNames.slice(0, 4), arbNode) },
  { weight: 6, arbitrary: events('PersistentVolume', volumeNames.slice(0, 6), (name) => arbVolume(name)) },
  {
    weight: 6,
    arbitrary: events('PersistentVolumeClaim', [...claimNames, ...otherClaimNames.slice(0, 2)], (name) =>
      arbClaim(name),
    ),
  },
  { weight: 1, arbitrary: events('StorageClass', classNames.slice(0, 3), arbClass) },
  { weight: 1, arbitrary: events('CSIDriver', drivers, (name) => arbCsiDriver(name)) },
  { weight: 2, arbitrary: events('CSINode', nodeNames.slice(0, 4), arbCsiNode) },
  { weight: 3, arbitrary: events('CSIStorageCapacity', named('cap', 3), (name) => arbCapacity(name)) },
  { weight: 2, arbitrary: events('DriverCapacity', drivers, (name) => arbDriverCapacity(name)) },
  {
    weight: 1,
    arbitrary: events('DriverCapacity', ['shard1', 'shard2'], (name) =>
      fc.constantFrom(...drivers).chain((driver) => arbDriverCapacity(name, undefined, driver)),
    ),
  },
  { weight: 1, arbitrary: events('VolumeAttachment', named('va', 2), arbAttachment) },
  { weight: 2, arbitrary: events('Pod', named('other', 2), arbOtherPod) },
);

export const arbEvent: fc.Arbitrary<RandomEvent> = anyEvent;

const namespacedKinds: readonly IndexedKind[] = ['PersistentVolumeClaim', 'CSIStorageCapacity', 'Pod'];

/** A model of the API server: it stores objects and assigns versions and uids. */
export class ModelServer {
  readonly #objects = new Map<string, { readonly kind: IndexedKind; readonly object: KubeObject }>();
  #version = 100;

  /** Stores the objects with versions of this server. */
  constructor(objects: ClusterObjects = {}) {
    for (const [kind, list] of Object.entries(objects))
      for (const object of list) this.#store(kind as IndexedKind, object, object.metadata!.uid!);
  }

  get entries(): { readonly kind: IndexedKind; readonly object: KubeObject }[] {
    return [...this.#objects.values()];
  }

  get objects(): ClusterObjects {
    const lists: Partial<Record<IndexedKind, KubeObject[]>> = {};
    for (const { kind, object } of this.#objects.values()) {
      lists[kind] ??= [];
      lists[kind].push(object);
    }
    return lists as ClusterObjects;
  }

  /** Applies the event, and updates the index as a watch would. Undefined if a watch would deliver no event. */
  apply({ type, kind, object }: RandomEvent, index: ClusterIndex): IndexUpdate | undefined {
    const key = keyOf(kind, object);
    const known = this.#objects.get(`${kind} ${key}`)?.object;
    switch (type) {
      case 'write':
        return upsertObject(
          index,
          kind,
          this.#store(kind, object, known?.metadata?.uid ?? object.metadata!.uid!),
        );
      case 'replace':
        return upsertObject(
          index,
          kind,
          this.#store(kind, object, `${object.metadata!.uid}-${this.#version}`),
        );
      case 'repeat':
        return known && upsertObject(index, kind, known);
      case 'stale':
        return known && upsertObject(index, kind, withVersion(object, known.metadata!.uid!, '99'));
      case 'delete':
        this.#objects.delete(`${kind} ${key}`);
        return index.remove(kind, key);
    }
  }

  #store(kind: IndexedKind, object: KubeObject, uid: string): KubeObject {
    this.#version += 1;
    const stored = withVersion(object, uid, String(this.#version));
    this.#objects.set(`${kind} ${keyOf(kind, object)}`, { kind, object: stored });
    return stored;
  }
}

export function upsertObject(index: ClusterIndex, kind: IndexedKind, object: KubeObject): IndexUpdate {
  return index.upsert(kind, object as ObjectOf[IndexedKind]);
}

function withVersion(object: KubeObject, uid: string, resourceVersion: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion } };
}

function keyOf(kind: IndexedKind, { metadata }: KubeObject): string {
  return namespacedKinds.includes(kind) ? `${metadata!.namespace}/${metadata!.name}` : metadata!.name!;
}
