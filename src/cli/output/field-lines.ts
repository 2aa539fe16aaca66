import { harmless } from './style.ts';

/** `Name:  value`, one a line, with the values below each other; a missing value is `-`. */
export function fieldLines(
  fields: readonly (readonly [name: string, value: string | undefined])[],
): readonly string[] {
  const width = Math.max(...fields.map(([name]) => name.length)) + 2;
  return fields.map(([name, value]) => `${`${name}:`.padEnd(width)}${harmless(value || '-')}`);
}
