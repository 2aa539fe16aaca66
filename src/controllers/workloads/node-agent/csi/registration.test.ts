import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../../csi/csi-errors.ts';
import { EnforcingDriver } from '../../../../csi/testing/enforcing-driver.ts';
import type { CSINode } from '../../../../kube/api/storage.ts';
import { csiDrivers, csiNodes, nodes, volumeAttachments } from '../../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../../kube/undefined-if-not-found.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { garbageCollectorController } from '../../garbage-collector.ts';
import { nodeAgentController } from '../node-agent.ts';
import { makeClaim, makeNode, makePod, phases, testDriver } from '../testing/agent-fixture.ts';
import { makeCsiDriver, PluginFixture } from './testing/plugin-fixture.ts';

const topologyKey = 'topology.example.com/node';
const name = 'n1';
const entry = { name: testDriver, nodeID: 'id-of-n1', topologyKeys: [topologyKey] };

async function csiNodeOf({ cluster }: VirtualTimeCluster): Promise<CSINode | undefined> {
  return await undefinedIfNotFound(cluster.resource(csiNodes).get({ name }));
}

async function labelsOf({ cluster }: VirtualTimeCluster): Promise<object | undefined> {
  return (await cluster.resource(nodes).get({ name })).metadata?.labels;
}

test('a plugin gets its entry in the CSINode, and the node its labels', async () => {
  const plugin = await PluginFixture.start({ maxVolumesPerNode: 7n });
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeNode(fixture, name);
  await fixture.settle();
  const csiNode = await csiNodeOf(fixture);
  expect(csiNode?.spec?.drivers).toEqual([{ ...entry, allocatable: { count: 7 } }]);
  expect(csiNode?.metadata).toMatchObject({
    annotations: { 'stowage.dev/csi-node-plugins': testDriver },
    ownerReferences: [{ kind: 'Node', name }],
  });
  expect(await labelsOf(fixture)).toMatchObject({ [topologyKey]: 'id-of-n1' });
  expect(fixture.errors).toEqual([]);
});

test('nothing is written again while nothing changes', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeNode(fixture, name);
  await fixture.settle();
  const before = await csiNodeOf(fixture);
  await fixture.settle(10 * 60_000);
  expect(plugin.driver.callsOf('NodeGetInfo').length).toBeGreaterThan(5);
  expect((await csiNodeOf(fixture))?.metadata?.resourceVersion).toBe(before?.metadata?.resourceVersion);
});

test('entries of others stay, and several plugins share a CSINode', async () => {
  const plugin = await PluginFixture.start();
  await plugin.drivers.join(new EnforcingDriver({ name: 'b.example.com', pools: {}, nodeId: 'b-1' }));
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  const foreign = { name: 'x.example.com', nodeID: 'x' };
  await fixture.cluster.resource(csiNodes).create({ metadata: { name }, spec: { drivers: [foreign] } });
  // Both have the same topology key, but not the same value for it.
  await makeNode(fixture, name, { labels: {} });
  await fixture.settle();
  const { spec } = (await csiNodeOf(fixture)) ?? {};
  expect(spec?.drivers?.map((driver) => driver.name)).toEqual(['x.example.com', testDriver]);
  expect(await fixture.eventLines()).toEqual([
    `CSIPluginRegistrationFailed n1: CSI driver b.example.com is not registered: detected topology value collision: driver reported "${topologyKey}":"b-1" but existing label is "${topologyKey}":"id-of-n1"; remove the label, or correct the driver's topology`,
  ]);
});

test('a label with another value is kept, and the plugin registers when it is gone', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeNode(fixture, name, { labels: { [topologyKey]: 'by-hand' } });
  await fixture.settle();
  expect(await labelsOf(fixture)).toMatchObject({ [topologyKey]: 'by-hand' });
  expect(await csiNodeOf(fixture)).toBeUndefined();
  const body = { metadata: { labels: { [topologyKey]: null } } };
  await fixture.cluster.resource(nodes).patch({ name }, { type: 'merge', body });
  await fixture.settle();
  expect((await csiNodeOf(fixture))?.spec?.drivers).toEqual([entry]);
});

test('a node that is created again is registered again', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent(), garbageCollectorController);
  await makeNode(fixture, name);
  await fixture.settle();
  await fixture.cluster.resource(nodes).delete({ name });
  await makeNode(fixture, name);
  await fixture.settle(60_000);
  const node = await fixture.cluster.resource(nodes).get({ name });
  const csiNode = await csiNodeOf(fixture);
  expect(csiNode?.spec?.drivers).toEqual([entry]);
  expect(csiNode?.metadata?.ownerReferences).toMatchObject([{ uid: node.metadata?.uid }]);
  expect(node.metadata?.labels).toMatchObject({ [topologyKey]: 'id-of-n1' });
});

test('a CSINode that was deleted is created again', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeNode(fixture, name);
  await fixture.settle();
  await fixture.cluster.resource(csiNodes).delete({ name });
  await fixture.settle();
  expect((await csiNodeOf(fixture))?.spec?.drivers).toEqual([entry]);
});

