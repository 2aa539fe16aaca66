import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { lacks, serverPrograms, startBed } from './bed-in-test.ts';
import { playEndings, whatIsLeft } from './testing/endings.ts';

/** Nothing tells when a controller has nothing more to do; so its world has to be the same for a while. */
const steadyMs = 3_000;
const pollMs = 250;

const theirs = [
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
];

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))('our controllers', () => {
  test('leave behind what kube-controller-manager leaves behind', async () => {
    const [real, ours] = await Promise.all([
      startBed({ controllerManager: { controllers: theirs } }),
      startBed({ server: 'stowage', stowageControllers: 'garbage-collector,namespace,protection' }),
    ]);
    const [left, leftByOurs] = await Promise.all([endOf(await real.connect()), endOf(await ours.connect())]);
    expect(left.length).toBeGreaterThan(10);
    expect(leftByOurs).toEqual(left);
  }, 300_000);
});

async function endOf(cluster: Cluster): Promise<readonly string[]> {
  await playEndings(cluster);
  let last = await whatIsLeft(cluster);
  for (let steadySinceMs = Date.now(); Date.now() - steadySinceMs < steadyMs; ) {
    await sleep(pollMs);
    const now = await whatIsLeft(cluster);
    if (now.join() !== last.join() || now.some((line) => line.startsWith('Namespace /doomed'))) {
      steadySinceMs = Date.now();
    }
    last = now;
  }
  return last;
}
