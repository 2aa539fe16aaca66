import { describe, expect, test } from 'vitest';
import { driftOf, type OtherCost } from './drift-of.ts';
import { type ClassDisks, otherCostOf } from './other-cost.ts';

const gib = 1024n ** 3n;
const vg = (factorMilli?: number) => ({ name: 'vg', factorMilli });
const striped: ClassDisks = { parameters: 'striped', backing: undefined };
const mirrored: ClassDisks = { parameters: 'mirrored', backing: undefined };

test.each([
  { name: 'the same parameters', own: striped, others: [striped], expected: undefined },
  { name: 'no other class', own: striped, others: [], expected: undefined },
  {
    name: 'other parameters, of which nothing is known',
    own: striped,
    others: [striped, mirrored],
    expected: { leastMilli: 0, mostMilli: 4000 },
  },
  {
    name: 'other parameters and factors',
    own: { ...striped, backing: vg(1000) },
    others: [{ ...mirrored, backing: vg(2000) }],
    expected: { leastMilli: 2000, mostMilli: 2000 },
  },
  {
    name: 'a backing pool without factors',
    own: { ...striped, backing: vg() },
    others: [{ ...mirrored, backing: vg() }],
    expected: { leastMilli: 0, mostMilli: 4000 },
  },
  {
    name: 'another backing pool',
    own: { ...striped, backing: vg(1000) },
    others: [{ ...mirrored, backing: { name: 'other', factorMilli: 2000 } }],
    expected: { leastMilli: 0, mostMilli: 0 },
  },
])('the cost of a class with $name', ({ own, others, expected }) => {
  expect(otherCostOf(own, others)).toEqual(expected);
});

describe('a mirrored volume of 10Gi that takes 20Gi of the stripes', () => {
  /** 100Gi are free in the stripes; then the volume is created, and `freeGib` are left. */
  function drift(otherCost: OtherCost | undefined, freeGib: bigint) {
    const report = (free: bigint, other: bigint, minute: number) => ({
      measuredAtMs: minute * 60_000,
      freeBytes: free * gib,
      volumes: { oursBytes: 0n, otherClassesBytes: other * gib, unsureBytes: 0n, count: 1, otherCost },
    });
    return driftOf(driftOf(undefined, report(100n, 0n, 0)), report(freeGib, 10n, 1));
  }

  test('is not reported if the classes may share their disks', () => {
    expect(drift(otherCostOf(striped, [mirrored]), 80n)).toMatchObject({ kind: 'none' });
    expect(drift(otherCostOf(striped, [mirrored]), 50n)).toMatchObject({ difference: '-10Gi' });
  });

  test('is exact with factors: what is missing beyond it is a finding', () => {
    const exact = { leastMilli: 2000, mostMilli: 2000 };
    expect(drift(exact, 80n)).toMatchObject({ kind: 'none' });
    expect(drift(exact, 75n)).toMatchObject({ kind: 'foreign-use', difference: '-5Gi' });
    expect(drift(exact, 100n)).toMatchObject({ kind: 'grown', difference: '20Gi' });
  });
});
