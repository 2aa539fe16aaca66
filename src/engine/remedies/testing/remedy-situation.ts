/** A cluster and the refused pod, and helpers to change them. */
import type { Pod } from '../../../kube/api/core.ts';
import type { IndexedKind } from '../../cluster-index/cluster-change.ts';
import { indexKeyOf, type ObjectOf } from '../../cluster-index/read-object.ts';
import type { ClusterObjects } from '../../testing/cluster.ts';

export interface RemedySituation {
  readonly objects: ClusterObjects;
  readonly pod: Pod;
}

/** The matched groups of a step's text, then the name of an object that the step creates. */
export type MatchedGroups = readonly (string | undefined)[];

export function objectName(kind: IndexedKind, object: ObjectOf[IndexedKind]): string {
  return (indexKeyOf(kind, object) ?? '').replace(/^CSIStorageCapacity /, '');
}

export function listed<K extends IndexedKind>({ objects }: RemedySituation, kind: K): readonly ObjectOf[K][] {
  return (objects[kind] ?? []) as readonly ObjectOf[K][];
}

export function withList<K extends IndexedKind>(
  before: RemedySituation,
  kind: K,
  list: readonly ObjectOf[K][],
): RemedySituation {
  return { ...before, objects: { ...before.objects, [kind]: list } };
}

export function changeObject<K extends IndexedKind>(
  before: RemedySituation,
  kind: K,
  name: string,
  change: (object: ObjectOf[K]) => ObjectOf[K],
): RemedySituation {
  const list = listed(before, kind);
  if (!list.some((object) => objectName(kind, object) === name))
    throw new Error(`there is no ${kind} ${name}`);
  return withList(
    before,
    kind,
    list.map((object) => (objectName(kind, object) === name ? change(object) : object)),
  );
}

export function changePodSpec(
  before: RemedySituation,
  change: (spec: NonNullable<Pod['spec']>) => Pod['spec'],
): RemedySituation {
  return { ...before, pod: { ...before.pod, spec: change(before.pod.spec ?? {}) ?? {} } };
}

export function pairsIn(text: string): Record<string, string> {
  return Object.fromEntries(itemsIn(text).map((pair) => pair.split('=') as [string, string]));
}

export function itemsIn(text: string): string[] {
  return text === '' ? [] : text.split(', ');
}
