import { formatGoValue, reflectedTypeName } from '../../kube/go/format-value.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, ownValue } from '../../kube/go/json-value.ts';
import { failedPatch, malformedPatch } from './patch-error.ts';

export const orderPrefix = '$setElementOrder';

/** Go's stable sort works in blocks of this size. */
const sortBlock = 20;

/** Takes `$setElementOrder/containers: [...]` apart. */
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

/** What tells an element apart. Elements without it cannot be merged. */
export function mergeKeyOf(item: Json, mergeKey: string): Json {
  if (!isJsonObject(item)) throw unexpectedType('map[string]interface {}', item);
  const value = ownValue(item, mergeKey);
  if (value !== undefined) return value;
  throw failedPatch(`map: ${formatGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}

export interface Arrangement {
  readonly items: readonly Json[];
  /** Elements in here take its order, and go before the others where that is not decided by `currentOrder`. */
  readonly wantedOrder: readonly Json[];
  readonly currentOrder: readonly Json[];
  /** Empty for scalars, which are their ownValue key. */
  readonly mergeKey: string;
}

/**
 * Orders a merged list: what the patch speaks of keeps the patch's order, the rest its current order, and the two are
 * interleaved by where they were.
 */
export function arrange({ items, wantedOrder, currentOrder, mergeKey }: Arrangement): readonly Json[] {
  const keyOf = (item: Json): Json => (mergeKey === '' ? item : mergeKeyOf(item, mergeKey));
  if (mergeKey !== '' && items.length > 0) requireMaps(wantedOrder);
  const wanted = placesOf(wantedOrder, (item) => (mergeKey === '' ? item : looseKeyOf(item, mergeKey)));
  const isWanted = items.map((item) => wanted.has(keyOf(item)));
  if (mergeKey !== '') for (const item of [...wantedOrder, ...currentOrder]) mergeKeyOf(item, mergeKey);
  const current = placesOf(currentOrder, keyOf);
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

function looseKeyOf(item: Json, mergeKey: string): Json | undefined {
  return isJsonObject(item) ? ownValue(item, mergeKey) : undefined;
}

type Place = (item: Json) => number | undefined;

/** First places only. */
function placesOf(
  list: readonly Json[],
  keyOf: (item: Json) => Json | undefined,
): Map<Json | undefined, number> {
  const places = new Map<Json | undefined, number>();
  list.forEach((item, i) => {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, i);
  });
  return places;
}

/** Where all have a place, a plain stable sort. Else upstream's order, which then says "less" of any two, either way. */
function sortedBy(items: readonly Json[], placeOf: Place): readonly Json[] {
  const placed = items.map((item) => ({ item, place: placeOf(item) }));
  if (placed.every(({ place }) => place !== undefined)) {
    return placed.sort((a, b) => a.place! - b.place!).map(({ item }) => item);
  }
  for (let start = 0; start < placed.length; start += sortBlock) {
    const end = Math.min(start + sortBlock, placed.length);
    for (let i = start + 1; i < end; i++) {
      for (let j = i; j > start && isLess(placed[j]!.place, placed[j - 1]!.place); j--) {
        [placed[j], placed[j - 1]] = [placed[j - 1]!, placed[j]!];
      }
    }
  }
  return placed.map(({ item }) => item);
}

function isLess(a: number | undefined, b: number | undefined): boolean {
  return a === undefined || b === undefined || a < b;
}

/** Puts each of `theirs` before the first of `ours` that came later. */
function interleave(theirs: readonly Json[], ours: readonly Json[], placeOf: Place): readonly Json[] {
  const merged: Json[] = [];
  let i = 0;
  for (const item of ours) {
    const place = placeOf(item);
    while (i < theirs.length) {
      const theirPlace = placeOf(theirs[i]!);
      if (place === undefined || theirPlace === undefined || theirPlace >= place) break;
      merged.push(theirs[i++]!);
    }
    merged.push(item);
  }
  return [...merged, ...theirs.slice(i)];
}

function unexpectedType(expected: string, value: Json): Error {
  return failedPatch(`expected a ${expected}, but received a ${reflectedTypeName(value)}`);
}
