import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.ts';
import { firstWhere, SortedKeys } from './sorted-keys.ts';

describe('sorted keys', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 4 });

  test('behave like a sorted array with linear search', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(key),
        fc.array(key),
        key,
        key,
        fc.nat(5),
        (added, removed, prefix, after, limit) => {
          const keys = new SortedKeys();
          for (const one of added) keys.add(one);
          const gone = new Set(removed.filter((one) => added.includes(one)));
          for (const one of gone) keys.delete(one);
          const rest = added.filter((one) => !gone.has(one)).sort();
          const ofPrefix = rest.filter((one) => one.startsWith(prefix));
          expect(keys.size).toBe(rest.length);
          expect(keys.range()).toEqual(rest);
          expect(keys.range(prefix)).toEqual(ofPrefix);
          expect(keys.count(prefix)).toBe(ofPrefix.length);
          expect(keys.range(prefix, after, limit)).toEqual(
            ofPrefix.filter((one) => one > after).slice(0, limit),
          );
        },
      ),
    );
  });

  test('stay sorted across many chunks in any order of insertions and removals', () => {
    const random = seededRandom('many keys');
    const names = Array.from(
      { length: 20_000 },
      (_, index) => `${index % 7}/${String(index).padStart(5, '0')}`,
    );
    const keys = new SortedKeys();
    for (const name of random.shuffle(names)) keys.add(name);
    expect(keys.range()).toEqual([...names].sort());
    expect(keys.count('3/')).toBe(keys.range('3/').length);
    const [gone, kept] = [names.slice(0, 15_000), names.slice(15_000)];
    for (const name of random.shuffle(gone)) keys.delete(name);
    expect(keys.range()).toEqual([...kept].sort());
    expect(
      keys.range(
        '3/',
        kept.find((name) => name.startsWith('3/')),
      ),
    ).toHaveLength(keys.count('3/') - 1);
    for (const name of kept) keys.delete(name);
    expect([keys.size, keys.range(), keys.count('3/')]).toEqual([0, [], 0]);
  });

  test('are unique', () => {
    const keys = new SortedKeys();
    keys.add('a');
    expect(() => keys.add('a')).toThrow('exists already');
    expect(() => keys.delete('b')).toThrow('does not exist');
  });
});

test('firstWhere finds the first matching item in lists of any length', () => {
  for (let length = 0; length < 20; length += 1) {
    const items = Array.from({ length }, (_, index) => index);
    for (let first = 0; first <= length; first += 1)
      expect(firstWhere(items, (item) => item >= first)).toBe(first);
  }
});
