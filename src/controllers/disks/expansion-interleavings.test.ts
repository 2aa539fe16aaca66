import { describe, expect, test } from 'vitest';
import { type ExpansionWalk, walkExpansion } from './testing/expansion-model.ts';

/** Instances of the volume controller and of the disk's, writes that may arrive late, and sizes that are wanted later than the first one. */
const small = { instances: 1, passes: 1, lateMax: 1, edits: [10, 20] };
const isLong = Number(process.env.SIMULATION_SEEDS ?? 1) > 1;

function check({ violation, outcomes }: ExpansionWalk): void {
  expect(violation).toBeUndefined();
  // The state of the expansion, and the size of the replica: commits were walked through, before and after growing.
  expect([...outcomes]).toEqual(expect.arrayContaining(['Requested 10', 'Committed 10', 'Committed 20']));
}

describe('no replica grows without its grant, in all interleavings', () => {
  test('the size is taken back and wanted again, and any write arrives late', () => {
    const walk = walkExpansion(small);
    check(walk);
    expect(walk.outcomes).toContain('Withdrawn 10');
  });

  test('a larger size is wanted, and any write arrives late', () => {
    check(walkExpansion({ ...small, edits: [30] }));
  });

  test('one instance commits, another one takes back, each with stale caches', () => {
    check(walkExpansion({ instances: 2, passes: 1, lateMax: 0, edits: [10] }));
  });

  test.runIf(isLong)('two instances, two passes, and writes that arrive late', () => {
    check(walkExpansion({ instances: 2, passes: 1, lateMax: 1, edits: [10] }));
    check(walkExpansion({ instances: 1, passes: 2, lateMax: 1, edits: [10, 20] }));
  });
});

test.each(['ignoresHolds', 'readsHoldsFirst', 'confirmsFromCache', 'ignoresVolumeVersion'] as const)(
  'each part is needed: a model that %s lets a replica grow without its grant',
  (mistake) => {
    expect(walkExpansion(small, { [mistake]: true }).violation).toBeDefined();
  },
);
