import { formatGoString, formatGoValue, goTypeName } from '../../kube/go/format-value.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, ownValue } from '../../kube/go/json-value.ts';
import type { FieldShape, ListShape, MergeShape } from './merge-shape.ts';
import { failedPatch, inapplicablePatch } from './patch-error.ts';
import { arrange, checkOrder, mergeKeyOf } from './strategic-order.ts';

export type MergeMaps = (original: JsonObject, patch: JsonObject, shape: MergeShape) => JsonObject;

export interface ListMerge {
  readonly current: readonly Json[];
  readonly change: readonly Json[];
  readonly field: FieldShape;
  readonly list: ListShape;
  /** The change lists what is to go. */
  readonly isDeletion: boolean;
  readonly mergeMaps: MergeMaps;
}

/** Merges the list of a patch into the list that is there. */
export function mergeLists(merge: ListMerge): readonly Json[] {
  const { current, change, field } = merge;
  if (current.length === 0 && change.length === 0) return current;
  if (elementKind([current, change]) === 'map') return mergeListsOfMaps(merge);
  if (merge.isDeletion) return without(current, new Set(change));
  const items = [...new Set([...current, ...change])];
  return arrange({ items, wantedOrder: change, currentOrder: current, mergeKey: field.mergeKey });
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
  return arrange({ items, wantedOrder: change, currentOrder: current, mergeKey });
}

/** Elements with `$patch` are orders: delete the element with this key, or replace the whole list. */
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
  const places = new Map<Json, number>();
  items.forEach((item, i) => {
    const key = ownValue(item as JsonObject, mergeKey);
    if (key !== undefined && !places.has(key)) places.set(key, i);
  });
  for (const item of change) {
    const key = mergeKeyOf(item, mergeKey);
    const place = places.get(key);
    if (place === undefined) {
      places.set(key, items.length);
      items.push(item);
    } else {
      items[place] = merge.mergeMaps(items[place] as JsonObject, item as JsonObject, merge.list.element);
    }
  }
  return items;
}

export interface OrderedMerge extends Omit<ListMerge, 'current' | 'change' | 'isDeletion'> {
  readonly current: readonly Json[] | undefined;
  readonly change: readonly Json[] | undefined;
  /** All elements that the author of the patch knows of, as `$setElementOrder` lists them. */
  readonly wanted: readonly Json[];
  readonly withoutDirectives: (value: Json) => Json | undefined;
}

/** Merges as `mergeLists` does, then orders by what the patch asks for. Undefined where there is no list to order. */
export function orderLike(merge: OrderedMerge): readonly Json[] | undefined {
  const { current, change, wanted, field } = merge;
  checkOrder(change ?? [], wanted, field.mergeKey);
  const items = mergedItems(merge);
  if (items === undefined) return undefined;
  const kind = elementKind([current ?? [], change ?? []]);
  if (kind === 'map' && field.mergeKey === '') {
    throw failedPatch('lists of objects without a merge key have no order that a patch could set');
  }
  const currentOrder = kind === 'map' && field.strategy === 'merge' ? reusedOrder(merge) : (current ?? []);
  return arrange({ items, wantedOrder: wanted, currentOrder, mergeKey: field.mergeKey });
}

/**
 * Upstream deletes and adds within one array, so that in its eyes added elements stood where deleted ones left room.
 * Clients get that order from real servers, hence from us.
 */
function reusedOrder({ current = [], change = [], field: { mergeKey } }: OrderedMerge): readonly Json[] {
  if (current.length === 0) return current;
  const { current: kept, change: plain } = followDirectives({ current, change }, mergeKey);
  const roomLeft = current.length - kept.length;
  if (roomLeft <= 0 || plain.length === 0) return current;
  const known = new Set(kept.map((item) => ownValue(item as JsonObject, mergeKey)));
  const added = plain.filter((item) => !known.has(mergeKeyOf(item, mergeKey)));
  return [...kept, ...added.slice(0, roomLeft)];
}

function mergedItems(merge: OrderedMerge): readonly Json[] | undefined {
  const { current, change, field } = merge;
  if (change === undefined) return current;
  if (current === undefined) return merge.withoutDirectives(change) as readonly Json[];
  return field.strategy === 'merge' ? mergeLists({ ...merge, current, change, isDeletion: false }) : change;
}

/** All elements must be of one type, and not lists. */
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
