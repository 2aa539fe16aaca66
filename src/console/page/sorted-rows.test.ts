import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergedById } from './sorted-rows.ts';

const rows = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.integer());

test('rows that came, changed and went give the same as sorting all of them again', () => {
  fc.assert(
    fc.property(rows, rows, (before, after) => {
      const sorted = (values: typeof before) =>
        Object.entries(values)
          .map(([id, value]) => ({ id, value }))
          .sort((a, b) => (a.id < b.id ? -1 : 1));
      const changed = new Set(
        [...Object.keys(before), ...Object.keys(after)].filter((id) => before[id] !== after[id]),
      );
      const newest = new Map(sorted(after).map((row) => [row.id, row]));
      expect(mergedById(sorted(before), changed, newest)).toEqual(sorted(after));
    }),
  );
});
