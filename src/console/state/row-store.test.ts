import { expect, test } from 'vitest';
import type { ConsoleVolume } from '../wire/rows.ts';
import { RowStore } from './row-store.ts';

function volume(id: string, sizeBytes = 1): ConsoleVolume {
  return { id, storageClass: 'fast', sizeBytes, phase: 'Bound', claim: '', node: '', isProvisioned: false };
}

test('a stream that resumes gets each changed row once, in its newest form', () => {
  const rows = new RowStore('e');
  rows.set('volume', volume('a'));
  const position = rows.position;
  rows.set('volume', volume('b'));
  rows.set('volume', volume('b', 2));
  rows.set('volume', volume('c'));
  rows.delete('volume', 'c');
  rows.delete('volume', 'a');
  const changes = rows.since(position)?.map(({ id, stored, last }) => [id, stored?.text, last?.row.id]);
  expect(changes).toEqual([
    ['b', JSON.stringify(volume('b', 2)), undefined],
    ['c', undefined, 'c'],
    ['a', undefined, 'a'],
  ]);
  expect(rows.since(rows.position)).toEqual([]);
});

test('a row that came back after it was deleted is there', () => {
  const rows = new RowStore('e');
  rows.set('volume', volume('a'));
  const position = rows.position;
  rows.delete('volume', 'a');
  rows.set('volume', volume('a', 3));
  expect(rows.since(position)?.map(({ stored }) => stored?.row)).toEqual([volume('a', 3)]);
});

test('an equal row is not a change', () => {
  const rows = new RowStore('e');
  rows.set('volume', volume('a'));
  const { position } = rows;
  expect(rows.set('volume', volume('a'))).toBe(false);
  expect(rows.position).toBe(position);
});

test('a position of another process, of the future or from too long ago is not resumed', () => {
  const rows = new RowStore('e', 10);
  for (let at = 0; at < 25; at += 1) rows.set('volume', volume('a', at));
  expect(rows.position).toBe('e-25');
  expect(rows.since('other-24')).toBeUndefined();
  expect(rows.since('e-26')).toBeUndefined();
  expect(rows.since('e-9')).toBeUndefined();
  expect(rows.since('')).toBeUndefined();
  expect(rows.since('e-10')).toHaveLength(1);
});