test('a plugin whose node id changes gets a new entry', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeNode(fixture, name);
  const old = { ...entry, nodeID: 'older' };
  await fixture.cluster.resource(csiNodes).create({ metadata: { name }, spec: { drivers: [old] } });
  await fixture.settle();
  expect((await csiNodeOf(fixture))?.spec?.drivers).toEqual([entry]);
  expect(fixture.errors).toEqual([]);
});

test('pods wait for a plugin that starts late', async () => {
  const plugin = await PluginFixture.start({ joinsLater: true });
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, name);
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle(5_000);
  expect(await phases(fixture)).toEqual(['web Pending']);
  expect(await fixture.eventLines()).toEqual([
    `FailedMount web: MountVolume.MountDevice failed for volume "v-data" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${testDriver} not found in the list of registered CSI drivers`,
  ]);
  await plugin.join();
  await fixture.settle(5_000);
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('a plugin that does not answer is asked again', async () => {
  const plugin = await PluginFixture.start();
  let failures = 3;
  plugin.driver.beforeCall = (method) => {
    if (method === 'NodeGetInfo' && failures-- > 0) throw new CsiStatusError('Unavailable', 'starting');
  };
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeNode(fixture, name);
  await fixture.settle(30_000);
  expect((await csiNodeOf(fixture))?.spec?.drivers).toEqual([entry]);
});

test('after a restart the pod waits for the plugin whose entry is there', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start();
  const first = fixture.run([plugin.agent()]);
  await makeCsiDriver(fixture);
  await makeNode(fixture, name);
  await fixture.settle();
  await first.close();
  const later = await PluginFixture.start({ joinsLater: true });
  fixture.run([later.agent()]);
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle(5_000);
  expect(await phases(fixture)).toEqual(['web Pending']);
  expect((await csiNodeOf(fixture))?.spec?.drivers).toEqual([entry]);
  await later.join();
  await fixture.settle(5_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(later.calls).toEqual(['NodeStageVolume handle-data', 'NodePublishVolume handle-data']);
});

test('the entry of a plugin that is no longer configured is removed, and entries of others stay', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start();
  const first = fixture.run([plugin.agent()]);
  await makeNode(fixture, name);
  await fixture.settle();
  await first.close();
  const foreign = { name: 'x.example.com', nodeID: 'x' };
  const body = { spec: { drivers: [entry, foreign] } };
  await fixture.cluster.resource(csiNodes).patch({ name }, { type: 'merge', body });
  fixture.run([nodeAgentController()]);
  await fixture.settle();
  const csiNode = await csiNodeOf(fixture);
  expect(csiNode?.spec?.drivers).toMatchObject([foreign]);
  expect(csiNode?.metadata?.annotations).toBeUndefined();
});

test('a CSINode that is left without entries is deleted, so that the node is simulated as before', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start();
  const first = fixture.run([plugin.agent()]);
  await makeNode(fixture, name);
  await fixture.settle();
  await first.close();
  fixture.run([nodeAgentController()]);
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await csiNodeOf(fixture)).toBeUndefined();
  expect(await phases(fixture)).toEqual(['web Running']);
});

async function limitOf(fixture: VirtualTimeCluster): Promise<number | undefined> {
  return (await csiNodeOf(fixture))?.spec?.drivers?.[0]?.allocatable?.count;
}

test('the limit is read again after nodeAllocatableUpdatePeriodSeconds, also if that changes', async () => {
  const plugin = await PluginFixture.start({ maxVolumesPerNode: 7n });
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, { nodeAllocatableUpdatePeriodSeconds: 600 });
  await makeNode(fixture, name);
  await fixture.settle();
  plugin.driver.maxVolumesPerNode = 5n;
  await fixture.settle(300_000);
  expect(await limitOf(fixture)).toBe(7);
  await fixture.settle(310_000);
  expect(await limitOf(fixture)).toBe(5);
  const body = { spec: { nodeAllocatableUpdatePeriodSeconds: 10 } };
  await fixture.cluster.resource(csiDrivers).patch({ name: testDriver }, { type: 'merge', body });
  await fixture.settle();
  plugin.driver.maxVolumesPerNode = 4n;
  await fixture.settle(11_000);
  expect(await limitOf(fixture)).toBe(4);
});

test.each([
  { what: 'with', period: { nodeAllocatableUpdatePeriodSeconds: 3600 }, expected: 5 },
  { what: 'without', period: {}, expected: 7 },
])('$what a period, an attachment without a slot makes the agent read the limit: $expected', async (one) => {
  const plugin = await PluginFixture.start({ maxVolumesPerNode: 7n });
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, one.period);
  await makeNode(fixture, name);
  await fixture.settle();
  plugin.driver.maxVolumesPerNode = 5n;
  const client = fixture.cluster.resource(volumeAttachments);
  const source = { persistentVolumeName: 'v' };
  await client.create({ metadata: { name: 'a' }, spec: { attacher: testDriver, nodeName: name, source } });
  const attachError = { time: '2026-01-01T00:00:00Z', message: 'no slot left', errorCode: 8 };
  const body = { status: { attached: false, attachError } };
  await client.patch({ name: 'a' }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.settle(5_000);
  expect(await limitOf(fixture)).toBe(one.expected);
});
