import { stringify } from 'yaml';
import { usage } from '../cli-error.ts';

/** `wide` is a table that says more, `name` nothing but names; not every command offers that. */
export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name';

const outputFormats: readonly OutputFormat[] = ['table', 'wide', 'json', 'yaml'];

/** What `-o` says. */
export function outputFormatOf(text: string, offered: readonly OutputFormat[] = outputFormats): OutputFormat {
  const format = offered.find((name) => name === text);
  if (format === undefined) throw usage(`-o: "${text}" is none of ${offered.join(', ')}`);
  return format;
}

/** Data for programs; fields that are undefined are left out in both. */
export function structured(value: unknown, format: 'json' | 'yaml'): string {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return format === 'json' ? `${JSON.stringify(plain, undefined, 2)}\n` : stringify(plain, { lineWidth: 0 });
}
