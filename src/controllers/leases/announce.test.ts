import { expect, test } from 'vitest';
import { leases } from '../../cluster/resources.ts';
import { TrialCluster } from '../testing/trial-cluster.ts';
import { announce } from './announce.ts';

const announcement = { version: '0.1.0', gates: { VolumeScheduling: false } };

test('components that others compare themselves with say what they are, again and again', async () => {
  await using trial = await TrialCluster.start();
  const { cluster, clock } = trial;
  const end = new AbortController();
  const names = ['scheduler', 'pv-binder', 'namespace'];
  const announcing = announce({ cluster, clock, names, identity: 'here', announcement }, end.signal);
  await trial.settle(150_000);
  const { items } = await cluster.resource(leases).list();
  expect(items.map(({ metadata }) => metadata?.name)).toEqual(['stowage-pv-binder', 'stowage-scheduler']);
  const renewedMs = Date.parse(items[0]?.spec?.renewTime ?? '');
  const acquiredMs = Date.parse(items[0]?.spec?.acquireTime ?? '');
  expect(renewedMs - acquiredMs).toBe(120_000);
  expect(items[0]?.spec).toMatchObject({ holderIdentity: 'here', leaseDurationSeconds: 180 });
  expect(items[0]?.metadata?.annotations).toEqual({
    'stowage.dev/version': '0.1.0',
    'stowage.dev/feature-gates': 'VolumeScheduling=false',
  });
  end.abort();
  await announcing;
});
