import { expect, test } from 'vitest';
import type { StatefulSetSpec } from '../../kube/api/apps.ts';
import { persistentVolumeClaims, statefulSets } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { changeSet, makeSet, setTemplate } from '../workloads/stateful-set/testing/sets.ts';
import { controllersWithScheduler, LifecycleFixture, namespace } from './testing/lifecycle-fixture.ts';

const claimSpec = {
  storageClassName: 'standard',
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
} as const;
const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claimSpec }];

/** All pods go to b1, the only node. */
function startScheduled(): Promise<LifecycleFixture> {
  return LifecycleFixture.start({ nodes: ['b1 b r1'], controllers: controllersWithScheduler() });
}

async function startSet(spec: StatefulSetSpec): Promise<LifecycleFixture> {
  const fixture = await startScheduled();
  await makeSet(fixture.cluster, { volumeClaimTemplates, template: setTemplate('v1'), ...spec });
  await fixture.settle();
  return fixture;
}

function linesUpTo(replicas: number, claims = replicas): readonly string[] {
  const numbers = Array.from({ length: claims }, (_, index) => index);
  return [
    ...numbers.map((index) => `claim data-web-${index} Bound`),
    ...numbers.slice(0, replicas).map((index) => `pod web-${index} Running on b1`),
    ...numbers.map((index) => `volume for data-web-${index} Bound`),
  ];
}

test('a StatefulSet creates its claims, and keeps them when it is scaled down', async () => {
  await using fixture = await startSet({ replicas: 2 });
  expect(await fixture.lines()).toEqual(linesUpTo(2));
  await changeSet(fixture.cluster, { replicas: 3 });
  await fixture.settle();
  expect(await fixture.lines()).toEqual(linesUpTo(3));
  const kept = (await fixture.claim('data-web-2')).spec?.volumeName;
  await changeSet(fixture.cluster, { replicas: 1 });
  await fixture.settle();
  expect(await fixture.lines()).toEqual(linesUpTo(1, 3));
  await changeSet(fixture.cluster, { replicas: 3 });
  await fixture.settle();
  expect(await fixture.lines()).toEqual(linesUpTo(3));
  expect((await fixture.claim('data-web-2')).spec?.volumeName).toBe(kept);
  fixture.expectNoErrors();
});

test('with the policy Delete, claims and volumes are deleted when the set is scaled down, and when it is deleted', async () => {
  await using fixture = await startSet({
    replicas: 3,
    persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
  });
  expect(await fixture.lines()).toEqual(linesUpTo(3));
  await changeSet(fixture.cluster, { replicas: 1 });
  await fixture.settle();
  expect(await fixture.lines()).toEqual(linesUpTo(1));
  await fixture.cluster.resource(statefulSets).delete({ namespace, name: 'web' });
  await fixture.settle();
  expect(await fixture.lines()).toEqual([]);
});

test('with the policy Retain, claims and volumes outlive the set', async () => {
  await using fixture = await startSet({ replicas: 2 });
  await fixture.cluster.resource(statefulSets).delete({ namespace, name: 'web' });
  await fixture.settle();
  expect(await fixture.lines()).toEqual(linesUpTo(0, 2));
});

test('the claim and the volume of an ephemeral volume are created and deleted with the pod', async () => {
  await using fixture = await startScheduled();
  const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }];
  await fixture.makePod('web', [], { volumes });
  await fixture.settle();
  expect(await fixture.lines()).toEqual([
    'claim web-scratch Bound',
    'pod web Running on b1',
    'volume for web-scratch Bound',
  ]);
  await fixture.deletePod('web');
  await fixture.settle();
  expect(await fixture.lines()).toEqual([]);
  fixture.expectNoErrors();
});

test('a claim that is deleted while its volume is being provisioned leaves nothing behind', async () => {
  await using fixture = await LifecycleFixture.start();
  await fixture.makeClaim();
  await fixture.selectNode('data', 'a1');
  await fixture.deleteClaim('data');
  await fixture.settle();
  expect(await fixture.lines()).toEqual([]);
});

test('a selected node in an alpha annotation works as well', async () => {
  await using fixture = await LifecycleFixture.start();
  await fixture.makeClaim();
  await fixture.annotateClaim('data', { 'volume.alpha.kubernetes.io/selected-node': 'a1' });
  await fixture.settle();
  const { items } = await fixture.cluster.resource(persistentVolumeClaims).list();
  expect(items[0]?.metadata?.annotations).not.toHaveProperty(annotations.selectedNode);
  expect(await fixture.lines()).toEqual(['claim data Bound', 'volume for data Bound']);
});
