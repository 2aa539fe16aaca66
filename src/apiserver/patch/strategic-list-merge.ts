import { formatGoString, formatGoValue, goTypeName } from '../../kube/go/format-value.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, ownValue } from '../../kube/go/json-value.ts';
import type { FieldShape, ListShape, MergeShape } from './merge-shape.ts';
import { failedPatch, inapplicablePatch } from './patch-error.ts';
import { checkOrder, mergeKeyOf, sortMergedList } from './strategic-order.ts';

export type MergeMaps = (original: JsonObject, patch: JsonObject, shape: MergeShape) => JsonObject;

export interface ListMerge {
  readonly current: readonly Json[];
  readonly change: readonly Json[];
  readonly field: FieldShape;
  readonly list: ListShape;
  /** Whether the change lists elements to delete. */
  readonly isDeletion: boolean;
  readonly mergeMaps: MergeMaps;
}

/** Merges the list of a patch into the current list. */
export function mergeLists(merge: ListMerge): readonly Json[] {
  const { current, change, field } = merge;
  if (current.length === 0 && change.length === 0) return current;
  if (elementKind([current, change]) === 'map') return mergeListsOfMaps(merge);
  if (merge.isDeletion) return without(current, new Set(change));
  const items = [...new Set([...current, ...change])];
  return sortMergedList({ items, wantedOrder: change, currentOrder: current, mergeKey: field.mergeKey });
}

function without(list: readonly Json[], unwanted: ReadonlySet<Json>): readonly Json[] {
  return list.filter((item) => !unwanted.has(item));
}

function mergeListsOfMaps(merge: ListMerge): readonly Json[] {
  const { mergeKey } = merge.field;
  if (mergeKey === '') {
    throw failedPatch(`cannot merge lists without merge key for ${goKind(merge.list.element)}`);
  }
  const { current, change } = followDirectives(merge, mergeKey);
  const items = mergeByKey(current, change, merge);
  return sortMergedList({ items, wantedOrder: change, currentOrder: current, mergeKey });
}

/** Elements with `$patch` are directives: delete the element with this key, or replace the whole list. */
function followDirectives(
  { current, change }: Pick<ListMerge, 'current' | 'change'>,
  mergeKey: string,
): Pick<ListMerge, 'current' | 'change'> {
  const plain: Json[] = [];
  const deleted = new Set<Json>();
  let isReplacement = false;
  for (const item of change as readonly JsonObject[]) {
    const what = ownValue(item, '$patch');
    if (what === undefined) plain.push(item);
    else if (what === 'delete') deleted.add(mergeKeyOf(item, mergeKey));
    else if (what === 'replace') isReplacement = true;
    else if (what === 'merge') throw failedPatch('merging lists cannot yet be specified in the patch');
    else throw failedPatch(`unknown patch type: ${formatGoString(what)} in map: ${formatGoValue(item)}`);
  }
  if (isReplacement) return { current: plain, change: [] };
  if (deleted.size === 0) return { current, change: plain };
  return {
    current: (current as readonly JsonObject[]).filter((item) => !deleted.has(ownValue(item, mergeKey)!)),
    change: plain,
  };
}

function mergeByKey(current: readonly Json[], change: readonly Json[], merge: ListMerge): readonly Json[] {
  const { mergeKey } = merge.field;
  const items = [...current];
  const positions = new Map<Json, number>();
  items.forEach((item, i) => {
    const key = ownValue(item as JsonObject, mergeKey);
    if (key !== undefined && !positions.has(key)) positions.set(key, i);
  });
  for (const item of change) {
    const key = mergeKeyOf(item, mergeKey);
    const position = positions.get(key);
    if (position === undefined) {
      positions.set(key, items.length);
      items.push(item);
    } else {
      items[position] = merge.mergeMaps(
        items[position] as JsonObject,
        item as JsonObject,
        merge.list.element,
      );
    }
  }
  return items;
}

export interface OrderedMerge extends Omit<ListMerge, 'current' | 'change' | 'isDeletion'> {
  readonly current: readonly Json[] | undefined;
  readonly change: readonly Json[] | undefined;
  /** All elements that the author of the patch knows, as `$setElementOrder` lists them. */
  readonly wanted: readonly Json[];
  readonly withoutDirectives: (value: Json) => Json | undefined;
}

/**
 * Merges like `mergeLists`, then sorts into the order that the patch requests. Undefined if there is no list to sort.
 */
export function mergeInOrder(merge: OrderedMerge): readonly Json[] | undefined {
  const { current, change, wanted, field } = merge;
  checkOrder(change ?? [], wanted, field.mergeKey);
  const items = mergedItems(merge);
  if (items === undefined) return undefined;
  const kind = elementKind([current ?? [], change ?? []]);
  if (kind === 'map' && field.mergeKey === '') {
    throw failedPatch('lists of objects without a merge key have no order that a patch could set');
  }
  const currentOrder = kind === 'map' && field.strategy === 'merge' ? reusedOrder(merge) : (current ?? []);
  return sortMergedList({ items, wantedOrder: wanted, currentOrder, mergeKey: field.mergeKey });
}

/**
 * Kubernetes deletes and adds within one array, so added elements can take the positions of deleted ones. Clients
 * observe that order from real servers, so this server reproduces it.
 */
function reusedOrder({ current = [], change = [], field: { mergeKey } }: OrderedMerge): readonly Json[] {
  if (current.length === 0) return current;
  const { current: kept, change: plain } = followDirectives({ current, change }, mergeKey);
  const freePositions = current.length - kept.length;
  if (freePositions <= 0 || plain.length === 0) return current;
  const known = new Set(kept.map((item) => ownValue(item as JsonObject, mergeKey)));
  const added = plain.filter((item) => !known.has(mergeKeyOf(item, mergeKey)));
  return [...kept, ...added.slice(0, freePositions)];
}

function mergedItems(merge: OrderedMerge): readonly Json[] | undefined {
  const { current, change, field } = merge;
  if (change === undefined) return current;
  if (current === undefined) return merge.withoutDirectives(change) as readonly Json[];
  return field.strategy === 'merge' ? mergeLists({ ...merge, current, change, isDeletion: false }) : change;
}

/** All elements must be of one type, and must not be lists. */
function elementKind(lists: readonly (readonly Json[])[]): 'map' | 'scalar' {
  const [first, ...rest] = lists.flat(1) as readonly Json[];
  if (first === undefined) throw failedPatch('no elements in any of the given slices');
  if (isJsonArray(first)) {
    throw inapplicablePatch();
  }
  const type = goTypeName(first);
  if (rest.some((item) => goTypeName(item) !== type)) {
    throw failedPatch(`list element types are not identical: ${formatGoValue(lists)}`);
  }
  return isJsonObject(first) ? 'map' : 'scalar';
}

function goKind(shape: MergeShape): string {
  if (shape.kind === 'struct' || shape.kind === 'map') return shape.kind;
  return shape.kind === 'list' ? 'slice' : 'string';
}
