import { isArray, isObject, type Json } from './json-value.ts';

/** A value as Go's `%v` shows decoded JSON; error sentences contain it: `map[image:nginx ports:[map[port:80]]]`. */
export function goText(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return goNumber(value);
  if (isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const names = Object.keys(value).sort();
  return `map[${names.map((name) => `${name}:${goText(value[name])}`).join(' ')}]`;
}

/** As Go's `%s` shows it, which is meant for texts only. */
export function goTextOnly(value: Json | undefined): string {
  if (typeof value === 'string' || isObject(value) || isArray(value)) return goText(value);
  if (value === null || value === undefined) return '%!s(<nil>)';
  return `%!s(${goType(value)}=${goText(value)})`;
}

/** The Go type that JSON is decoded into. */
export function goType(value: Json | undefined): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** Exponents have two digits at least, and begin at 1e+21 as in JavaScript. */
function goNumber(value: number): string {
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}
