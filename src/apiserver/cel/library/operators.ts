import type { FunctionLibrary } from '../types/declarations.ts';
import { add, divide, modulo, multiply, negate, subtract } from '../values/arithmetic.ts';
import { containsItem } from '../values/collections.ts';
import { compare, isOrdered } from '../values/ordering.ts';
import { CelError, isError, isList, isMap, noSuchOverload, type Value } from '../values/values.ts';

/** Infix and prefix operators. Logic, equality and indexes are planned separately. */
export const operatorLibrary: FunctionLibrary = {
  signatures: `
    !_ logical_not (bool) -> bool
    -_ negate_double (double) -> double
    -_ negate_int64 (int) -> int
    @in in_list (A, list(A)) -> bool
    @in in_map (A, map(A, B)) -> bool
    @not_strictly_false not_strictly_false (bool) -> bool
    _!=_ not_equals (A, A) -> bool
    _%_ modulo_int64 (int, int) -> int
    _%_ modulo_uint64 (uint, uint) -> uint
    _&&_ logical_and (bool, bool) -> bool
    _*_ multiply_double (double, double) -> double
    _*_ multiply_int64 (int, int) -> int
    _*_ multiply_uint64 (uint, uint) -> uint
    _+_ add_bytes (bytes, bytes) -> bytes
    _+_ add_double (double, double) -> double
    _+_ add_duration_duration (duration, duration) -> duration
    _+_ add_duration_timestamp (duration, timestamp) -> timestamp
    _+_ add_timestamp_duration (timestamp, duration) -> timestamp
    _+_ add_int64 (int, int) -> int
    _+_ add_list (list(A), list(A)) -> list(A)
    _+_ add_string (string, string) -> string
    _+_ add_uint64 (uint, uint) -> uint
    _-_ subtract_double (double, double) -> double
    _-_ subtract_duration_duration (duration, duration) -> duration
    _-_ subtract_int64 (int, int) -> int
    _-_ subtract_timestamp_duration (timestamp, duration) -> timestamp
    _-_ subtract_timestamp_timestamp (timestamp, timestamp) -> duration
    _-_ subtract_uint64 (uint, uint) -> uint
    _/_ divide_double (double, double) -> double
    _/_ divide_int64 (int, int) -> int
    _/_ divide_uint64 (uint, uint) -> uint
    _<=_ less_equals_bool (bool, bool) -> bool
    _<=_ less_equals_int64 (int, int) -> bool
    _<=_ less_equals_int64_double (int, double) -> bool
    _<=_ less_equals_int64_uint64 (int, uint) -> bool
    _<=_ less_equals_uint64 (uint, uint) -> bool
    _<=_ less_equals_uint64_double (uint, double) -> bool
    _<=_ less_equals_uint64_int64 (uint, int) -> bool
    _<=_ less_equals_double (double, double) -> bool
    _<=_ less_equals_double_int64 (double, int) -> bool
    _<=_ less_equals_double_uint64 (double, uint) -> bool
    _<=_ less_equals_string (string, string) -> bool
    _<=_ less_equals_bytes (bytes, bytes) -> bool
    _<=_ less_equals_timestamp (timestamp, timestamp) -> bool
    _<=_ less_equals_duration (duration, duration) -> bool
    _<_ less_bool (bool, bool) -> bool
    _<_ less_int64 (int, int) -> bool
    _<_ less_int64_double (int, double) -> bool
    _<_ less_int64_uint64 (int, uint) -> bool
    _<_ less_uint64 (uint, uint) -> bool
    _<_ less_uint64_double (uint, double) -> bool
    _<_ less_uint64_int64 (uint, int) -> bool
    _<_ less_double (double, double) -> bool
    _<_ less_double_int64 (double, int) -> bool
    _<_ less_double_uint64 (double, uint) -> bool
    _<_ less_string (string, string) -> bool
    _<_ less_bytes (bytes, bytes) -> bool
    _<_ less_timestamp (timestamp, timestamp) -> bool
    _<_ less_duration (duration, duration) -> bool
    _==_ equals (A, A) -> bool
    _>=_ greater_equals_bool (bool, bool) -> bool
    _>=_ greater_equals_int64 (int, int) -> bool
    _>=_ greater_equals_int64_double (int, double) -> bool
    _>=_ greater_equals_int64_uint64 (int, uint) -> bool
    _>=_ greater_equals_uint64 (uint, uint) -> bool
    _>=_ greater_equals_uint64_double (uint, double) -> bool
    _>=_ greater_equals_uint64_int64 (uint, int) -> bool
    _>=_ greater_equals_double (double, double) -> bool
    _>=_ greater_equals_double_int64 (double, int) -> bool
    _>=_ greater_equals_double_uint64 (double, uint) -> bool
    _>=_ greater_equals_string (string, string) -> bool
    _>=_ greater_equals_bytes (bytes, bytes) -> bool
    _>=_ greater_equals_timestamp (timestamp, timestamp) -> bool
    _>=_ greater_equals_duration (duration, duration) -> bool
    _>_ greater_bool (bool, bool) -> bool
    _>_ greater_int64 (int, int) -> bool
    _>_ greater_int64_double (int, double) -> bool
    _>_ greater_int64_uint64 (int, uint) -> bool
    _>_ greater_uint64 (uint, uint) -> bool
    _>_ greater_uint64_double (uint, double) -> bool
    _>_ greater_uint64_int64 (uint, int) -> bool
    _>_ greater_double (double, double) -> bool
    _>_ greater_double_int64 (double, int) -> bool
    _>_ greater_double_uint64 (double, uint) -> bool
    _>_ greater_string (string, string) -> bool
    _>_ greater_bytes (bytes, bytes) -> bool
    _>_ greater_timestamp (timestamp, timestamp) -> bool
    _>_ greater_duration (duration, duration) -> bool
    _?_:_ conditional (bool, A, A) -> A
    _[_] index_list (list(A), int) -> A
    _[_] index_map (map(A, B), A) -> B
    _||_ logical_or (bool, bool) -> bool
  `,
  implementations: {
    '!_': (value) => (typeof value === 'boolean' ? !value : new CelError(noSuchOverload)),
    '-_': negate,
    '_+_': add,
    '_-_': subtract,
    '_*_': multiply,
    '_/_': divide,
    '_%_': modulo,
    '_<_': ordered('_<_', (order) => order < 0n),
    '_<=_': ordered('_<=_', (order) => order <= 0n),
    '_>_': ordered('_>_', (order) => order > 0n),
    '_>=_': ordered('_>=_', (order) => order >= 0n),
    '@in': contains,
    '@not_strictly_false': (value) => value !== false,
  },
};

function ordered(name: string, test: (order: bigint) => boolean): (a: Value, b: Value) => Value {
  return (a, b) => {
    if (!isOrdered(a)) return new CelError(`${noSuchOverload}: ${name}`);
    const order = compare(a, b);
    return order instanceof CelError ? order : test(order);
  };
}

function contains(item: Value, container: Value): Value {
  if (isList(container)) return containsItem(container, item);
  if (!isMap(container)) return new CelError(noSuchOverload);
  const found = container.find(item);
  return found !== undefined && isError(found) ? found : found !== undefined;
}
