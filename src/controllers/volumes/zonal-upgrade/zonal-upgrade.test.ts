import { expect, test } from 'vitest';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { nodes, persistentVolumes, pods } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { crashEverywhere } from '../../testing/crash-everywhere.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { zonalUpgrade } from './zonal-upgrade.ts';

const namespace = 'default';
const disk = { capacity: { storage: '100Gi' }, accessModes: ['ReadWriteOnce'] } as const;

async function makeVolume({ cluster }: TrialCluster, name: string, zone: string): Promise<void> {
  await cluster.resource(persistentVolumes).create({
    metadata: { name, labels: { [labels.betaZone]: zone } },
    spec: { ...disk, gcePersistentDisk: { pdName: name }, claimRef: { namespace, name: 'data' } },
  });
}

async function read({ cluster }: TrialCluster, name: string): Promise<PersistentVolume> {
  return await cluster.resource(persistentVolumes).get({ name });
}

async function useOn({ cluster }: TrialCluster, nodeName: string): Promise<void> {
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
  await using trial = await TrialCluster.start(zonalUpgrade);
  await makeVolume(trial, 'v', 'a');
  await trial.settle();
  const { metadata, spec } = await read(trial, 'v');
  expect(spec?.nodeAffinity).toEqual(inZoneA);
  expect(metadata?.labels).toEqual({ [labels.betaZone]: 'a' });
  expect(await trial.told()).toEqual(['ZonalUpgrade v: node affinity set from zone and region labels']);
});

test('a volume that has its affinity is not written again', async () => {
  await using trial = await TrialCluster.start(zonalUpgrade);
  await makeVolume(trial, 'v', 'a');
  await trial.settle();
  const { metadata } = await read(trial, 'v');
  trial.run([zonalUpgrade]);
  await trial.settle();
  expect((await read(trial, 'v')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
});

test('a volume in use on a node that it would lose waits until the node is in the zone', async () => {
  await using trial = await TrialCluster.start(zonalUpgrade);
  const client = trial.cluster.resource(nodes);
  await client.create({ metadata: { name: 'n1' } });
  await useOn(trial, 'n1');
  await makeVolume(trial, 'v', 'a');
  await trial.settle();
  expect((await read(trial, 'v')).spec?.nodeAffinity).toBeUndefined();
  expect(await trial.told()).toEqual([
    'ZonalUpgradeRefused v: pod default/web uses it on node n1, which has no zone or region label; a node affinity cannot be changed later, so correct the labels of the node or the volume, or end the pod first',
  ]);
  const body = { metadata: { labels: { [labels.betaZone]: 'a' } } };
  await client.patch({ name: 'n1' }, { type: 'merge', body });
  await trial.settle();
  expect((await read(trial, 'v')).spec?.nodeAffinity).toEqual(inZoneA);
});

test('a volume in use on a node that it would lose waits until the pod is gone', async () => {
  await using trial = await TrialCluster.start(zonalUpgrade);
  await trial.cluster.resource(nodes).create({ metadata: { name: 'n1' } });
  await useOn(trial, 'n1');
  await makeVolume(trial, 'v', 'a');
  await trial.settle();
  expect((await read(trial, 'v')).spec?.nodeAffinity).toBeUndefined();
  await trial.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
  await trial.settle();
  expect((await read(trial, 'v')).spec?.nodeAffinity).toEqual(inZoneA);
});

test('dying after any write changes nothing about the end', async () => {
  const places = await crashEverywhere({
    controllers: [zonalUpgrade],
    prepare: async (trial) => {
      for (const name of ['v1', 'v2', 'v3']) await makeVolume(trial, name, 'a__b');
    },
    resources: [persistentVolumes],
  });
  expect(places).toBeGreaterThanOrEqual(3);
});
