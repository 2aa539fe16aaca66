import { expect, test } from 'vitest';
import {
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttachments,
} from '../../kube/resources.ts';
import { noProvisioner } from '../../kube/well-known.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { controllersWithScheduler, LifecycleFixture, namespace } from './testing/lifecycle-fixture.ts';

const running = ['claim data Bound', 'pod web Running on a1', 'volume for data Bound'];

async function startRunning(): Promise<LifecycleFixture> {
  const fixture = await LifecycleFixture.start();
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  expect(await fixture.lines()).toEqual(running);
  return fixture;
}

async function attachments(fixture: LifecycleFixture): Promise<number> {
  return (await fixture.cluster.resource(volumeAttachments).list()).items.length;
}

test('a namespace is deleted with its pods, claims and their volumes', async () => {
  await using fixture = await LifecycleFixture.start({
    nodes: ['a1 a r1'],
    controllers: controllersWithScheduler(),
  });
  await fixture.cluster.resource(namespaces).create({ metadata: { name: 'team' } });
  const spec = {
    storageClassName: 'standard',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
  } as const;
  const claim = { metadata: { namespace: 'team', name: 'data' }, spec };
  await fixture.cluster.resource(persistentVolumeClaims).create(claim);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const containers = [{ name: 'main', image: 'pause' }];
  const pod = { terminationGracePeriodSeconds: 1, containers, volumes };
  await fixture.cluster.resource(pods).create({ metadata: { namespace: 'team', name: 'web' }, spec: pod });
  await fixture.settle();
  expect(await fixture.lines()).toEqual(running);
  await fixture.cluster.resource(namespaces).delete({ name: 'team' });
  await fixture.settle(60_000);
  expect(await fixture.lines()).toEqual([]);
  expect(await attachments(fixture)).toBe(0);
  const { items } = await fixture.cluster.resource(namespaces).list();
  expect(items.map(({ metadata }) => metadata?.name)).not.toContain('team');
});

test('a volume that a user deletes while it is bound stays until the claim is deleted', async () => {
  await using fixture = await startRunning();
  const { volumeName = '' } = (await fixture.claim()).spec ?? {};
  await fixture.cluster.resource(persistentVolumes).delete({ name: volumeName });
  await fixture.settle(60_000);
  expect(await fixture.lines()).toEqual(running);
  await fixture.deletePod('web');
  await fixture.deleteClaim('data');
  await fixture.settle();
  expect(await fixture.lines()).toEqual([]);
});

test('a pod moves to another node of the zone with its volume, and the attachment follows', async () => {
  await using fixture = await startRunning();
  await fixture.deletePod('web');
  await fixture.makePod('next', ['data']);
  await fixture.bindPod('next', 'a2');
  await fixture.settle();
  expect(await fixture.lines()).toEqual([
    'claim data Bound',
    'pod next Running on a2',
    'volume for data Bound',
  ]);
  expect(await fixture.mark()).toMatch(/^a2\//);
  const { items } = await fixture.cluster.resource(volumeAttachments).list();
  expect(items.map(({ spec }) => spec?.nodeName)).toEqual(['a2']);
});

test('a selected node that is deleted before the volume is created is removed from the claim', async () => {
  await using fixture = await LifecycleFixture.start();
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
  await fixture.settle();
  await fixture.pause();
  await fixture.selectNode('data', 'b1');
  await fixture.cluster.resource(nodes).delete({ name: 'b1' });
  fixture.resume();
  await fixture.settle();
  expect(await fixture.selectedNode()).toBeUndefined();
  expect(await fixture.lines()).toEqual(['claim data Pending', 'pod web Pending']);
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  expect(await fixture.placesOf()).toEqual(['zone=a']);
});

test('a pod with a provisioned and a hand-made volume runs once both are bound, not before', async () => {
  const local = classOf({ metadata: { name: 'local' }, provisioner: noProvisioner });
  await using fixture = await LifecycleFixture.start({ classes: [classOf(), local] });
  fixture.virtualTime.versions.isPaused = true;
  await fixture.makeLocalVolume('disk', 'a1');
  await fixture.makeClaim();
  await fixture.makeClaim('logs', 'local');
  await fixture.makePod('web', ['data', 'logs']);
  await fixture.settle();
  // Provisioning goes first: the reservation of a disk cannot be undone once it is complete.
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  expect(await fixture.lines()).toContain('claim logs Pending');
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod web Pending on a1');
  expect(await fixture.mark()).toBeUndefined();
  await fixture.reserve('disk', 'logs');
  await fixture.settle();
  expect(await fixture.lines()).toEqual([
    'claim data Bound',
    'claim logs Bound',
    'pod web Running on a1',
    'volume disk for logs Bound',
    'volume for data Bound',
  ]);
  const { uid } = (await fixture.cluster.resource(pods).get({ namespace, name: 'web' })).metadata ?? {};
  expect([await fixture.mark('data'), await fixture.mark('logs')]).toEqual([`a1/${uid}`, `a1/${uid}`]);
});
