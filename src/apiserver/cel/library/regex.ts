import type { FunctionLibrary } from '../types/declarations.ts';
import { PlainList } from '../values/collections.ts';
import { compilePattern, orCelError } from '../values/patterns.ts';
import { CelError, type Value } from '../values/values.ts';

/** Kubernetes' functions for searching with patterns. */
export const regexLibrary: FunctionLibrary = {
  signatures: `
    .find string_find_string (string, string) -> string
    .findAll string_find_all_string (string, string) -> list(string)
    .findAll string_find_all_string_int (string, string, int) -> list(string)
  `,
  implementations: {
    string_find_string: (text, pattern) => {
      const found = search(text as string, pattern as string, 1);
      return found instanceof CelError ? found : (found[0] ?? '');
    },
    string_find_all_string: (text, pattern) => all(text, pattern, -1n),
    string_find_all_string_int: (text, pattern, limit) => all(text, pattern, limit as bigint),
  },
};

function all(text: Value, pattern: Value, limit: bigint): Value {
  const max = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  const found = search(text as string, pattern as string, max);
  return found instanceof CelError ? found : new PlainList(found);
}

function search(text: string, pattern: string, max: number): string[] | CelError {
  const compiled = compilePattern(pattern);
  if (compiled instanceof CelError) return new CelError(`Illegal regex: ${compiled.message}`);
  return orCelError(() => compiled.findAll(text, max));
}
