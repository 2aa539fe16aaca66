import { sortedKeys } from '../sorted-keys.ts';
import { JsonNumber } from './json-number.ts';
import { isJsonArray, isJsonObject, type Json } from './json-value.ts';
import { formatGoFloat } from './numbers.ts';
import { goQuoted } from './quote.ts';

/** Decoded JSON as Go's `%v` prints it, as error messages contain it: `map[image:nginx ports:[map[port:80]]]`. */
export function formatGoValue(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (isJsonArray(value)) return `[${value.map(formatGoValue).join(' ')}]`;
  if (!isJsonObject(value)) return scalarText(value);
  return `map[${sortedKeys(value)
    .map((name) => `${name}:${formatGoValue(value[name])}`)
    .join(' ')}]`;
}

/** Decoded JSON as Go's `%s` prints it, which marks scalars that are not texts: `%!s(int64=3)`. */
export function formatGoString(value: Json | undefined): string {
  if (typeof value === 'string' || isJsonObject(value) || isJsonArray(value)) return formatGoValue(value);
  if (value === null || value === undefined) return '%!s(<nil>)';
  return `%!s(${goTypeName(value)}=${formatGoValue(value)})`;
}

/** Decoded JSON as Go's `%#v` prints it. `mapType` is the Go type into which the decoder put objects. */
export function formatGoSyntax(value: Json, mapType = 'map[string]interface {}'): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuoted(value);
  if (isJsonArray(value)) {
    return `[]interface {}{${value.map((item) => formatGoSyntax(item, mapType)).join(', ')}}`;
  }
  if (!isJsonObject(value)) return formatGoValue(value);
  const entries = sortedKeys(value).map(
    (name) => `${goQuoted(name)}:${formatGoSyntax(value[name]!, mapType)}`,
  );
  return `${mapType}{${entries.join(', ')}}`;
}

/** The Go type into which Kubernetes decodes the value, as Go's `%T` prints it. */
export function goTypeName(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (isJsonArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Number.isInteger(Number(scalarText(value))) ? 'int64' : 'float64';
}

/** The same where Go's message prints a reflect.Type by `%s`, which does not expect nil. */
export function reflectedTypeName(value: Json | undefined): string {
  return value === null || value === undefined ? '%!s(<nil>)' : goTypeName(value);
}

/** Kubernetes decodes whole numbers to int64, which Go prints without an exponent, and other numbers to float64. */
function scalarText(value: Json): string {
  if ((value as unknown) instanceof JsonNumber) return (value as unknown as JsonNumber).text;
  return typeof value !== 'number' || Number.isSafeInteger(value) ? String(value) : formatGoFloat(value);
}
