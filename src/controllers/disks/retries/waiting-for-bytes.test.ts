import { expect, test } from 'vitest';
import { WaitingForBytes } from './waiting-for-bytes.ts';

function start(volumes: Readonly<Record<string, number>>) {
  const woken: string[] = [];
  const waiting = new WaitingForBytes((volume) => woken.push(volume));
  for (const [volume, bytes] of Object.entries(volumes)) waiting.add(volume, bytes);
  return { waiting, woken };
}

test('free bytes wake only the volumes that fit, in the order in which they began to wait', () => {
  const { waiting, woken } = start(
    Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`v${at}`, 10])),
  );
  waiting.gained(25);
  expect(woken).toEqual(['v0', 'v1']);
});

test('a large volume does not hold up the smaller ones behind it', () => {
  const { waiting, woken } = start({ large: 100, small: 10 });
  waiting.gained(20);
  expect(woken).toEqual(['small']);
});

test('free bytes that a woken volume could not use wake the next one, and each is woken once', () => {
  const { waiting, woken } = start({ a: 10, b: 10, c: 10 });
  waiting.gained(10);
  waiting.add('a', 10);
  waiting.add('b', 10);
  waiting.add('c', 10);
  waiting.add('a', 10);
  expect(woken).toEqual(['a', 'b', 'c']);
});

test('a volume that no longer waits is not woken', () => {
  const { waiting, woken } = start({ a: 10, b: 10 });
  waiting.delete('a');
  waiting.gained(10);
  expect(woken).toEqual(['b']);
});
