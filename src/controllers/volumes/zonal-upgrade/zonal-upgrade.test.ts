import { expect, test } from 'vitest';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { nodes, persistentVolumes, pods } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { zonalUpgradeController } from './zonal-upgrade.ts';

const namespace = 'default';
const disk = { capacity: { storage: '100Gi' }, accessModes: ['ReadWriteOnce'] } as const;

async function makeVolume({ cluster }: VirtualTimeCluster, name: string, zone: string): Promise<void> {
  await cluster.resource(persistentVolumes).create({
    metadata: { name, labels: { [labels.betaZone]: zone } },
    spec: { ...disk, gcePersistentDisk: { pdName: name }, claimRef: { namespace, name: 'data' } },
  });
}

async function read({ cluster }: VirtualTimeCluster, name: string): Promise<PersistentVolume> {
  return await cluster.resource(persistentVolumes).get({ name });
}

async function useOn({ cluster }: VirtualTimeCluster, nodeName: string): Promise<void> {
  await cluster.resource(pods).create({
    metadata: { namespace, name: 'web' },
    spec: {
      nodeName,
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
}

const inZoneA = {
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: labels.betaZone, operator: 'In', values: ['a'] }] }],
  },
};

test('a volume with a zone label gets an affinity and keeps its label', async () => {
  await using fixture = await VirtualTimeCluster.start(zonalUpgradeController);
  await makeVolume(fixture, 'v', 'a');
  await fixture.settle();
  const { metadata, spec } = await read(fixture, 'v');
  expect(spec?.nodeAffinity).toEqual(inZoneA);
  expect(metadata?.labels).toEqual({ [labels.betaZone]: 'a' });
  expect(await fixture.eventLines()).toEqual([
    'ZonalUpgrade v: node affinity set from zone and region labels',
  ]);
});

test('a volume that has its affinity is not written again', async () => {
  await using fixture = await VirtualTimeCluster.start(zonalUpgradeController);
  await makeVolume(fixture, 'v', 'a');
  await fixture.settle();
  const { metadata } = await read(fixture, 'v');
  fixture.run([zonalUpgradeController]);
  await fixture.settle();
  expect((await read(fixture, 'v')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
});

test('a volume in use on a node that it would lose waits until the node is in the zone', async () => {
  await using fixture = await VirtualTimeCluster.start(zonalUpgradeController);
  const client = fixture.cluster.resource(nodes);
  await client.create({ metadata: { name: 'n1' } });
  await useOn(fixture, 'n1');
  await makeVolume(fixture, 'v', 'a');
  await fixture.settle();
  expect((await read(fixture, 'v')).spec?.nodeAffinity).toBeUndefined();
  expect(await fixture.eventLines()).toEqual([
    'ZonalUpgradeRefused v: pod default/web uses it on node n1, which has no zone or region label; a node affinity cannot be changed later, so correct the labels of the node or the volume, or delete the pod first',
  ]);
  const body = { metadata: { labels: { [labels.betaZone]: 'a' } } };
  await client.patch({ name: 'n1' }, { type: 'merge', body });
  await fixture.settle();
  expect((await read(fixture, 'v')).spec?.nodeAffinity).toEqual(inZoneA);
});

test('a volume in use on a node that it would lose waits until the pod is gone', async () => {
  await using fixture = await VirtualTimeCluster.start(zonalUpgradeController);
  await fixture.cluster.resource(nodes).create({ metadata: { name: 'n1' } });
  await useOn(fixture, 'n1');
  await makeVolume(fixture, 'v', 'a');
  await fixture.settle();
  expect((await read(fixture, 'v')).spec?.nodeAffinity).toBeUndefined();
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
  await fixture.settle();
  expect((await read(fixture, 'v')).spec?.nodeAffinity).toEqual(inZoneA);
});

test('crashing after any write does not change the final state', async () => {
  const places = await crashControllersAtEveryWrite({
    controllers: [zonalUpgradeController],
    prepare: async (fixture) => {
      for (const name of ['v1', 'v2', 'v3']) await makeVolume(fixture, name, 'a__b');
    },
    resources: [persistentVolumes],
  });
  expect(places).toBeGreaterThanOrEqual(3);
});
