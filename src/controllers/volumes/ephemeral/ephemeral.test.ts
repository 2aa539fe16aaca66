import { expect, test } from 'vitest';
import { events, persistentVolumeClaims, pods } from '../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { garbageCollectorController } from '../../workloads/garbage-collector.ts';
import { protectionController } from '../protection.ts';
import { ephemeralController } from './ephemeral.ts';

const namespace = 'default';
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;

async function makePod({ cluster }: VirtualTimeCluster, name = 'web'): Promise<void> {
  const volumeClaimTemplate = { metadata: { labels: { tier: 'scratch' } }, spec };
  await cluster.resource(pods).create({
    metadata: { namespace, name },
    spec: {
      containers: [{ name: 'main', image: 'pause' }],
      volumes: ['a', 'b'].map((volume) => ({ name: volume, ephemeral: { volumeClaimTemplate } })),
    },
  });
}

async function claimsOf({ cluster }: VirtualTimeCluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(persistentVolumeClaims).list();
  return items.map(({ metadata }) =>
    [metadata?.name, ...(metadata?.ownerReferences ?? []).map(({ name }) => `of ${name}`)].join(' '),
  );
}

test('each ephemeral volume of a pod gets its claim', async () => {
  await using fixture = await VirtualTimeCluster.start(ephemeralController);
  await makePod(fixture);
  await fixture.settle();
  expect(await claimsOf(fixture)).toEqual(['web-a of web', 'web-b of web']);
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'web-a' });
  expect(claim.metadata?.labels).toEqual({ tier: 'scratch' });
  expect(claim.spec).toMatchObject(spec);
});

test('the claims are deleted with their pod', async () => {
  await using fixture = await VirtualTimeCluster.start(
    ephemeralController,
    garbageCollectorController,
    protectionController,
  );
  await makePod(fixture);
  await fixture.settle();
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
  await fixture.settle();
  expect(await claimsOf(fixture)).toEqual([]);
});

test('a claim that a user deletes under a pod is created again', async () => {
  await using fixture = await VirtualTimeCluster.start(ephemeralController, protectionController);
  await makePod(fixture);
  await fixture.settle();
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'web-b' });
  await fixture.settle();
  expect(await claimsOf(fixture)).toEqual(['web-a of web', 'web-b of web']);
});

test('a claim that is not owned by the pod is refused with an Event, and replaced when it is gone', async () => {
  await using fixture = await VirtualTimeCluster.start(ephemeralController, protectionController);
  const claims = fixture.cluster.resource(persistentVolumeClaims);
  await claims.create({ metadata: { namespace, name: 'web-a' }, spec });
  await makePod(fixture);
  await fixture.settle();
  expect(await claimsOf(fixture)).toEqual(['web-a', 'web-b of web']);
  expect(await fixture.eventLines()).toEqual([
    'FailedBinding web: ephemeral volume a: PVC default/web-a was not created for pod default/web (pod is not owner)',
  ]);
  await claims.delete({ namespace, name: 'web-a' });
  await fixture.settle();
  expect(await claimsOf(fixture)).toEqual(['web-a of web', 'web-b of web']);
});

test('the Event about a foreign claim is repeated while the claim exists', async () => {
  await using fixture = await VirtualTimeCluster.start(ephemeralController);
  await fixture.cluster
    .resource(persistentVolumeClaims)
    .create({ metadata: { namespace, name: 'web-a' }, spec });
  await makePod(fixture);
  await fixture.settle(11 * 60_000);
  const { items } = await fixture.cluster.resource(events).list();
  expect(items.map(({ reason, series }) => [reason, series?.count])).toEqual([['FailedBinding', 3]]);
});

test('crashing after any write does not change the final state', async () => {
  const places = await crashControllersAtEveryWrite({
    controllers: [ephemeralController],
    prepare: async (fixture) => {
      await makePod(fixture);
      await makePod(fixture, 'db');
    },
    resources: [persistentVolumeClaims],
  });
  expect(places).toBe(4);
});
