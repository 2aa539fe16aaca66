import { stringify } from 'yaml';
import { parseServerJson } from '../../apiserver/schema/json-reader.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { escapedJson } from '../../runtime/printable-text.ts';
import { usage } from '../errors/cli-error.ts';

/** The formats of every command that answers. `wide` is a table with more columns, `name` prints only names. */
export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Parses the value of `-o`. */
export function outputFormatOf(text: string): OutputFormat {
  const format = outputFormats.find((name) => name === text);
  if (format === undefined) throw usage(`-o: "${text}" must be one of ${outputFormats.join(', ')}`);
  return format;
}

/** Data for programs; both formats omit undefined fields. */
export function structured(value: unknown, format: 'json' | 'yaml'): string {
  const plain = parseServerJson(jsonText(value));
  const json = jsonText(plain, 2);
  const escaped = escapedJson(json);
  if (format === 'json') return `${escaped}\n`;
  if (escaped === json) return stringify(plain, { lineWidth: 0 });
  // Only text in double quotes may contain escapes.
  const quoted = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' } as const;
  return escapedJson(stringify(plain, { lineWidth: 0, ...quoted }));
}
