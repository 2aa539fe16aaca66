import { expect, test } from 'vitest';
import type { StatefulSetSpec } from '../../kube/api/apps.ts';
import { persistentVolumeClaims, statefulSets } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { changeSet, makeSet, templateOf } from '../workloads/stateful-set/testing/sets.ts';
import { Life, namespace, withScheduler } from './testing/life.ts';

const claimSpec = {
  storageClassName: 'standard',
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
} as const;
const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claimSpec }];

/** Everything goes to b1, where else? */
function startScheduled(): Promise<Life> {
  return Life.start({ nodes: ['b1 b r1'], controllers: withScheduler() });
}

async function startSet(spec: StatefulSetSpec): Promise<Life> {
  const life = await startScheduled();
  await makeSet(life.cluster, { volumeClaimTemplates, template: templateOf('v1'), ...spec });
  await life.settle();
  return life;
}

function linesUpTo(replicas: number, claims = replicas): readonly string[] {
  const numbers = Array.from({ length: claims }, (_, index) => index);
  return [
    ...numbers.map((index) => `claim data-web-${index} Bound`),
    ...numbers.slice(0, replicas).map((index) => `pod web-${index} Running on b1`),
    ...numbers.map((index) => `volume for data-web-${index} Bound`),
  ];
}

test('a StatefulSet brings its claims up with it, and keeps them when it shrinks', async () => {
  await using life = await startSet({ replicas: 2 });
  expect(await life.lines()).toEqual(linesUpTo(2));
  await changeSet(life.cluster, { replicas: 3 });
  await life.settle();
  expect(await life.lines()).toEqual(linesUpTo(3));
  const kept = (await life.claim('data-web-2')).spec?.volumeName;
  await changeSet(life.cluster, { replicas: 1 });
  await life.settle();
  expect(await life.lines()).toEqual(linesUpTo(1, 3));
  await changeSet(life.cluster, { replicas: 3 });
  await life.settle();
  expect(await life.lines()).toEqual(linesUpTo(3));
  expect((await life.claim('data-web-2')).spec?.volumeName).toBe(kept);
  life.expectNoTroubles();
});

test('with the policy Delete, claims and volumes go when it shrinks, and when it goes', async () => {
  await using life = await startSet({
    replicas: 3,
    persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
  });
  expect(await life.lines()).toEqual(linesUpTo(3));
  await changeSet(life.cluster, { replicas: 1 });
  await life.settle();
  expect(await life.lines()).toEqual(linesUpTo(1));
  await life.cluster.resource(statefulSets).delete({ namespace, name: 'web' });
  await life.settle();
  expect(await life.lines()).toEqual([]);
});

test('with the policy Retain, claims and volumes outlive the set', async () => {
  await using life = await startSet({ replicas: 2 });
  await life.cluster.resource(statefulSets).delete({ namespace, name: 'web' });
  await life.settle();
  expect(await life.lines()).toEqual(linesUpTo(0, 2));
});

test('the claim and the volume of an ephemeral volume come and go with the pod', async () => {
  await using life = await startScheduled();
  const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }];
  await life.makePod('web', [], { volumes });
  await life.settle();
  expect(await life.lines()).toEqual([
    'claim web-scratch Bound',
    'pod web Running on b1',
    'volume for web-scratch Bound',
  ]);
  await life.deletePod('web');
  await life.settle();
  expect(await life.lines()).toEqual([]);
  life.expectNoTroubles();
});

test('a claim that is deleted while its volume is being asked for leaves nothing behind', async () => {
  await using life = await Life.start();
  await life.makeClaim();
  await life.selectNode('data', 'a1');
  await life.deleteClaim('data');
  await life.settle();
  expect(await life.lines()).toEqual([]);
});

test('a selected node in an annotation of the alpha serves as well', async () => {
  await using life = await Life.start();
  await life.makeClaim();
  await life.annotateClaim('data', { 'volume.alpha.kubernetes.io/selected-node': 'a1' });
  await life.settle();
  const { items } = await life.cluster.resource(persistentVolumeClaims).list();
  expect(items[0]?.metadata?.annotations).not.toHaveProperty(annotations.selectedNode);
  expect(await life.lines()).toEqual(['claim data Bound', 'volume for data Bound']);
});
