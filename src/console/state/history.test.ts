import { expect, test } from 'vitest';
import { CapacityHistory } from './history.ts';

test('a long time fits: every second sample is dropped and the interval doubles', () => {
  const history = new CapacityHistory(10);
  const sample = (value: number) => new Map([['fast', new Map([['used', value]])]]);
  for (let at = 0; at <= 1_440; at += 1) history.add(at, sample(at));
  const { timesMs, series } = history.answer();
  expect(timesMs).toHaveLength(721);
  expect(timesMs.slice(0, 3)).toEqual([0, 2, 4]);
  expect(timesMs.at(-1)).toBe(1_440);
  expect(series).toEqual([{ group: 'fast', name: 'used', values: timesMs }]);
  expect(history.intervalMs).toBe(20);
});

test('a series that begins later or ends earlier has gaps there', () => {
  const history = new CapacityHistory(10);
  history.add(1, new Map([['old', new Map([['used', 1]])]]));
  history.add(2, new Map([['new', new Map([['used', 2]])]]));
  expect(history.answer().series.map(({ group, values }) => [group, values])).toEqual([
    ['old', [1, null]],
    ['new', [null, 2]],
  ]);
});
