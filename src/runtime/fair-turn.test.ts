import { expect, test } from 'vitest';
import { fairTurn } from './fair-turn.ts';

test('in each turn of the event loop one caller continues, in the order of the calls', async () => {
  const pieces: string[] = [];
  const work = async (name: string) => {
    for (let piece = 0; piece < 3; piece += 1) {
      await fairTurn();
      pieces.push(name);
    }
  };
  const perTurn: number[] = [];
  let before = 0;
  let isDone = false;
  const observe = () => {
    perTurn.push(pieces.length - before);
    before = pieces.length;
    if (!isDone) setImmediate(observe);
  };
  setImmediate(observe);
  await Promise.all(['a', 'b', 'c'].map(work));
  isDone = true;
  expect(pieces.join('')).toBe('abcabcabc');
  expect(Math.max(...perTurn)).toBe(1);
});
