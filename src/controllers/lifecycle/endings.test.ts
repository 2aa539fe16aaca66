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
import { Life, namespace, withScheduler } from './testing/life.ts';

const running = ['claim data Bound', 'pod web Running on a1', 'volume for data Bound'];

async function startRunning(): Promise<Life> {
  const life = await Life.start();
  await life.makeClaim();
  await life.makePod('web', ['data']);
  await life.selectNode('data', 'a1');
  await life.settle();
  await life.bindPod('web', 'a1');
  await life.settle();
  expect(await life.lines()).toEqual(running);
  return life;
}

async function attachments(life: Life): Promise<number> {
  return (await life.cluster.resource(volumeAttachments).list()).items.length;
}

test('a namespace takes its pods, claims and their volumes with it', async () => {
  await using life = await Life.start({ nodes: ['a1 a r1'], controllers: withScheduler() });
  await life.cluster.resource(namespaces).create({ metadata: { name: 'team' } });
  const spec = {
    storageClassName: 'standard',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
  } as const;
  const claim = { metadata: { namespace: 'team', name: 'data' }, spec };
  await life.cluster.resource(persistentVolumeClaims).create(claim);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const containers = [{ name: 'main', image: 'pause' }];
  const pod = { terminationGracePeriodSeconds: 1, containers, volumes };
  await life.cluster.resource(pods).create({ metadata: { namespace: 'team', name: 'web' }, spec: pod });
  await life.settle();
  expect(await life.lines()).toEqual(running);
  await life.cluster.resource(namespaces).delete({ name: 'team' });
  await life.settle(60_000);
  expect(await life.lines()).toEqual([]);
  expect(await attachments(life)).toBe(0);
  const { items } = await life.cluster.resource(namespaces).list();
  expect(items.map(({ metadata }) => metadata?.name)).not.toContain('team');
});

test('a volume that somebody deletes under its claim stays until the claim goes', async () => {
  await using life = await startRunning();
  const { volumeName = '' } = (await life.claim()).spec ?? {};
  await life.cluster.resource(persistentVolumes).delete({ name: volumeName });
  await life.settle(60_000);
  expect(await life.lines()).toEqual(running);
  await life.deletePod('web');
  await life.deleteClaim('data');
  await life.settle();
  expect(await life.lines()).toEqual([]);
});

test('a pod moves to another node of the zone with its volume, and the attachment follows', async () => {
  await using life = await startRunning();
  await life.deletePod('web');
  await life.makePod('next', ['data']);
  await life.bindPod('next', 'a2');
  await life.settle();
  expect(await life.lines()).toEqual(['claim data Bound', 'pod next Running on a2', 'volume for data Bound']);
  expect(await life.mark()).toMatch(/^a2\//);
  const { items } = await life.cluster.resource(volumeAttachments).list();
  expect(items.map(({ spec }) => spec?.nodeName)).toEqual(['a2']);
});

test('a selected node that is gone before its volume is made is taken off', async () => {
  await using life = await Life.start();
  await life.makeClaim();
  await life.makePod('web', ['data']);
  await life.settle();
  await life.pause();
  await life.selectNode('data', 'b1');
  await life.cluster.resource(nodes).delete({ name: 'b1' });
  life.resume();
  await life.settle();
  expect(await life.selectedNode()).toBeUndefined();
  expect(await life.lines()).toEqual(['claim data Pending', 'pod web Pending']);
  await life.selectNode('data', 'a1');
  await life.settle();
  expect(await life.placesOf()).toEqual(['zone=a']);
});

test('a pod with a volume to be made and one made by hand runs once both are bound, not before', async () => {
  const local = classOf({ metadata: { name: 'local' }, provisioner: noProvisioner });
  await using life = await Life.start({ classes: [classOf(), local] });
  await life.makeLocalVolume('disk', 'a1');
  await life.makeClaim();
  await life.makeClaim('logs', 'local');
  await life.makePod('web', ['data', 'logs']);
  await life.settle();
  // What needs provisioning goes first: a reservation of a disk is not undone once it is complete.
  await life.selectNode('data', 'a1');
  await life.settle();
  expect(await life.lines()).toContain('claim logs Pending');
  await life.bindPod('web', 'a1');
  await life.settle();
  expect(await life.lines()).toContain('pod web Pending on a1');
  expect(await life.mark()).toBeUndefined();
  await life.reserve('disk', 'logs');
  await life.settle();
  expect(await life.lines()).toEqual([
    'claim data Bound',
    'claim logs Bound',
    'pod web Running on a1',
    'volume disk for logs Bound',
    'volume for data Bound',
  ]);
  const { uid } = (await life.cluster.resource(pods).get({ namespace, name: 'web' })).metadata ?? {};
  expect([await life.mark('data'), await life.mark('logs')]).toEqual([`a1/${uid}`, `a1/${uid}`]);
});
