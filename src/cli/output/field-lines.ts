import { harmless } from './style.ts';
import { wrap } from './wrap.ts';

/** `Name:  value`, with the values below each other; a missing value is `-`, and a long one is continued below itself. */
export function fieldLines(
  fields: readonly (readonly [name: string, value: string | undefined])[],
  width: number | undefined,
): readonly string[] {
  const nameWidth = Math.max(...fields.map(([name]) => name.length)) + 2;
  return fields.flatMap(([name, value]) => {
    const lines = wrap(harmless(value || '-'), { width: width && width - nameWidth, hanging: 0 });
    return lines.map((line, at) => `${(at === 0 ? `${name}:` : '').padEnd(nameWidth)}${line}`);
  });
}
