import type { FunctionLibrary } from '../types/declarations.ts';
import { add } from '../values/arithmetic.ts';
import { equals } from '../values/equality.ts';
import { compare, isOrdered } from '../values/ordering.ts';
import {
  CelDuration,
  CelError,
  itemsOf,
  type ListValue,
  noSuchOverload,
  Uint,
  type Value,
} from '../values/values.ts';

/** Kubernetes' functions for lists. */
export const listLibrary: FunctionLibrary = {
  signatures: `
    .indexOf list_a_index_of_int (list(A), A) -> int
    .isSorted list_int_is_sorted_bool (list(int)) -> bool
    .isSorted list_uint_is_sorted_bool (list(uint)) -> bool
    .isSorted list_double_is_sorted_bool (list(double)) -> bool
    .isSorted list_bool_is_sorted_bool (list(bool)) -> bool
    .isSorted list_duration_is_sorted_bool (list(duration)) -> bool
    .isSorted list_timestamp_is_sorted_bool (list(timestamp)) -> bool
    .isSorted list_string_is_sorted_bool (list(string)) -> bool
    .isSorted list_bytes_is_sorted_bool (list(bytes)) -> bool
    .lastIndexOf list_a_last_index_of_int (list(A), A) -> int
    .max list_int_max_int (list(int)) -> int
    .max list_uint_max_uint (list(uint)) -> uint
    .max list_double_max_double (list(double)) -> double
    .max list_bool_max_bool (list(bool)) -> bool
    .max list_duration_max_duration (list(duration)) -> duration
    .max list_timestamp_max_timestamp (list(timestamp)) -> timestamp
    .max list_string_max_string (list(string)) -> string
    .max list_bytes_max_bytes (list(bytes)) -> bytes
    .min list_int_min_int (list(int)) -> int
    .min list_uint_min_uint (list(uint)) -> uint
    .min list_double_min_double (list(double)) -> double
    .min list_bool_min_bool (list(bool)) -> bool
    .min list_duration_min_duration (list(duration)) -> duration
    .min list_timestamp_min_timestamp (list(timestamp)) -> timestamp
    .min list_string_min_string (list(string)) -> string
    .min list_bytes_min_bytes (list(bytes)) -> bytes
    .sum list_int_sum_int (list(int)) -> int
    .sum list_uint_sum_uint (list(uint)) -> uint
    .sum list_double_sum_double (list(double)) -> double
    .sum list_duration_sum_duration (list(duration)) -> duration
  `,
  implementations: {
    isSorted,
    list_int_sum_int: sum(0n),
    list_uint_sum_uint: sum(new Uint(0n)),
    list_double_sum_double: sum(0),
    list_duration_sum_duration: sum(new CelDuration(0n)),
    max: extreme('max', -1n),
    min: extreme('min', 1n),
    list_a_index_of_int: (list, item) => BigInt(itemsOf(list as ListValue).findIndex(isEqualTo(item))),
    list_a_last_index_of_int: (list, item) =>
      BigInt(itemsOf(list as ListValue).findLastIndex(isEqualTo(item))),
  },
};

function isEqualTo(item: Value): (candidate: Value) => boolean {
  return (candidate) => equals(candidate, item) === true;
}

function isSorted(list: Value): Value {
  const items = itemsOf(list as ListValue);
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Value;
    if (!isOrdered(item)) return item instanceof CelError ? item : new CelError(noSuchOverload);
    if (index > 0 && compare(items[index - 1] as Value, item) === 1n) return false;
  }
  return true;
}

function sum(zero: Value): (list: Value) => Value {
  return (list) => {
    let total = zero;
    for (const item of itemsOf(list as ListValue)) {
      if (item instanceof CelError) return item;
      total = add(total, item);
      if (total instanceof CelError) return total;
    }
    return total;
  };
}

/** `replaces` is the result of comparing the best value so far with a better one. */
function extreme(name: string, replaces: bigint): (list: Value) => Value {
  return (list) => {
    let best: Value | undefined;
    for (const item of itemsOf(list as ListValue)) {
      if (!isOrdered(item)) return item instanceof CelError ? item : new CelError(noSuchOverload);
      if (best === undefined || compare(best, item) === replaces) best = item;
    }
    return best ?? new CelError(`${name} called on empty list`);
  };
}
