import type { Int64 } from '../../../kube/api/stored/meta.ts';
import { badRequest } from '../../../kube/api-error.ts';
import { int64Of } from '../../../kube/go/int64.ts';
import { parseInt64 } from '../../../kube/selectors/int64.ts';

/** Reads query parameters as Kubernetes converts them: the first value counts, and everything except `0` and `false` is true. */
export function boolParameter(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value !== '0' && value.toLowerCase() !== 'false';
}

/** For numbers that need not be exact beyond 2^53. */
export function intParameter(query: URLSearchParams, name: string): number | undefined {
  const exact = int64Parameter(query, name);
  return exact === undefined ? undefined : Number(exact);
}

/** Parses like Go's ParseInt, with its error messages. */
export function int64Parameter(query: URLSearchParams, name: string): Int64 | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  const quoted = JSON.stringify(value);
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${quoted}: invalid syntax`);
  const exact = int64Of(parseInt64(value) ?? beyondInt64);
  if (exact === undefined) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted}: value out of range`);
  }
  return exact;
}

const beyondInt64 = 2n ** 63n;

/** Undefined if empty or missing. */
export function textParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name);
  return value === null || value === '' ? undefined : value;
}
