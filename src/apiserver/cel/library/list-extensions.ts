import { CostLimitExceeded } from '../evaluation/frame.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { containsItem, PlainList } from '../values/collections.ts';
import { equals } from '../values/equality.ts';
import { compare, isOrdered } from '../values/ordering.ts';
import { CelError, isList, itemsOf, type ListValue, typeNameOf, type Value } from '../values/values.ts';

/** cel-go's functions for lists, and for lists as sets. */
export const listExtensionLibrary: FunctionLibrary = {
  signatures: `
    .@sortByAssociatedKeys list_int_sortByAssociatedKeys (list(T), list(int)) -> list(T)
    .@sortByAssociatedKeys list_uint_sortByAssociatedKeys (list(T), list(uint)) -> list(T)
    .@sortByAssociatedKeys list_double_sortByAssociatedKeys (list(T), list(double)) -> list(T)
    .@sortByAssociatedKeys list_bool_sortByAssociatedKeys (list(T), list(bool)) -> list(T)
    .@sortByAssociatedKeys list_google.protobuf.Duration_sortByAssociatedKeys (list(T), list(duration)) -> list(T)
    .@sortByAssociatedKeys list_google.protobuf.Timestamp_sortByAssociatedKeys (list(T), list(timestamp)) -> list(T)
    .@sortByAssociatedKeys list_string_sortByAssociatedKeys (list(T), list(string)) -> list(T)
    .@sortByAssociatedKeys list_bytes_sortByAssociatedKeys (list(T), list(bytes)) -> list(T)
    .distinct list_distinct (list(T)) -> list(T)
    .flatten list_flatten (list(list(T))) -> list(T)
    .flatten list_flatten_int (list(dyn), int) -> list(dyn)
    lists.range lists_range (int) -> list(int)
    .reverse list_reverse (list(T)) -> list(T)
    .slice list_slice (list(T), int, int) -> list(T)
    .sort list_int_sort (list(int)) -> list(int)
    .sort list_uint_sort (list(uint)) -> list(uint)
    .sort list_double_sort (list(double)) -> list(double)
    .sort list_bool_sort (list(bool)) -> list(bool)
    .sort list_google.protobuf.Duration_sort (list(duration)) -> list(duration)
    .sort list_google.protobuf.Timestamp_sort (list(timestamp)) -> list(timestamp)
    .sort list_string_sort (list(string)) -> list(string)
    .sort list_bytes_sort (list(bytes)) -> list(bytes)
    sets.contains list_sets_contains_list (list(T), list(T)) -> bool
    sets.equivalent list_sets_equivalent_list (list(T), list(T)) -> bool
    sets.intersects list_sets_intersects_list (list(T), list(T)) -> bool
  `,
  implementations: {
    list_slice: (list, start, end) => slice(list as ListValue, start as bigint, end as bigint),
    list_flatten: (list) => flattened(list as ListValue, 1n),
    list_flatten_int: (list, depth) => flattened(list as ListValue, depth as bigint),
    sort: (list) => sortByKeys(list as ListValue, list as ListValue),
    '@sortByAssociatedKeys': (list, keys) => sortByKeys(list as ListValue, keys as ListValue),
    lists_range: (count) => range(count as bigint),
    list_reverse: (list) => new PlainList([...itemsOf(list as ListValue)].reverse()),
    list_distinct: (list) => distinct(list as ListValue),
    list_sets_contains_list: (list, part) => containsAll(list as ListValue, part as ListValue),
    list_sets_equivalent_list: (a, b) => {
      const contained = containsAll(a as ListValue, b as ListValue);
      return contained === true ? containsAll(b as ListValue, a as ListValue) : contained;
    },
    list_sets_intersects_list: (a, b) =>
      itemsOf(a as ListValue).some((item) => containsItem(b as ListValue, item) === true),
  },
};

function slice(list: ListValue, start: bigint, end: bigint): Value {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) return new CelError(`${call}, negative indexes not supported`);
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`);
  if (BigInt(list.size) < end) return new CelError(`${call}, list is length ${list.size}`);
  return new PlainList(itemsOf(list).slice(Number(start), Number(end)));
}

function flattened(list: ListValue, depth: bigint): Value {
  if (depth < 0n) return new CelError('level must be non-negative');
  const items: Value[] = [];
  flattenInto(items, list, depth);
  return new PlainList(items);
}

function flattenInto(items: Value[], list: ListValue, depth: bigint): void {
  for (const item of itemsOf(list)) {
    if (isList(item) && depth > 0n) flattenInto(items, item, depth - 1n);
    else items.push(item);
  }
}

/** A larger range would exceed any cost limit, so it need not be created first. */
const rangeMax = 10_000_000n;

function range(count: bigint): Value {
  if (count > rangeMax) throw new CostLimitExceeded();
  return new PlainList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
}

function distinct(list: ListValue): Value {
  const unique: Value[] = [];
  for (const item of itemsOf(list)) {
    if (!unique.some((other) => equals(item, other) === true)) unique.push(item);
  }
  return new PlainList(unique);
}

function sortByKeys(list: ListValue, keys: ListValue): Value {
  if (list.size !== keys.size) {
    const sizes = `but got ${list.size} and ${keys.size} elements respectively`;
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, ${sizes}`,
    );
  }
  if (list.size === 0) return list;
  const keyItems = itemsOf(keys);
  const first = keyItems[0] as Value;
  if (!isOrdered(first)) return new CelError('list elements must be comparable');
  if (keyItems.some((key) => typeNameOf(key) !== typeNameOf(first))) {
    return new CelError('list elements must have the same type');
  }
  const indexes = keyItems.map((_, index) => index);
  indexes.sort((a, b) => Number(compare(keyItems[a] as Value, keyItems[b] as Value)));
  return new PlainList(indexes.map((index) => list.at(index)));
}

function containsAll(list: ListValue, part: ListValue): Value {
  for (const item of itemsOf(part)) {
    const contained = containsItem(list, item);
    if (contained !== true) return contained;
  }
  return true;
}
