import { expect, test } from 'vitest';
import type { WhatIfChange } from '../../engine/what-if/change.ts';
import { podWith } from '../testing/cluster-views.ts';
import { makePlan, planChanges } from './make-plan.ts';
import { shop } from './testing/plan-views.ts';

const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;
const drain: readonly WhatIfChange[] = [{ kind: 'drain-node', node: 'n1' }];

/** Each reading is a millisecond later: so many steps make a slice, on any machine. */
function countingClock() {
  let readings = 0;
  return { monotonicMs: () => ++readings, readings: () => readings };
}

/** Slices of five steps; `between` runs in each turn. */
function slicesOf(between: () => void) {
  const clock = countingClock();
  const ends: number[] = [];
  const turn = async () => {
    ends.push(clock.readings());
    between();
  };
  return { slices: { clock, budgetMs: 5, turn }, ends };
}

test('other work gets a turn after each slice, from the first object of the index to the last pod', async () => {
  const view = shop();
  const { slices, ends } = slicesOf(() => {});
  const report = await planChanges(view, drain, { ...options, slices });
  const objects = (['Node', 'Pod', 'PersistentVolume', 'PersistentVolumeClaim'] as const).map((kind) =>
    view.snapshot.count(kind),
  );
  const objectCount = objects.reduce((sum, count) => sum + count);
  expect(report).toEqual(makePlan(view, drain, options));
  // A slice has five steps and the reading at its start; the prediction has a step for each pod at least.
  expect(ends.length).toBeGreaterThan((objectCount + report.moves.length + report.stranded.length) / 5);
  expect(Math.max(...ends.map((end, at) => end - (ends[at - 1] ?? 0)))).toBeLessThanOrEqual(6);
});

test('progress is reported for each step', () => {
  const steps: number[] = [];
  const view = shop();
  makePlan(view, drain, options, (done) => steps.push(done));
  expect(steps.length).toBeGreaterThan(view.snapshot.count('Pod'));
  expect(steps).toEqual(steps.map((_, at) => at + 1));
});

test('the answer is about the cluster at the time of the question, whatever happens in between', async () => {
  const [view, untouched] = [shop(), shop()];
  let turns = 0;
  const { slices } = slicesOf(() => {
    turns += 1;
    view.snapshot.add('Pod', podWith(`late-${turns}`, '1', [], 'n1'));
    view.snapshot.remove('Pod', 'default/db-0');
    view.snapshot.remove('Node', 'n3');
  });
  const report = await planChanges(view, drain, { ...options, slices });
  expect(turns).toBeGreaterThan(1);
  expect(report).toEqual(makePlan(untouched, drain, options));
});

test('a change that names what does not exist is an error of the promise', async () => {
  const { slices } = slicesOf(() => {});
  await expect(
    planChanges(shop(), [{ kind: 'drain-node', node: 'n9' }], { ...options, slices }),
  ).rejects.toThrow('there is no node n9');
});
