import { describe, expect, test } from 'vitest';
import { idsFrom, systemIds } from './ids.ts';
import { seededRandom } from './random.ts';

describe.each([
  { name: 'system ids', ids: systemIds },
  { name: 'seeded ids', ids: idsFrom(seededRandom('ids')) },
])('$name', ({ ids }) => {
  test('give version 4 UUIDs, each a new one, with every variant', () => {
    const uids = Array.from({ length: 2_000 }, () => ids.uid());
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(uids.filter((uid) => !uuid.test(uid))).toEqual([]);
    expect(new Set(uids).size).toBe(uids.length);
    expect(new Set(uids.map((uid) => uid[19]))).toEqual(new Set('89ab'));
  });

  test("give suffixes of five characters, of all of Kubernetes' alphabet and no others", () => {
    const suffixes = Array.from({ length: 2_000 }, () => ids.suffix());
    expect(suffixes.filter((suffix) => suffix.length !== 5)).toEqual([]);
    expect([...new Set(suffixes.join(''))].toSorted().join('')).toBe('2456789bcdfghjklmnpqrstvwxz');
  });
});

test('seeded ids are the same in every run', () => {
  const first = idsFrom(seededRandom(3));
  const second = idsFrom(seededRandom(3));
  expect([first.uid(), first.suffix()]).toEqual([second.uid(), second.suffix()]);
  expect(first.uid()).not.toBe(idsFrom(seededRandom(4)).uid());
});
