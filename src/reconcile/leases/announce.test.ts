import { expect, test } from 'vitest';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import { leases } from '../../kube/resources.ts';
import type { Controller } from '../controller.ts';
import { announceComponents } from './announce.ts';
import { leaseKeyOf } from './component-lease.ts';
import { withLeaderElection } from './testing/with-leader-election.ts';

const announcement = { version: '0.1.0', gates: { VolumeScheduling: false } };
const idleScheduler: Controller = {
  name: 'scheduler',
  run: async ({ clock }, signal) => await clock.sleep(1e9, signal),
};

/** A process without leader election, until it ends or, as if killed, stops renewing. */
function announcing({ cluster, clock }: VirtualTimeCluster, names = ['scheduler']) {
  const end = new AbortController();
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push((error as Error).message);
  const announcementOf = () => announcement;
  const work = announceComponents({ cluster, clock, names, announcementOf, onError }, end.signal);
  const stop = async () => {
    end.abort();
    await work;
  };
  return { errors, stop };
}

async function schedulerLease({ cluster }: VirtualTimeCluster) {
  return await cluster.resource(leases).get(leaseKeyOf('scheduler'));
}

test('components that others compare themselves with announce themselves repeatedly', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const here = announcing(fixture, ['scheduler', 'pv-binder', 'namespace']);
  await fixture.settle(150_000);
  const { items } = await fixture.cluster.resource(leases).list();
  expect(items.map(({ metadata }) => metadata?.name)).toEqual(['stowage-pv-binder', 'stowage-scheduler']);
  const renewedMs = Date.parse(items[0]?.spec?.renewTime ?? '');
  const acquiredMs = Date.parse(items[0]?.spec?.acquireTime ?? '');
  expect(renewedMs - acquiredMs).toBe(120_000);
  expect(items[0]?.spec).toMatchObject({ leaseDurationSeconds: 180 });
  expect(items[0]?.metadata?.annotations).toEqual({
    'stowage.dev/version': '0.1.0',
    'stowage.dev/feature-gates': 'VolumeScheduling=false',
  });
  await here.stop();
});

test('an elected leader need not wait for a Lease that a process without election left behind', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const here = announcing(fixture);
  await fixture.settle();
  await here.stop();
  expect((await schedulerLease(fixture)).spec?.holderIdentity ?? '').toBe('');
  fixture.run([withLeaderElection(idleScheduler, { identity: 'leader' })]);
  await fixture.settle();
  expect((await schedulerLease(fixture)).spec?.holderIdentity).toBe('leader');
});

test('a process without election leaves a leader its Lease, and reports once that both run', async () => {
  await using fixture = await VirtualTimeCluster.start();
  fixture.run([withLeaderElection(idleScheduler, { identity: 'leader' })]);
  await fixture.settle();
  const here = announcing(fixture);
  await fixture.settle(150_000);
  expect((await schedulerLease(fixture)).spec).toMatchObject({
    holderIdentity: 'leader',
    leaseTransitions: 0,
  });
  expect(here.errors).toEqual([
    'scheduler runs here without leader election, and leader holds Lease kube-system/stowage-scheduler: both are active; ' +
      'stop one of them, run stowage run with leader election (without --leader-elect=false), or run stowage up without this controller (--controllers -scheduler)',
  ]);
  await here.stop();
});

test('a process without election announces itself if the last leader crashed long ago', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const renewTime = new Date(fixture.clock.nowMs()).toISOString().replace('Z', '000Z');
  await fixture.cluster.resource(leases).create({
    metadata: leaseKeyOf('scheduler'),
    spec: { holderIdentity: 'crashed', leaseDurationSeconds: 15, renewTime },
  });
  const here = announcing(fixture);
  await fixture.settle(150_000);
  const { spec, metadata } = await schedulerLease(fixture);
  expect(spec?.holderIdentity).toBeUndefined();
  expect(metadata?.annotations).toMatchObject({ 'stowage.dev/version': '0.1.0' });
  await here.stop();
});
