import { expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { protection } from '../protection.ts';
import { pvBinder } from './pv-binder.ts';
import { linesOf } from './testing/reading.ts';
import { namespace, put, putClaim, putVolume } from './testing/sketches.ts';

/* Things that happen while the binder runs: it hears of them, and doesn't look around in between. */

const pair = { claims: [{ name: 'c' }], volumes: [{ name: 'v' }] };

test('a claim that waits takes a volume that comes', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  await putClaim(trial.cluster, { name: 'c' });
  await trial.settle();
  await putVolume(trial.cluster, { name: 'v' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
});

test('a claim that waits for its first consumer takes a volume that comes for it, by name or with the uid', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  const metadata = { name: 'wait' };
  const provisioner = 'kubernetes.io/no-provisioner';
  await put(trial.cluster, {
    classes: [{ metadata, provisioner, volumeBindingMode: 'WaitForFirstConsumer' }],
    claims: ['c', 'd'].map((name) => ({ name, className: 'wait' })),
  });
  await trial.settle();
  await putVolume(trial.cluster, { name: 'v', className: 'wait', for: 'c' });
  await putVolume(trial.cluster, { name: 'w', className: 'wait', for: 'd', uid: 'own' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual([
    'c: Bound on v (1Gi), by controller, complete',
    'd: Bound on w (1Gi), by controller, complete',
  ]);
});

test('volumes that come one by one each go to the claim that needs most of them', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  for (const size of [1, 2, 3]) await putClaim(trial.cluster, { name: `c${size}`, size: `${size}Gi` });
  await trial.settle();
  for (const size of [2, 3, 1]) {
    await putVolume(trial.cluster, { name: `v${size}`, size: `${size}Gi`, phase: 'Pending' });
    await trial.settle();
  }
  expect((await linesOf(trial.cluster)).claims).toEqual(
    [1, 2, 3].map((size) => `c${size}: Bound on v${size} (${size}Gi), by controller, complete`),
  );
});

test('a volume whose claim goes before it could take it goes to the next', async () => {
  await using trial = await TrialCluster.start(pvBinder, protection);
  for (const name of ['a', 'b']) await putClaim(trial.cluster, { name });
  await trial.settle();
  await putVolume(trial.cluster, { name: 'v', phase: 'Pending' });
  await trial.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'a' });
  await trial.settle();
  expect(await linesOf(trial.cluster)).toEqual({
    claims: ['b: Bound on v (1Gi), by controller, complete'],
    volumes: ['v: Bound for b, by controller'],
  });
});

test('deleting a claim releases its volume, and deleting the volume loses the claim', async () => {
  await using trial = await TrialCluster.start(pvBinder, protection);
  await put(trial.cluster, pair);
  await trial.settle();
  await trial.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'c' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).volumes).toEqual(['v: Released for c (other uid), by controller']);
  await putClaim(trial.cluster, { name: 'd', on: 'w' });
  await putVolume(trial.cluster, { name: 'w' });
  await trial.settle();
  const volumes = trial.cluster.resource(persistentVolumes);
  const body = { metadata: { finalizers: null } };
  await volumes.patch({ name: 'w' }, { type: 'merge', body });
  await volumes.delete({ name: 'w' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['d: Lost on w, complete']);
});

test('a claimRef that is withdrawn frees the volume at once, for whoever waits', async () => {
  await using trial = await TrialCluster.start(pvBinder, protection);
  await put(trial.cluster, pair);
  await trial.settle();
  await trial.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'c' });
  await putClaim(trial.cluster, { name: 'next' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['next: Pending']);
  const volumes = trial.cluster.resource(persistentVolumes);
  await volumes.patch({ name: 'v' }, { type: 'merge', body: { spec: { claimRef: null } } });
  await trial.settle();
  expect(await linesOf(trial.cluster)).toEqual({
    claims: ['next: Bound on v (1Gi), by controller, complete'],
    volumes: ['v: Bound for next, by controller'],
  });
});

test('a claim that a person pointed at a volume takes it when the volume comes, or is given back', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  await put(trial.cluster, {
    claims: [
      { name: 'c', on: 'v' },
      { name: 'd', on: 'w' },
    ],
    volumes: [{ name: 'w', for: 'somebody' }],
  });
  await trial.settle();
  await putVolume(trial.cluster, { name: 'v' });
  const body = { spec: { claimRef: null } };
  await trial.cluster.resource(persistentVolumes).patch({ name: 'w' }, { type: 'merge', body });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual([
    'c: Bound on v (1Gi), complete',
    'd: Bound on w (1Gi), complete',
  ]);
});

test('a Lost claim comes back with its volume', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  await putClaim(trial.cluster, { name: 'c', on: 'v', isComplete: true, phase: 'Bound' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Lost on v, complete']);
  await putVolume(trial.cluster, { name: 'v' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Bound on v (1Gi), complete']);
});

test('a volume that is being deleted is not taken', async () => {
  await using trial = await TrialCluster.start();
  await put(trial.cluster, { volumes: [{ name: 'v' }], claims: [{ name: 'c' }, { name: 'd', on: 'v' }] });
  await trial.cluster.resource(persistentVolumes).delete({ name: 'v' });
  trial.run([pvBinder]);
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Pending', 'd: Pending on v']);
  expect(await trial.told()).toContain(
    'VolumeMismatch d: Cannot bind to requested volume "v": the volume is marked for deletion "v"',
  );
});

test('a claim shows the size before a file system is resized, and keeps it while it is bound', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  const marks = { [annotations.preResizeCapacity]: '1Gi' };
  await put(trial.cluster, { claims: [{ name: 'c' }], volumes: [{ name: 'v', size: '5Gi', marks }] });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
  const body = { spec: { capacity: { storage: '7Gi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } };
  await trial.cluster.resource(persistentVolumes).patch({ name: 'v' }, { type: 'merge', body });
  await trial.settle();
  const { status } = await trial.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(status?.capacity).toEqual({ storage: '1Gi' });
  expect(status?.accessModes).toEqual(['ReadWriteOnce', 'ReadOnlyMany']);
});

test('fifty claims and fifty volumes find each other without a conflict', async () => {
  await using trial = await TrialCluster.start();
  const all = Array.from({ length: 50 }, (_, index) => index);
  await put(trial.cluster, {
    claims: all.map((index) => ({ name: `c${index}` })),
    volumes: all.map((index) => ({ name: `v${index}` })),
  });
  trial.run([pvBinder]);
  await trial.settle(0);
  const { claims } = await linesOf(trial.cluster);
  expect(new Set(claims.map((line) => line.split(' on ')[1])).size).toBe(50);
  expect(claims.every((line) => line.includes(': Bound on '))).toBe(true);
  expect(trial.troubles).toEqual([]);
});
