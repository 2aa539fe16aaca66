import { badRequest } from '../../../kube/api-error.ts';
import { parseInt64 } from '../../../kube/selectors/int64.ts';

/** Reads query parameters as Kubernetes converts them: the first value counts, and everything except `0` and `false` is true. */
export function boolParameter(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value !== '0' && value.toLowerCase() !== 'false';
}

/** Parses like Go's ParseInt, with its error messages. */
export function intParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  const quoted = JSON.stringify(value);
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${quoted}: invalid syntax`);
  const exact = parseInt64(value);
  if (exact === undefined) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted}: value out of range`);
  }
  return Number(exact);
}

/** Undefined if empty or missing. */
export function textParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name);
  return value === null || value === '' ? undefined : value;
}
