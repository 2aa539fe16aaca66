import { expect, test } from 'vitest';
import type { PersistentVolumeClaim, PersistentVolumeSource } from '../../../kube/api/core.ts';
import {
  events,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../../workloads/node-agent/node-agent.ts';
import { makeNode, makePod } from '../../workloads/node-agent/testing/agent-fixture.ts';
import { expanderController } from './expander.ts';
import { type BuiltInResizer, localResizer, zonalResizer } from './resizer.ts';
import { plainResizer } from './testing/plain-resizer.ts';

/** Has a resizer that only changes a number, for the behaviour that all kinds of volumes share. */
const expander = expanderController({ resizers: [localResizer, zonalResizer, plainResizer] });

const namespace = 'default';
const key = { namespace, name: 'data' };
const hostPath: PersistentVolumeSource = { hostPath: { path: '/a' } };
const own: PersistentVolumeSource = { csi: { driver: 'zonal.stowage.dev', volumeHandle: 'h' } };
const foreign: PersistentVolumeSource = { csi: { driver: 'd.example.com', volumeHandle: 'h' } };

/** A bound claim of 1Gi in a class that allows expansion. */
async function makeClaim(
  { cluster }: VirtualTimeCluster,
  source: PersistentVolumeSource,
  volumeMode: 'Block' | 'Filesystem' = 'Filesystem',
): Promise<void> {
  await cluster
    .resource(storageClasses)
    .create({ metadata: { name: 'fast' }, provisioner: 'stowage.dev', allowVolumeExpansion: true });
  const claims = cluster.resource(persistentVolumeClaims);
  const accessModes = ['ReadWriteOnce'] as const;
  const claim = await claims.create({
    metadata: key,
    spec: {
      accessModes,
      volumeMode,
      resources: { requests: { storage: '1Gi' } },
      volumeName: 'v',
      storageClassName: 'fast',
    },
  });
  const claimRef = { ...key, uid: claim.metadata?.uid ?? '' };
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes,
    volumeMode,
    claimRef,
    storageClassName: 'fast',
    ...source,
  };
  await cluster.resource(persistentVolumes).create({ metadata: { name: 'v' }, spec });
  const status = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes };
  await claims.patch(key, { type: 'merge', body: { status } }, { subresource: 'status' });
}

async function ask({ cluster }: VirtualTimeCluster, storage: string): Promise<void> {
  const body = { spec: { resources: { requests: { storage } } } };
  await cluster.resource(persistentVolumeClaims).patch(key, { type: 'merge', body });
}

/** The sizes of volume and claim, and the state of the expansion. */
async function state({ cluster }: VirtualTimeCluster): Promise<object> {
  const { status }: PersistentVolumeClaim = await cluster.resource(persistentVolumeClaims).get(key);
  const volume = await cluster.resource(persistentVolumes).get({ name: 'v' });
  return {
    volume: volume.spec?.capacity?.storage,
    claim: status?.capacity?.storage,
    allocated: status?.allocatedResources?.storage,
    status: status?.allocatedResourceStatuses?.storage,
    conditions: (status?.conditions ?? []).map(({ type }) => type),
  };
}

const done = { status: undefined, conditions: [] };

test('a volume without a driver grows at once', async () => {
  await using fixture = await VirtualTimeCluster.start(expander);
  await makeClaim(fixture, hostPath);
  await ask(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '3Gi', claim: '3Gi', allocated: '3Gi', ...done });
  expect(await fixture.eventLines()).toEqual([
    'VolumeResizeSuccessful data: ExpandVolume succeeded for volume default/data',
  ]);
  await ask(fixture, '4Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '4Gi', claim: '4Gi', allocated: '4Gi', ...done });
  expect(fixture.errors).toEqual([]);
});

test('a Stowage volume without a file system is done at once, with the Events of a driver', async () => {
  await using fixture = await VirtualTimeCluster.start(expander);
  await makeClaim(fixture, own, 'Block');
  await ask(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '3Gi', claim: '3Gi', allocated: '3Gi', ...done });
  expect(await fixture.eventLines()).toEqual([
    'Resizing data: External resizer is resizing volume v',
    'VolumeResizeSuccessful data: Resize volume succeeded',
  ]);
});

test('a Stowage volume waits for a node to grow its file system', async () => {
  await using fixture = await VirtualTimeCluster.start(expander, nodeAgentController());
  await makeClaim(fixture, own);
  await ask(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({
    volume: '3Gi',
    claim: '1Gi',
    allocated: '3Gi',
    status: 'NodeResizePending',
    conditions: ['Resizing', 'FileSystemResizePending'],
  });
  expect(await fixture.eventLines()).toEqual([
    'FileSystemResizeRequired data: Require file system resize of volume on node',
    'Resizing data: External resizer is resizing volume v',
  ]);
  const volumes = fixture.cluster.resource(persistentVolumes);
  const before = await volumes.get({ name: 'v' });
  expect(before.metadata?.annotations).toMatchObject({
    'volume.alpha.kubernetes.io/pre-resize-capacity': '1Gi',
  });
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '3Gi', claim: '3Gi', allocated: '3Gi', ...done });
  const after = await volumes.get({ name: 'v' });
  expect(after.metadata?.annotations ?? {}).not.toHaveProperty(
    'volume.alpha.kubernetes.io/pre-resize-capacity',
  );
  expect(await fixture.eventLines()).toContain(
    'FileSystemResizeSuccessful web: MountVolume.NodeExpandVolume succeeded for volume "v" n1',
  );
});

