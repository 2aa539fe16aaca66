import { expect, test } from 'vitest';
import { trimmed, trimmedEnd } from './trim.ts';

test.each([
  ['', '', ''],
  ['/', '', ''],
  ['///', '', ''],
  ['a', 'a', 'a'],
  ['//a//b//', 'a//b', '//a//b'],
])('%j is trimmed to %j at both ends, to %j at the end', (text, both, end) => {
  expect([trimmed(text, '/'), trimmedEnd(text, '/')]).toEqual([both, end]);
});

test.each([1_000, 10_000])('each of %d letters is read at most once', (count) => {
  for (const text of [`a${'/'.repeat(count)}b`, `${'/'.repeat(count)}b`, `a${'/'.repeat(count)}`]) {
    const counted = { reads: 0 };
    expect(String(trimmed(countingText(text, counted), '/'))).toBe(trimmed(text, '/'));
    expect(counted.reads).toBeLessThanOrEqual(text.length + 2);
  }
});

/** A text that counts the letters read from it and from its slices. */
function countingText(text: string, counted: { reads: number }): string {
  const counting = new Proxy(new String(text), {
    get(_target, name) {
      if (name === 'length') return text.length;
      if (name === 'slice')
        return (...range: [number, number]) => countingText(text.slice(...range), counted);
      if (name === Symbol.toPrimitive || name === 'toString') return () => text;
      if (typeof name === 'symbol' || !/^\d+$/.test(name)) throw new Error(`not counted: ${String(name)}`);
      counted.reads += 1;
      return text[Number(name)];
    },
  });
  return counting as unknown as string;
}
