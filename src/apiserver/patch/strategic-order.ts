import { formatGoValue, reflectedTypeName } from '../../kube/go/format-value.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, ownValue } from '../../kube/go/json-value.ts';
import { failedPatch, malformedPatch } from './patch-error.ts';

export const orderPrefix = '$setElementOrder';

/** Go's stable sort works in blocks of this size. */
const sortBlock = 20;

/** Parses `$setElementOrder/containers: [...]`. */
export function readOrder(directive: string, value: Json): { name: string; wanted: readonly Json[] } {
  if (!isJsonArray(value)) throw unexpectedType('[]interface {}', value);
  const [prefix, ...rest] = directive.split('/');
  if (prefix !== orderPrefix || rest.length === 0) {
    throw malformedPatch('invalid patch format of setElementOrder list');
  }
  return { name: rest.join('/'), wanted: value };
}

/** Throws unless the elements of the patch are among the ordered ones, in the same order. Deletions do not count. */
export function checkOrder(change: readonly Json[], wanted: readonly Json[], mergeKey: string): void {
  if (wanted.length === 0 || change.length === 0) return;
  const kept = mergeKey === '' ? change : change.filter((item) => !isDeletion(item));
  let at = 0;
  for (let i = 0; at < kept.length && i < wanted.length; ) {
    if (isJsonObject(kept[at]) && Object.hasOwn(kept[at] as JsonObject, '$patch')) at++;
    else if (isSameElement(kept[at]!, wanted[i++]!, mergeKey)) at++;
  }
  if (at === kept.length) return;
  throw failedPatch(
    `The order in patch list:\n${formatGoValue(change)}\n doesn't match ${orderPrefix} list:\n${formatGoValue(wanted)}\n`,
  );
}

function isDeletion(item: Json): boolean {
  if (!isJsonObject(item)) throw unexpectedType('map[string]interface {}', item);
  return ownValue(item, '$patch') === 'delete';
}

function isSameElement(a: Json, b: Json, mergeKey: string): boolean {
  return mergeKey === '' ? a === b : mergeKeyOf(a, mergeKey) === mergeKeyOf(b, mergeKey);
}

/** The value that identifies an element. An element without it cannot be merged. */
export function mergeKeyOf(item: Json, mergeKey: string): Json {
  if (!isJsonObject(item)) throw unexpectedType('map[string]interface {}', item);
  const value = ownValue(item, mergeKey);
  if (value !== undefined) return value;
  throw failedPatch(`map: ${formatGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}

export interface ListOrdering {
  readonly items: readonly Json[];
  /** The order of the elements in this list; they precede the others where `currentOrder` does not decide. */
  readonly wantedOrder: readonly Json[];
  readonly currentOrder: readonly Json[];
  /** Empty for scalars, which are their own key. */
  readonly mergeKey: string;
}

/**
 * Sorts a merged list: elements that the patch mentions keep the order of the patch, the others their current order,
 * and the two are interleaved by their current positions.
 */
export function sortMergedList({
  items,
  wantedOrder,
  currentOrder,
  mergeKey,
}: ListOrdering): readonly Json[] {
  const keyOf = (item: Json): Json => (mergeKey === '' ? item : mergeKeyOf(item, mergeKey));
  if (mergeKey !== '' && items.length > 0) requireMaps(wantedOrder);
  const wanted = positionsOf(wantedOrder, (item) => (mergeKey === '' ? item : optionalKeyOf(item, mergeKey)));
  const isWanted = items.map((item) => wanted.has(keyOf(item)));
  if (mergeKey !== '') for (const item of [...wantedOrder, ...currentOrder]) mergeKeyOf(item, mergeKey);
  const current = positionsOf(currentOrder, keyOf);
  const ours = sortedBy(
    items.filter((_, i) => isWanted[i]),
    (item) => wanted.get(keyOf(item)),
  );
  const theirs = sortedBy(
    items.filter((_, i) => !isWanted[i]),
    (item) => current.get(keyOf(item)),
  );
  return interleave(theirs, ours, (item) => current.get(keyOf(item)));
}

function requireMaps(list: readonly Json[]): void {
  const at = list.findIndex((item) => !isJsonObject(item));
  if (at >= 0) throw failedPatch(`value for key ${at} is not a map`);
}

function optionalKeyOf(item: Json, mergeKey: string): Json | undefined {
  return isJsonObject(item) ? ownValue(item, mergeKey) : undefined;
}

type PositionOf = (item: Json) => number | undefined;

/** The first position of each key. */
function positionsOf(
  list: readonly Json[],
  keyOf: (item: Json) => Json | undefined,
): Map<Json | undefined, number> {
  const positions = new Map<Json | undefined, number>();
  list.forEach((item, i) => {
    const key = keyOf(item);
    if (!positions.has(key)) positions.set(key, i);
  });
  return positions;
}

/**
 * A plain stable sort if all elements have a position. Otherwise Kubernetes' comparison, which returns "less" for such
 * pairs in both directions, so the result depends on the blocks of Go's sort.
 */
function sortedBy(items: readonly Json[], positionOf: PositionOf): readonly Json[] {
  const placed = items.map((item) => ({ item, position: positionOf(item) }));
  if (placed.every(({ position }) => position !== undefined)) {
    return placed.sort((a, b) => a.position! - b.position!).map(({ item }) => item);
  }
  for (let start = 0; start < placed.length; start += sortBlock) {
    const end = Math.min(start + sortBlock, placed.length);
    for (let i = start + 1; i < end; i++) {
      for (let j = i; j > start && isLess(placed[j]!.position, placed[j - 1]!.position); j--) {
        [placed[j], placed[j - 1]] = [placed[j - 1]!, placed[j]!];
      }
    }
  }
  return placed.map(({ item }) => item);
}

function isLess(a: number | undefined, b: number | undefined): boolean {
  return a === undefined || b === undefined || a < b;
}

/** Puts each element of `theirs` before the first of `ours` whose current position is later. */
function interleave(theirs: readonly Json[], ours: readonly Json[], positionOf: PositionOf): readonly Json[] {
  const merged: Json[] = [];
  let i = 0;
  for (const item of ours) {
    const position = positionOf(item);
    while (i < theirs.length) {
      const theirPosition = positionOf(theirs[i]!);
      if (position === undefined || theirPosition === undefined || theirPosition >= position) break;
      merged.push(theirs[i++]!);
    }
    merged.push(item);
  }
  return [...merged, ...theirs.slice(i)];
}

function unexpectedType(expected: string, value: Json): Error {
  return failedPatch(`expected a ${expected}, but received a ${reflectedTypeName(value)}`);
}
