import type { FunctionLibrary } from '../types/declarations.ts';
import { isReceiver } from '../values/arithmetic.ts';
import { compilePattern, orCelError } from '../values/patterns.ts';
import { CelError, isList, isMap, noSuchOverload, type Value, valueSize } from '../values/values.ts';

/** The standard functions of CEL for texts, and `size`. */
export const standardStringLibrary: FunctionLibrary = {
  signatures: `
    .contains contains_string (string, string) -> bool
    .endsWith ends_with_string (string, string) -> bool
    matches matches (string, string) -> bool
    .matches matches_string (string, string) -> bool
    size size_bytes (bytes) -> int
    .size bytes_size (bytes) -> int
    size size_list (list(A)) -> int
    .size list_size (list(A)) -> int
    size size_map (map(A, B)) -> int
    .size map_size (map(A, B)) -> int
    size size_string (string) -> int
    .size string_size (string) -> int
    .startsWith starts_with_string (string, string) -> bool
  `,
  implementations: {
    size,
    contains: onStrings((text, part) => text.includes(part)),
    startsWith: onStrings((text, part) => text.startsWith(part)),
    endsWith: onStrings((text, part) => text.endsWith(part)),
    matches,
  },
};

function size(value: Value): Value {
  const hasSize = typeof value === 'string' || value instanceof Uint8Array || isList(value) || isMap(value);
  if (hasSize) return BigInt(valueSize(value));
  return new CelError(isReceiver(value) ? noSuchOverload : `${noSuchOverload}: size`);
}

function onStrings(test: (text: string, part: string) => boolean): (text: Value, part: Value) => Value {
  return (text, part) =>
    typeof text === 'string' && typeof part === 'string' ? test(text, part) : new CelError(noSuchOverload);
}

function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return new CelError(noSuchOverload);
  const compiled = compilePattern(pattern);
  return compiled instanceof CelError ? compiled : orCelError(() => compiled.test(text));
}
