import type { FunctionLibrary } from '../types/declarations.ts';
import { PlainList, PlainMap } from '../values/collections.ts';
import {
  CelDuration,
  CelError,
  CelTimestamp,
  isList,
  isMap,
  itemsOf,
  type ListValue,
  type MapValue,
  Optional,
  Uint,
  type Value,
} from '../values/values.ts';

/** Optional values, and the functions by which macros build maps. */
export const optionalLibrary: FunctionLibrary = {
  signatures: `
    _?._ select_optional_field (dyn, string) -> optional_type(V)
    _[?_] list_optindex_optional_int (list(V), int) -> optional_type(V)
    _[?_] optional_list_optindex_optional_int (optional_type(list(V)), int) -> optional_type(V)
    _[?_] map_optindex_optional_value (map(K, V), K) -> optional_type(V)
    _[?_] optional_map_optindex_optional_value (optional_type(map(K, V)), K) -> optional_type(V)
    _[_] optional_list_index_int (optional_type(list(V)), int) -> optional_type(V)
    _[_] optional_map_index_value (optional_type(map(K, V)), K) -> optional_type(V)
    cel.@mapInsert @mapInsert_map_key_value (map(K, V), K, V) -> map(K, V)
    cel.@mapInsert @mapInsert_map_map (map(K, V), map(K, V)) -> map(K, V)
    .first list_first (list(V)) -> optional_type(V)
    .hasValue optional_hasValue (optional_type(V)) -> bool
    .last list_last (list(V)) -> optional_type(V)
    optional.none optional_none () -> optional_type(V)
    optional.of optional_of (V) -> optional_type(V)
    optional.ofNonZeroValue optional_ofNonZeroValue (V) -> optional_type(V)
    optional.unwrap optional_unwrap (list(optional_type(V))) -> list(V)
    .or optional_or_optional (optional_type(V), optional_type(V)) -> optional_type(V)
    .orValue optional_orValue_value (optional_type(V), V) -> V
    .unwrapOpt optional_unwrapOpt (list(optional_type(V))) -> list(V)
    .value optional_value (optional_type(V)) -> V
  `,
  implementations: {
    optional_none: () => Optional.none,
    optional_of: (value) => new Optional(value),
    optional_ofNonZeroValue: (value) => (isZero(value) ? Optional.none : new Optional(value)),
    optional_value: (value) => (value as Optional).value ?? dereference(value as Optional),
    optional_hasValue: (value) => (value as Optional).value !== undefined,
    optional_unwrap: unwrap,
    optional_unwrapOpt: unwrap,
    list_first: (list) => elementAt(list as ListValue, 0),
    list_last: (list) => elementAt(list as ListValue, (list as ListValue).size - 1),
    '@mapInsert_map_key_value': (map, key, value) => insert(map as MapValue, key, value),
    '@mapInsert_map_map': (map, added) => insertAll(map as MapValue, added as MapValue),
  },
};

function dereference({ value }: Optional): Value {
  return value === undefined ? new CelError('optional.none() dereference') : value;
}

function elementAt(list: ListValue, index: number): Value {
  return list.size === 0 ? Optional.none : new Optional(list.at(index));
}

function unwrap(list: Value): Value {
  const present: Value[] = [];
  for (const item of itemsOf(list as ListValue)) {
    if (!(item instanceof Optional)) return new CelError(`value ${String(item)} is not optional`);
    if (item.value !== undefined) present.push(item.value);
  }
  return new PlainList(present);
}

/** Lists and maps of objects are never zero values, only those that an expression creates. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelTimestamp) return value.epochNanos === -62_135_596_800_000_000_000n;
  if (value instanceof Uint8Array) return value.length === 0;
  if (isList(value) || isMap(value)) return value.size === 0 && !('isFromObject' in value);
  return false;
}

function insert(map: MapValue, key: Value, value: Value): Value {
  const plain = map instanceof PlainMap ? map : PlainMap.of(map.keys().map((k) => [k, map.find(k) as Value]));
  return plain.insert(key, value);
}

function insertAll(map: MapValue, added: MapValue): Value {
  let result: Value = map;
  for (const key of added.keys()) {
    result = insert(result as MapValue, key, added.find(key) as Value);
    if (result instanceof CelError) return result;
  }
  return result;
}
