import { expect, test } from 'vitest';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { events, persistentVolumeClaims } from '../../../kube/resources.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { pvBinder } from './pv-binder.ts';
import { linesOf } from './testing/reading.ts';
import { type ClaimSketch, namespace, put } from './testing/sketches.ts';

/* What comes of looking at everything once in a while. That it finds nothing to do is checked at the end of every trial. */

const minuteMs = 60_000;

const classes: readonly StorageClass[] = [
  { metadata: { name: 'other' }, provisioner: 'p.example.com' },
  { metadata: { name: 'late' }, provisioner: 'p.example.com', volumeBindingMode: 'WaitForFirstConsumer' },
];

/** What was told so far, as `REASON COUNT`, sorted. */
async function counts({ cluster }: TrialCluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(events).list();
  return items.map(({ reason, series }) => `${reason} ${series?.count ?? 1}`).sort();
}

const waiting: readonly (readonly [string, Omit<ClaimSketch, 'name'>])[] = [
  ['FailedBinding', { size: '2Gi' }],
  ['WaitForFirstConsumer', { className: 'late' }],
  ['ExternalProvisioning', { className: 'other' }],
  ['ProvisioningFailed', { className: 'none' }],
  ['VolumeMismatch', { on: 'small', size: '2Gi' }],
];

test.each(waiting)('a claim that waits is told of again while it waits: %s', async (reason, sketch) => {
  await using trial = await TrialCluster.start(pvBinder);
  await put(trial.cluster, { classes, claims: [{ name: 'c', ...sketch }], volumes: [{ name: 'small' }] });
  await trial.settle(2 * minuteMs);
  const [first] = await counts(trial);
  const told = Number(first?.split(' ')[1]);
  await trial.settle(14 * minuteMs);
  expect(await counts(trial)).toEqual([`${reason} ${told + 3}`]);
});

test('what is told of a claim that waits for hours never runs out', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  await put(trial.cluster, { claims: [{ name: 'c' }] });
  await trial.settle(minuteMs);
  for (let hour = 1; hour <= 3; hour += 1) {
    await trial.settle(60 * minuteMs);
    const { items } = await trial.cluster.resource(events).list();
    const lastMs = items.map(({ series }) => Date.parse(series?.lastObservedTime ?? ''));
    expect(trial.clock.nowMs() - Math.max(...lastMs)).toBeLessThan(6 * minuteMs);
  }
});

test('claims and volumes that are well, lost or failed are looked at in silence', async () => {
  await using trial = await TrialCluster.start();
  const gone = { for: 'x', uid: 'other', phase: 'Bound', policy: 'Delete' } as const;
  await put(trial.cluster, {
    claims: [{ name: 'c' }, { name: 'd', on: 'gone', isComplete: true, phase: 'Bound' }],
    volumes: [{ name: 'v' }, { name: 'failed', ...gone, source: { hostPath: { path: '/mnt/a' } } }],
  });
  trial.run([pvBinder]);
  await trial.settle();
  const client = trial.cluster.resource(persistentVolumeClaims);
  const before = [await linesOf(trial.cluster), await client.get({ namespace, name: 'c' })];
  await trial.settle(16 * minuteMs);
  expect([await linesOf(trial.cluster), await client.get({ namespace, name: 'c' })]).toEqual(before);
  expect(await counts(trial)).toEqual(['ClaimLost 1', 'VolumeFailedDelete 1']);
});