test('a volume in use grows while its pod runs', async () => {
  await using fixture = await VirtualTimeCluster.start(expander, nodeAgentController());
  await makeClaim(fixture, own);
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  for (const size of ['2Gi', '3Gi']) await ask(fixture, size);
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '3Gi', claim: '3Gi', allocated: '3Gi', ...done });
});

test('a volume of a driver with its own resizer is left to that resizer', async () => {
  await using fixture = await VirtualTimeCluster.start(expander);
  await makeClaim(fixture, foreign);
  await ask(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '1Gi', claim: '1Gi', allocated: undefined, ...done });
  expect(await fixture.eventLines()).toEqual([
    'ExternalExpanding data: waiting for an external controller to expand this PVC',
  ]);
});

test('a migrated volume is left to its driver, which finds its name on the claim', async () => {
  await using fixture = await VirtualTimeCluster.start(expander);
  await makeClaim(fixture, { gcePersistentDisk: { pdName: 'p' } });
  await ask(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '1Gi', claim: '1Gi', allocated: undefined, ...done });
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get(key);
  expect(claim.metadata?.annotations).toEqual({
    'volume.kubernetes.io/storage-resizer': 'pd.csi.storage.gke.io',
  });
  const note =
    'CSI migration enabled for kubernetes.io/gce-pd; waiting for external resizer to expand the pvc';
  expect(await fixture.eventLines()).toEqual([`ExternalExpanding data: ${note}`]);
});

/** How often each Event was recorded, by reason. */
async function counts({ cluster }: VirtualTimeCluster): Promise<object> {
  const { items } = await cluster.resource(events).list();
  return Object.fromEntries(items.map(({ reason, series }) => [reason, series?.count ?? 1]));
}

test('the Event that a claim waits for another resizer is repeated while it waits', async () => {
  await using fixture = await VirtualTimeCluster.start(expander);
  await makeClaim(fixture, foreign);
  await ask(fixture, '3Gi');
  await fixture.settle(16 * 60_000);
  expect(await counts(fixture)).toEqual({ ExternalExpanding: 4 });
});

/** A resizer with a limited capacity, which fails so often before it answers. */
function limitedResizer(capacityGi: number, failures = 0): BuiltInResizer & { readonly requested: string[] } {
  const requested: string[] = [];
  let left = failures;
  return {
    ...plainResizer,
    requested,
    async expand(_volume, size) {
      requested.push(size);
      if (left-- > 0) throw new Error('the disk does not answer');
      if (Number.parseInt(size, 10) <= capacityGi) return { kind: 'expanded', size, needsNode: false };
      return { kind: 'infeasible', message: `there is not enough capacity for ${size}` };
    },
  };
}

test('an infeasible size is replaced by a smaller one', async () => {
  const disks = limitedResizer(5);
  await using fixture = await VirtualTimeCluster.start(expanderController({ resizers: [disks] }));
  await makeClaim(fixture, hostPath);
  await ask(fixture, '9Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({
    volume: '1Gi',
    claim: '1Gi',
    allocated: '9Gi',
    status: 'ControllerResizeInfeasible',
    conditions: ['Resizing', 'ControllerResizeError'],
  });
  expect(await fixture.eventLines()).toEqual([
    'VolumeResizeFailed data: error expanding pvc "default/data": there is not enough capacity for 9Gi',
  ]);
  await ask(fixture, '4Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({ volume: '4Gi', claim: '4Gi', allocated: '4Gi', ...done });
  expect(disks.requested).toEqual(['9Gi', '4Gi']);
});

test('an infeasible size is retried occasionally, not continuously', async () => {
  const disks = limitedResizer(5);
  await using fixture = await VirtualTimeCluster.start(expanderController({ resizers: [disks] }));
  await makeClaim(fixture, hostPath);
  await ask(fixture, '9Gi');
  await fixture.settle(60_000);
  expect(disks.requested).toEqual(['9Gi']);
  await fixture.settle(6 * 60_000);
  expect(disks.requested).toEqual(['9Gi', '9Gi']);
});

test('an expansion that may have half succeeded is completed before any other size is tried', async () => {
  const disks = limitedResizer(9, 8);
  await using fixture = await VirtualTimeCluster.start(expanderController({ resizers: [disks] }));
  await makeClaim(fixture, hostPath);
  await ask(fixture, '8Gi');
  await fixture.settle(30);
  expect(await state(fixture)).toMatchObject({ volume: '1Gi', status: 'ControllerResizeInProgress' });
  await ask(fixture, '2Gi');
  await fixture.settle(10_000);
  expect(new Set(disks.requested)).toEqual(new Set(['8Gi']));
  expect(await state(fixture)).toEqual({ volume: '8Gi', claim: '8Gi', allocated: '8Gi', ...done });
});

test.each([
  { what: 'a plain volume', source: hostPath, least: 3 },
  { what: 'a volume in use', source: own, least: 5 },
])('crashing after any write does not change the final state of $what', async ({ source, least }) => {
  const places = await crashControllersAtEveryWrite({
    controllers: [expander, nodeAgentController()],
    prepare: async (fixture) => {
      await makeClaim(fixture, source);
      await makeNode(fixture, 'n1');
      await makePod(fixture, 'web', { claims: ['data'] });
      await ask(fixture, '3Gi');
    },
    resources: [persistentVolumeClaims, persistentVolumes, pods],
  });
  expect(places).toBeGreaterThanOrEqual(least);
});
