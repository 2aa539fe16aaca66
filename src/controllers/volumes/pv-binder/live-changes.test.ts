import { expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { protectionController } from '../protection.ts';
import { pvBinderController } from './pv-binder.ts';
import { claimAndVolumeLines } from './testing/binder-outcome.ts';
import { createClaim, createObjects, createVolume, namespace } from './testing/initial-objects.ts';

/* Changes while the binder runs: it acts on their events, without a sweep in between. */

const pair = { claims: [{ name: 'c' }], volumes: [{ name: 'v' }] };

test('a waiting claim takes a new volume', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createClaim(fixture.cluster, { name: 'c' });
  await fixture.settle();
  await createVolume(fixture.cluster, { name: 'v' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual([
    'c: Bound on v (1Gi), by controller, complete',
  ]);
});

test('a claim that waits for its first consumer takes a new volume that names it, with or without the uid', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  const metadata = { name: 'wait' };
  const provisioner = 'kubernetes.io/no-provisioner';
  await createObjects(fixture.cluster, {
    classes: [{ metadata, provisioner, volumeBindingMode: 'WaitForFirstConsumer' }],
    claims: ['c', 'd'].map((name) => ({ name, className: 'wait' })),
  });
  await fixture.settle();
  await createVolume(fixture.cluster, { name: 'v', className: 'wait', for: 'c' });
  await createVolume(fixture.cluster, { name: 'w', className: 'wait', for: 'd', uid: 'own' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual([
    'c: Bound on v (1Gi), by controller, complete',
    'd: Bound on w (1Gi), by controller, complete',
  ]);
});

test('new volumes each go to the claim that needs most of them', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  for (const size of [1, 2, 3]) await createClaim(fixture.cluster, { name: `c${size}`, size: `${size}Gi` });
  await fixture.settle();
  for (const size of [2, 3, 1]) {
    await createVolume(fixture.cluster, { name: `v${size}`, size: `${size}Gi`, phase: 'Pending' });
    await fixture.settle();
  }
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(
    [1, 2, 3].map((size) => `c${size}: Bound on v${size} (${size}Gi), by controller, complete`),
  );
});

test('a volume goes to the next claim if its claim is deleted first', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController(), protectionController);
  for (const name of ['a', 'b']) await createClaim(fixture.cluster, { name });
  await fixture.settle();
  await createVolume(fixture.cluster, { name: 'v', phase: 'Pending' });
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'a' });
  await fixture.settle();
  expect(await claimAndVolumeLines(fixture.cluster)).toEqual({
    claims: ['b: Bound on v (1Gi), by controller, complete'],
    volumes: ['v: Bound for b, by controller'],
  });
});

test('deleting a claim releases its volume, and deleting the volume loses the claim', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController(), protectionController);
  await createObjects(fixture.cluster, pair);
  await fixture.settle();
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'c' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).volumes).toEqual([
    'v: Released for c (other uid), by controller',
  ]);
  await createClaim(fixture.cluster, { name: 'd', on: 'w' });
  await createVolume(fixture.cluster, { name: 'w' });
  await fixture.settle();
  const volumes = fixture.cluster.resource(persistentVolumes);
  const body = { metadata: { finalizers: null } };
  await volumes.patch({ name: 'w' }, { type: 'merge', body });
  await volumes.delete({ name: 'w' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['d: Lost on w, complete']);
});

test('a withdrawn claimRef frees the volume at once for waiting claims', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController(), protectionController);
  await createObjects(fixture.cluster, pair);
  await fixture.settle();
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'c' });
  await createClaim(fixture.cluster, { name: 'next' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['next: Pending']);
  const volumes = fixture.cluster.resource(persistentVolumes);
  await volumes.patch({ name: 'v' }, { type: 'merge', body: { spec: { claimRef: null } } });
  await fixture.settle();
  expect(await claimAndVolumeLines(fixture.cluster)).toEqual({
    claims: ['next: Bound on v (1Gi), by controller, complete'],
    volumes: ['v: Bound for next, by controller'],
  });
});

test('a claim that names a volume takes it when the volume is created, or released', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createObjects(fixture.cluster, {
    claims: [
      { name: 'c', on: 'v' },
      { name: 'd', on: 'w' },
    ],
    volumes: [{ name: 'w', for: 'another' }],
  });
  await fixture.settle();
  await createVolume(fixture.cluster, { name: 'v' });
  const body = { spec: { claimRef: null } };
  await fixture.cluster.resource(persistentVolumes).patch({ name: 'w' }, { type: 'merge', body });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual([
    'c: Bound on v (1Gi), complete',
    'd: Bound on w (1Gi), complete',
  ]);
});

test('a Lost claim comes back with its volume', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  fixture.versions.isPaused = true;
  await createClaim(fixture.cluster, { name: 'c', on: 'v', isComplete: true, phase: 'Bound' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['c: Lost on v, complete']);
  await createVolume(fixture.cluster, { name: 'v' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['c: Bound on v (1Gi), complete']);
});

test('a volume that is being deleted is not taken', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await createObjects(fixture.cluster, {
    volumes: [{ name: 'v' }],
    claims: [{ name: 'c' }, { name: 'd', on: 'v' }],
  });
  await fixture.cluster.resource(persistentVolumes).delete({ name: 'v' });
  fixture.run([pvBinderController()]);
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['c: Pending', 'd: Pending on v']);
  expect(await fixture.eventLines()).toContain(
    'VolumeMismatch d: Cannot bind to requested volume "v": the volume is marked for deletion "v"',
  );
});

test('a claim shows the size before a file system is resized, and keeps it while it is bound', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  const extraAnnotations = { [annotations.preResizeCapacity]: '1Gi' };
  await createObjects(fixture.cluster, {
    claims: [{ name: 'c' }],
    volumes: [{ name: 'v', size: '5Gi', extraAnnotations }],
  });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual([
    'c: Bound on v (1Gi), by controller, complete',
  ]);
  const body = { spec: { capacity: { storage: '7Gi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } };
  await fixture.cluster.resource(persistentVolumes).patch({ name: 'v' }, { type: 'merge', body });
  await fixture.settle();
  const { status } = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(status?.capacity).toEqual({ storage: '1Gi' });
  expect(status?.accessModes).toEqual(['ReadWriteOnce', 'ReadOnlyMany']);
});

test('fifty claims and fifty volumes are bound without a conflict', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const all = Array.from({ length: 50 }, (_, index) => index);
  await createObjects(fixture.cluster, {
    claims: all.map((index) => ({ name: `c${index}` })),
    volumes: all.map((index) => ({ name: `v${index}` })),
  });
  fixture.run([pvBinderController()]);
  await fixture.settle(0);
  const { claims } = await claimAndVolumeLines(fixture.cluster);
  expect(new Set(claims.map((line) => line.split(' on ')[1])).size).toBe(50);
  expect(claims.every((line) => line.includes(': Bound on '))).toBe(true);
  expect(fixture.errors).toEqual([]);
});
