import { expect, test } from 'vitest';
import type { Cluster } from '../cluster/cluster.ts';
import { InterceptedCluster } from '../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../cluster/testing/fault-hooks.ts';
import { expectedRemainders, listRemaining, seedDeletedObjects } from './testing/deleted-objects.ts';
import { RealTimeCluster } from './testing/real-time-cluster.ts';

/** The controllers that remove objects. With others, less would remain: the PV binder frees volumes without a claim. */
const enders = ['protection', 'garbage-collector', 'namespace'];

/** Turns of the event loop after which the state must be settled; a turn takes well under a millisecond. */
const turnsMax = 100_000;

/** Waits until only the expected objects remain; false if `isOver` returns true first. */
async function untilSettled(cluster: Cluster, isOver = () => false): Promise<boolean> {
  let left: readonly string[] = [];
  for (let turn = 0; turn < turnsMax; turn++) {
    if (isOver()) return false;
    left = await listRemaining(cluster);
    if (left.length === expectedRemainders.length && left.every((line) => expectedRemainders.includes(line)))
      return true;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(left).toEqual(expectedRemainders);
  return false;
}

/** Runs the controllers until so many writes are done, then starts them again. Reports whether they were interrupted before they settled. */
async function interruptAfter(writesMax: number): Promise<{ readonly isInterrupted: boolean }> {
  await using fixture = await RealTimeCluster.start();
  await seedDeletedObjects(fixture.cluster);
  const crash = new CrashAfterWrites(writesMax);
  const crashing = new InterceptedCluster(fixture.cluster, crash);
  let isBroken = false;
  void crash.crashed.then(() => {
    isBroken = true;
  });
  {
    await using _first = fixture.runSeparately(crashing, ...enders);
    const isSettled = await untilSettled(fixture.cluster, () => isBroken);
    if (isSettled) return { isInterrupted: false };
  }
  await using _second = fixture.runSeparately(fixture.cluster, ...enders);
  await untilSettled(fixture.cluster);
  return { isInterrupted: true };
}

test('controllers that crash after any of their writes leave nothing behind that their successors cannot remove', async () => {
  let writes = 1;
  while ((await interruptAfter(writes)).isInterrupted) writes += 1;
  expect(writes).toBeGreaterThan(15);
});

test('two sets of controllers at once reach the same state', async () => {
  await using fixture = await RealTimeCluster.start();
  await seedDeletedObjects(fixture.cluster);
  await using _one = fixture.runSeparately(fixture.cluster, ...enders);
  await using _other = fixture.runSeparately(fixture.cluster, ...enders);
  await untilSettled(fixture.cluster);
});
