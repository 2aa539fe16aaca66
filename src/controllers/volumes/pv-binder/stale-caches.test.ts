import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { WatchGate } from '../../../cluster/testing/fault-hooks.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { pvBinderController } from './pv-binder.ts';
import { claimAndVolumeLines } from './testing/binder-outcome.ts';
import { createClaim, createObjects, createVolume, namespace } from './testing/initial-objects.ts';

/* A stale cache must not lead to wrong writes; 4-11 and 4-12 of kube-controller-manager's TestSync, and races. */

const removed = { type: 'merge', body: { metadata: { finalizers: null } } } as const;

async function begin(resource: typeof persistentVolumes | typeof persistentVolumeClaims) {
  const fixture = await VirtualTimeCluster.start();
  const watch = new WatchGate(resource);
  fixture.run([pvBinderController()], new InterceptedCluster(fixture.cluster, watch));
  await fixture.settle();
  return { fixture, watch };
}

test('a volume whose claim is still unknown is not released', async () => {
  const { fixture, watch } = await begin(persistentVolumeClaims);
  await using _ = fixture;
  fixture.versions.isPaused = true;
  watch.hold();
  await createClaim(fixture.cluster, { name: 'c', on: 'v', phase: 'Bound' });
  await createVolume(fixture.cluster, { name: 'v', for: 'c', uid: 'own', policy: 'Delete' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).volumes).toEqual(['v: Bound for c']);
  watch.release();
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['c: Bound on v, complete']);
});

test('a volume of a recreated claim is not released because of the old claim', async () => {
  const { fixture, watch } = await begin(persistentVolumeClaims);
  await using _ = fixture;
  await createClaim(fixture.cluster, { name: 'c', on: 'v' });
  await fixture.settle();
  watch.hold();
  const claims = fixture.cluster.resource(persistentVolumeClaims);
  await claims.patch({ namespace, name: 'c' }, removed);
  await claims.delete({ namespace, name: 'c' });
  await createClaim(fixture.cluster, { name: 'c', on: 'v' });
  await createVolume(fixture.cluster, { name: 'v', for: 'c', uid: 'own', policy: 'Delete', phase: 'Bound' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).volumes).toEqual(['v: Bound for c']);
  watch.release();
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['c: Bound on v (1Gi), complete']);
});

test('a volume that another client took meanwhile stays with that client', async () => {
  const { fixture, watch } = await begin(persistentVolumes);
  await using _ = fixture;
  await createObjects(fixture.cluster, { volumes: [{ name: 'a' }, { name: 'b', size: '2Gi' }] });
  await fixture.settle();
  watch.hold();
  const body = { spec: { claimRef: { namespace, name: 'another' } } };
  await fixture.cluster.resource(persistentVolumes).patch({ name: 'a' }, { type: 'merge', body });
  await createClaim(fixture.cluster, { name: 'c' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual(['c: Pending']);
  watch.release();
  await fixture.settle();
  expect(await claimAndVolumeLines(fixture.cluster)).toEqual({
    claims: ['c: Bound on b (2Gi), by controller, complete'],
    volumes: ['a: Available for another (no uid)', 'b: Bound for c, by controller'],
  });
  expect(fixture.errors).toEqual([]);
});

test('a claimRef that was withdrawn while the volume was Available stays withdrawn', async () => {
  const { fixture, watch } = await begin(persistentVolumeClaims);
  await using _ = fixture;
  watch.hold();
  const volumes = fixture.cluster.resource(persistentVolumes);
  await createClaim(fixture.cluster, { name: 'c', className: 'elsewhere' });
  // As the scheduler does it: it writes the claimRef, then withdraws it from the version that it wrote.
  await createVolume(fixture.cluster, { name: 'v', for: 'c', uid: 'own', byController: true });
  await fixture.settle();
  const { metadata } = await volumes.get({ name: 'v' });
  const body = {
    metadata: { resourceVersion: metadata?.resourceVersion, annotations: null },
    spec: { claimRef: null },
  };
  await volumes.patch({ name: 'v' }, { type: 'merge', body });
  watch.release();
  await fixture.settle();
  expect(await claimAndVolumeLines(fixture.cluster)).toEqual({
    claims: ['c: Pending'],
    volumes: ['v: Available'],
  });
});

test('the binder has no conflicts with its own writes, however late it observes them', async () => {
  const { fixture, watch } = await begin(persistentVolumes);
  await using _ = fixture;
  await createObjects(fixture.cluster, { volumes: ['a', 'b', 'c'].map((name) => ({ name })) });
  await fixture.settle();
  watch.hold();
  for (const name of ['x', 'y', 'z']) {
    await createClaim(fixture.cluster, { name });
    await fixture.settle(0);
  }
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual([
    'x: Bound on a (1Gi), by controller, complete',
    'y: Bound on b (1Gi), by controller, complete',
    'z: Bound on c (1Gi), by controller, complete',
  ]);
  watch.release();
});

test('a volume goes to the next claim if its claim was bound to another volume first', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const intercepted = new InterceptedCluster(fixture.cluster);
  fixture.run([pvBinderController()], intercepted);
  await createObjects(fixture.cluster, { claims: [{ name: 'a', size: '2Gi' }, { name: 'b' }] });
  await fixture.settle();
  let letThrough = () => {};
  const gate = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  intercepted.addHooks({ before: ({ verb }) => (verb === 'patch' ? gate : undefined) });
  // New volumes keep every worker busy: each has to become Available, and the answers are held back.
  const busy = Array.from({ length: 20 }, (_, at) => ({ name: `busy-${at}`, className: 'other' }));
  await createObjects(fixture.cluster, {
    volumes: busy.map((volume) => ({ ...volume, phase: 'Pending' as const })),
  });
  await fixture.settle();
  await createVolume(fixture.cluster, { name: 'free', size: '2Gi' });
  await createVolume(fixture.cluster, { name: 'reserved', size: '2Gi', for: 'a' });
  await fixture.settle();
  letThrough();
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual([
    'a: Bound on reserved (2Gi), by controller, complete',
    'b: Bound on free (2Gi), by controller, complete',
  ]);
});
