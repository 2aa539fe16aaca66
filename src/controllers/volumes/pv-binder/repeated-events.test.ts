import { expect, test } from 'vitest';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { events, persistentVolumeClaims } from '../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { pvBinderController } from './pv-binder.ts';
import { claimAndVolumeLines } from './testing/binder-outcome.ts';
import { createObjects, type InitialClaim, namespace } from './testing/initial-objects.ts';

/* The effects of sweeps. Every fixture checks at its end that sweeps found nothing to do. */

const minuteMs = 60_000;

const classes: readonly StorageClass[] = [
  { metadata: { name: 'other' }, provisioner: 'p.example.com' },
  { metadata: { name: 'late' }, provisioner: 'p.example.com', volumeBindingMode: 'WaitForFirstConsumer' },
];

/** The recorded Events as `REASON COUNT`, sorted. */
async function counts({ cluster }: VirtualTimeCluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(events).list();
  return items.map(({ reason, series }) => `${reason} ${series?.count ?? 1}`).sort();
}

const waiting: readonly (readonly [string, Omit<InitialClaim, 'name'>])[] = [
  ['FailedBinding', { size: '2Gi' }],
  ['WaitForFirstConsumer', { className: 'late' }],
  ['ExternalProvisioning', { className: 'other' }],
  ['ProvisioningFailed', { className: 'none' }],
  ['VolumeMismatch', { on: 'small', size: '2Gi' }],
];

test.each(waiting)('the Event of a waiting claim is repeated while it waits: %s', async (reason, sketch) => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createObjects(fixture.cluster, {
    classes,
    claims: [{ name: 'c', ...sketch }],
    volumes: [{ name: 'small' }],
  });
  await fixture.settle(2 * minuteMs);
  const [first] = await counts(fixture);
  const count = Number(first?.split(' ')[1]);
  await fixture.settle(14 * minuteMs);
  expect(await counts(fixture)).toEqual([`${reason} ${count + 3}`]);
});

test('the Events of a claim that waits for hours never expire', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createObjects(fixture.cluster, { claims: [{ name: 'c' }] });
  await fixture.settle(minuteMs);
  for (let hour = 1; hour <= 3; hour += 1) {
    await fixture.settle(60 * minuteMs);
    const { items } = await fixture.cluster.resource(events).list();
    const lastMs = items.map(({ series }) => Date.parse(series?.lastObservedTime ?? ''));
    expect(fixture.clock.nowMs() - Math.max(...lastMs)).toBeLessThan(6 * minuteMs);
  }
});

test('bound, lost and failed claims and volumes get no repeated Events', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const gone = { for: 'x', uid: 'other', phase: 'Bound', policy: 'Delete' } as const;
  await createObjects(fixture.cluster, {
    claims: [{ name: 'c' }, { name: 'd', on: 'gone', isComplete: true, phase: 'Bound' }],
    volumes: [{ name: 'v' }, { name: 'failed', ...gone, source: { hostPath: { path: '/mnt/a' } } }],
  });
  fixture.run([pvBinderController()]);
  await fixture.settle();
  const client = fixture.cluster.resource(persistentVolumeClaims);
  const before = [await claimAndVolumeLines(fixture.cluster), await client.get({ namespace, name: 'c' })];
  await fixture.settle(16 * minuteMs);
  expect([await claimAndVolumeLines(fixture.cluster), await client.get({ namespace, name: 'c' })]).toEqual(
    before,
  );
  expect(await counts(fixture)).toEqual(['ClaimLost 1', 'VolumeFailedDelete 1']);
});
