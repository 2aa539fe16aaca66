import { expect, test } from 'vitest';
import { TrialCluster } from '../../controllers/testing/trial-cluster.ts';
import { leases } from '../../kube/resources.ts';
import type { Controller } from '../controller.ts';
import { announce } from './announce.ts';
import { leaseKeyOf } from './component-lease.ts';
import { elected } from './testing/elected.ts';

const announcement = { version: '0.1.0', gates: { VolumeScheduling: false } };
const idleScheduler: Controller = {
  name: 'scheduler',
  run: async ({ clock }, signal) => await clock.sleep(1e9, signal),
};

/** A process without election, until it is ended or, as when it is killed, just never heard of again. */
function announcing({ cluster, clock }: TrialCluster, names = ['scheduler']) {
  const end = new AbortController();
  const troubles: string[] = [];
  const onTrouble = (error: unknown) => void troubles.push((error as Error).message);
  const work = announce({ cluster, clock, names, announcement, onTrouble }, end.signal);
  const stop = async () => {
    end.abort();
    await work;
  };
  return { troubles, stop };
}

async function schedulerLease({ cluster }: TrialCluster) {
  return await cluster.resource(leases).get(leaseKeyOf('scheduler'));
}

test('components that others compare themselves with say what they are, again and again', async () => {
  await using trial = await TrialCluster.start();
  const here = announcing(trial, ['scheduler', 'pv-binder', 'namespace']);
  await trial.settle(150_000);
  const { items } = await trial.cluster.resource(leases).list();
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

test('whoever is elected need not wait for what one without election left behind', async () => {
  await using trial = await TrialCluster.start();
  const here = announcing(trial);
  await trial.settle();
  await here.stop();
  expect((await schedulerLease(trial)).spec?.holderIdentity ?? '').toBe('');
  trial.run([elected(idleScheduler, { identity: 'leader' })]);
  await trial.settle();
  expect((await schedulerLease(trial)).spec?.holderIdentity).toBe('leader');
});

test('one without election leaves a leader its Lease, and says once that both work', async () => {
  await using trial = await TrialCluster.start();
  trial.run([elected(idleScheduler, { identity: 'leader' })]);
  await trial.settle();
  const here = announcing(trial);
  await trial.settle(150_000);
  expect((await schedulerLease(trial)).spec).toMatchObject({ holderIdentity: 'leader', leaseTransitions: 0 });
  expect(here.troubles).toEqual([
    'scheduler runs here without election, and leader was elected by Lease kube-system/stowage-scheduler: both work; ' +
      'end one of them, let stowage run elect (without --leader-elect=false), or have stowage up do without (--controllers -scheduler)',
  ]);
  await here.stop();
});

test('one without election says what it is where a leader died long ago', async () => {
  await using trial = await TrialCluster.start();
  const renewTime = new Date(trial.clock.nowMs()).toISOString().replace('Z', '000Z');
  await trial.cluster.resource(leases).create({
    metadata: leaseKeyOf('scheduler'),
    spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime },
  });
  const here = announcing(trial);
  await trial.settle(150_000);
  const { spec, metadata } = await schedulerLease(trial);
  expect(spec?.holderIdentity).toBeUndefined();
  expect(metadata?.annotations).toMatchObject({ 'stowage.dev/version': '0.1.0' });
  await here.stop();
});
