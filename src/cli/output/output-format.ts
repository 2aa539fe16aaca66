import { stringify } from 'yaml';
import { usage } from '../cli-error.ts';

/** Of every command that answers. `wide` is a table that says more, `name` nothing but names. */
export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** What `-o` says. */
export function outputFormatOf(text: string): OutputFormat {
  const format = outputFormats.find((name) => name === text);
  if (format === undefined) throw usage(`-o: "${text}" is none of ${outputFormats.join(', ')}`);
  return format;
}

/** Data for programs; fields that are undefined are left out in both. */
export function structured(value: unknown, format: 'json' | 'yaml'): string {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return format === 'json' ? `${JSON.stringify(plain, undefined, 2)}\n` : stringify(plain, { lineWidth: 0 });
}
