import { expect, test } from 'vitest';
import { events, persistentVolumeClaims, pods } from '../../../kube/resources.ts';
import { crashEverywhere } from '../../testing/crash-everywhere.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { garbageCollector } from '../../workloads/garbage-collector.ts';
import { protection } from '../protection.ts';
import { ephemeral } from './ephemeral.ts';

const namespace = 'default';
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;

async function makePod({ cluster }: TrialCluster, name = 'web'): Promise<void> {
  const volumeClaimTemplate = { metadata: { labels: { tier: 'scratch' } }, spec };
  await cluster.resource(pods).create({
    metadata: { namespace, name },
    spec: {
      containers: [{ name: 'main', image: 'pause' }],
      volumes: ['a', 'b'].map((volume) => ({ name: volume, ephemeral: { volumeClaimTemplate } })),
    },
  });
}

async function claimsOf({ cluster }: TrialCluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(persistentVolumeClaims).list();
  return items.map(({ metadata }) =>
    [metadata?.name, ...(metadata?.ownerReferences ?? []).map(({ name }) => `of ${name}`)].join(' '),
  );
}

test('each ephemeral volume of a pod gets its claim', async () => {
  await using trial = await TrialCluster.start(ephemeral);
  await makePod(trial);
  await trial.settle();
  expect(await claimsOf(trial)).toEqual(['web-a of web', 'web-b of web']);
  const claim = await trial.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'web-a' });
  expect(claim.metadata?.labels).toEqual({ tier: 'scratch' });
  expect(claim.spec).toMatchObject(spec);
});

test('the claims go with their pod', async () => {
  await using trial = await TrialCluster.start(ephemeral, garbageCollector, protection);
  await makePod(trial);
  await trial.settle();
  await trial.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
  await trial.settle();
  expect(await claimsOf(trial)).toEqual([]);
});

test('a claim that somebody deletes under a pod is made again', async () => {
  await using trial = await TrialCluster.start(ephemeral, protection);
  await makePod(trial);
  await trial.settle();
  await trial.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'web-b' });
  await trial.settle();
  expect(await claimsOf(trial)).toEqual(['web-a of web', 'web-b of web']);
});

test('a claim that is not the pod’s is refused with an Event, and replaced when it is gone', async () => {
  await using trial = await TrialCluster.start(ephemeral, protection);
  const claims = trial.cluster.resource(persistentVolumeClaims);
  await claims.create({ metadata: { namespace, name: 'web-a' }, spec });
  await makePod(trial);
  await trial.settle();
  expect(await claimsOf(trial)).toEqual(['web-a', 'web-b of web']);
  expect(await trial.told()).toEqual([
    'FailedBinding web: ephemeral volume a: PVC default/web-a was not created for pod default/web (pod is not owner)',
  ]);
  await claims.delete({ namespace, name: 'web-a' });
  await trial.settle();
  expect(await claimsOf(trial)).toEqual(['web-a of web', 'web-b of web']);
});

test('that a claim is not the pod’s is told again while it is so', async () => {
  await using trial = await TrialCluster.start(ephemeral);
  await trial.cluster
    .resource(persistentVolumeClaims)
    .create({ metadata: { namespace, name: 'web-a' }, spec });
  await makePod(trial);
  await trial.settle(11 * 60_000);
  const { items } = await trial.cluster.resource(events).list();
  expect(items.map(({ reason, series }) => [reason, series?.count])).toEqual([['FailedBinding', 3]]);
});

test('dying after any write changes nothing about the end', async () => {
  const places = await crashEverywhere({
    controllers: [ephemeral],
    prepare: async (trial) => {
      await makePod(trial);
      await makePod(trial, 'db');
    },
    resources: [persistentVolumeClaims],
  });
  expect(places).toBe(4);
});
