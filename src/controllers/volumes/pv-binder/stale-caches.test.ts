import { expect, test } from 'vitest';
import { WatchGate } from '../../../cluster/testing/fault-hooks.ts';
import { InterceptedCluster } from '../../../cluster/testing/intercepted-cluster.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { pvBinder } from './pv-binder.ts';
import { linesOf } from './testing/reading.ts';
import { namespace, put, putClaim, putVolume } from './testing/sketches.ts';

/* What the binder hasn't heard of yet must not make it do harm; 4-11 and 4-12 of kube-controller-manager's TestSync, and races. */

const removed = { type: 'merge', body: { metadata: { finalizers: null } } } as const;

async function begin(resource: typeof persistentVolumes | typeof persistentVolumeClaims) {
  const trial = await TrialCluster.start();
  const watch = new WatchGate(resource);
  trial.run([pvBinder], new InterceptedCluster(trial.cluster, watch));
  await trial.settle();
  return { trial, watch };
}

test('a volume whose claim is still unknown is not released', async () => {
  const { trial, watch } = await begin(persistentVolumeClaims);
  await using _ = trial;
  watch.hold();
  await putClaim(trial.cluster, { name: 'c', on: 'v', phase: 'Bound' });
  await putVolume(trial.cluster, { name: 'v', for: 'c', uid: 'own', policy: 'Delete' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).volumes).toEqual(['v: Bound for c']);
  watch.release();
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Bound on v, complete']);
});

test('a volume of a claim that was made anew is not released because of the old one', async () => {
  const { trial, watch } = await begin(persistentVolumeClaims);
  await using _ = trial;
  await putClaim(trial.cluster, { name: 'c', on: 'v' });
  await trial.settle();
  watch.hold();
  const claims = trial.cluster.resource(persistentVolumeClaims);
  await claims.patch({ namespace, name: 'c' }, removed);
  await claims.delete({ namespace, name: 'c' });
  await putClaim(trial.cluster, { name: 'c', on: 'v' });
  await putVolume(trial.cluster, { name: 'v', for: 'c', uid: 'own', policy: 'Delete', phase: 'Bound' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).volumes).toEqual(['v: Bound for c']);
  watch.release();
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Bound on v (1Gi), complete']);
});

test('a volume that somebody else took meanwhile is not taken from them', async () => {
  const { trial, watch } = await begin(persistentVolumes);
  await using _ = trial;
  await put(trial.cluster, { volumes: [{ name: 'a' }, { name: 'b', size: '2Gi' }] });
  await trial.settle();
  watch.hold();
  const body = { spec: { claimRef: { namespace, name: 'another' } } };
  await trial.cluster.resource(persistentVolumes).patch({ name: 'a' }, { type: 'merge', body });
  await putClaim(trial.cluster, { name: 'c' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Pending']);
  watch.release();
  await trial.settle();
  expect(await linesOf(trial.cluster)).toEqual({
    claims: ['c: Bound on b (2Gi), by controller, complete'],
    volumes: ['a: Available for another (no uid)', 'b: Bound for c, by controller'],
  });
  expect(trial.troubles).toEqual([]);
});

test('a claimRef that was withdrawn while the volume was Available stays withdrawn', async () => {
  const { trial, watch } = await begin(persistentVolumeClaims);
  await using _ = trial;
  watch.hold();
  const volumes = trial.cluster.resource(persistentVolumes);
  await putClaim(trial.cluster, { name: 'c', className: 'elsewhere' });
  // As the scheduler does it: the claimRef is written, then taken back from the version that it wrote.
  await putVolume(trial.cluster, { name: 'v', for: 'c', uid: 'own', byController: true });
  await trial.settle();
  const { metadata } = await volumes.get({ name: 'v' });
  const body = {
    metadata: { resourceVersion: metadata?.resourceVersion, annotations: null },
    spec: { claimRef: null },
  };
  await volumes.patch({ name: 'v' }, { type: 'merge', body });
  watch.release();
  await trial.settle();
  expect(await linesOf(trial.cluster)).toEqual({ claims: ['c: Pending'], volumes: ['v: Available'] });
});

test('the binder trips over no write of its own, however late it hears of it', async () => {
  const { trial, watch } = await begin(persistentVolumes);
  await using _ = trial;
  await put(trial.cluster, { volumes: ['a', 'b', 'c'].map((name) => ({ name })) });
  await trial.settle();
  watch.hold();
  for (const name of ['x', 'y', 'z']) {
    await putClaim(trial.cluster, { name });
    await trial.settle(0);
  }
  expect((await linesOf(trial.cluster)).claims).toEqual([
    'x: Bound on a (1Gi), by controller, complete',
    'y: Bound on b (1Gi), by controller, complete',
    'z: Bound on c (1Gi), by controller, complete',
  ]);
  watch.release();
});

test('a volume whose claim was served otherwise before its turn goes to the next', async () => {
  await using trial = await TrialCluster.start();
  const intercepted = new InterceptedCluster(trial.cluster);
  trial.run([pvBinder], intercepted);
  await put(trial.cluster, { claims: [{ name: 'a', size: '2Gi' }, { name: 'b' }] });
  await trial.settle();
  let letThrough = () => {};
  const gate = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  intercepted.addHooks({ before: ({ verb }) => (verb === 'patch' ? gate : undefined) });
  // New volumes keep every worker busy: each has to be made Available, and the answers don't come.
  const busy = Array.from({ length: 20 }, (_, at) => ({ name: `busy-${at}`, className: 'other' }));
  await put(trial.cluster, { volumes: busy.map((volume) => ({ ...volume, phase: 'Pending' as const })) });
  await trial.settle();
  await putVolume(trial.cluster, { name: 'free', size: '2Gi' });
  await putVolume(trial.cluster, { name: 'reserved', size: '2Gi', for: 'a' });
  await trial.settle();
  letThrough();
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual([
    'a: Bound on reserved (2Gi), by controller, complete',
    'b: Bound on free (2Gi), by controller, complete',
  ]);
});
