import { formatGoValue } from '../../kube/go/format-value.ts';
import type { Json, JsonObject } from '../../kube/go/json-value.ts';
import { goQuoted } from '../../kube/go/quote.ts';
import { parseServerJson } from '../schema/json-reader.ts';
import type { PathElement } from './path-element.ts';

/** A path in the notation of error messages: `.spec.containers[name="web"].image`. */
export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join('');
}

export function elementText(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k':
      return `[${keyText(parseServerJson(rest) as JsonObject)}]`;
    case 'v':
      return `[=${valueText(parseServerJson(rest) as Json)}]`;
    default:
      return `[${rest}]`;
  }
}

function keyText(key: JsonObject): string {
  return Object.keys(key)
    .map((name) => `${name}=${valueText(key[name]!)}`)
    .join(',');
}

function valueText(value: Json): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? goQuoted(value) : formatGoValue(value);
}
