import { stringify } from 'yaml';
import { usage } from '../cli-error.ts';

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
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return format === 'json' ? `${JSON.stringify(plain, undefined, 2)}\n` : stringify(plain, { lineWidth: 0 });
}
