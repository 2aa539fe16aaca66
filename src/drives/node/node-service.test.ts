import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { NodeGetVolumeHealthRequestSchema } from '../../csi/generated/csi.ts';
import { nodes } from '../../kube/resources.ts';
import { callOptions, mountOnce } from '../testing/drives-fixture.ts';
import { NodeFixture, rackKey } from '../testing/node-fixture.ts';

const mib = 2 ** 20;

async function withVolume(): Promise<NodeFixture> {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', 100 * mib);
  return node;
}

test('a volume is staged with its limit, published, and comes back with its data on another pod', async () => {
  const node = await withVolume();
  await node.stage('pvc-1');
  expect(node.host.limits.get('pvc-1')).toBe(100 * mib);
  await node.publish('pvc-1');
  await writeFile(join(node.host.shownAt(node.path('pod-pvc-1')) ?? '', 'file'), 'kept');
  await node.unpublish('pvc-1');
  await node.unstage('pvc-1');
  expect((await node.host.mounts()).mounts.map(({ root }) => root)).toEqual(['/']);
  await node.stage('pvc-1', { stagingTargetPath: node.path('stage-2') });
  await node.publish('pvc-1', { stagingTargetPath: node.path('stage-2'), targetPath: node.path('pod-2') });
  const data = node.host.shownAt(node.path('pod-2')) ?? '';
  expect(await readFile(join(data, 'file'), 'utf8')).toBe('kept');
});

test('every call may be repeated', async () => {
  const node = await withVolume();
  for (let round = 0; round < 3; round += 1) await node.stage('pvc-1');
  for (let round = 0; round < 3; round += 1) await node.publish('pvc-1');
  expect((await node.host.mounts()).mounts).toHaveLength(3);
  for (let round = 0; round < 3; round += 1) await node.unpublish('pvc-1');
  for (let round = 0; round < 3; round += 1) await node.unstage('pvc-1');
  expect((await node.host.mounts()).mounts).toHaveLength(1);
});

test('calls for one volume at the same time leave one mount', async () => {
  const node = await withVolume();
  await Promise.all(Array.from({ length: 8 }, () => node.stage('pvc-1')));
  expect((await node.host.mounts()).mounts).toHaveLength(2);
});

test('after a reboot the volume is staged again, with its data', async () => {
  const node = await withVolume();
  await node.stage('pvc-1');
  await writeFile(join(node.host.shownAt(node.path('stage-pvc-1')) ?? '', 'file'), 'kept');
  await node.reboot();
  await expect(node.publish('pvc-1')).rejects.toMatchObject({ code: 'FailedPrecondition' });
  await node.stage('pvc-1');
  const data = node.host.shownAt(node.path('stage-pvc-1')) ?? '';
  expect(await readFile(join(data, 'file'), 'utf8')).toBe('kept');
});

test('a volume is published read-only if asked, and not for writing at the same path afterwards', async () => {
  const node = await withVolume();
  await node.stage('pvc-1');
  await node.publish('pvc-1', { readonly: true });
  const target = node.path('pod-pvc-1');
  expect((await node.host.mounts()).at(target)?.options).toContain('ro');
  await node.publish('pvc-1', { readonly: true });
  await expect(node.publish('pvc-1')).rejects.toMatchObject({ code: 'AlreadyExists' });
});

test('a volume for one pod is not published to a second one', async () => {
  const node = await withVolume();
  const volumeCapability = { ...mountOnce, accessMode: { mode: 6 as const } };
  await node.stage('pvc-1', { volumeCapability });
  await node.publish('pvc-1', { volumeCapability });
  await node.publish('pvc-1', { volumeCapability });
  await expect(
    node.publish('pvc-1', { volumeCapability, targetPath: node.path('other') }),
  ).rejects.toMatchObject({ code: 'FailedPrecondition' });
});

test('what no drive of the node has, or what is being deleted, does not exist', async () => {
  const node = await withVolume();
  await expect(node.stage('pvc-2')).rejects.toMatchObject({ code: 'NotFound' });
  await expect(node.publish('pvc-2')).rejects.toMatchObject({ code: 'NotFound' });
  await node.stage('pvc-1');
  await node.releaseVolume('pvc-1');
  await node.until(async () => node.node.drives.find('pvc-1')?.entry.state === 'Releasing');
  await expect(node.stage('pvc-1')).rejects.toMatchObject({ code: 'NotFound' });
  await node.unpublish('pvc-2');
  await node.unstage('pvc-2');
});

test('an entry that the watch has not delivered yet is found', async () => {
  const node = await withVolume();
  const volumeContext = { 'stowage.dev/drive': 'n1-a' };
  await node.addVolume('pvc-new', mib);
  await node.stage('pvc-new', { volumeContext });
});

test('block volumes, other filesystems, shared access and unknown mount options are refused', async () => {
  const node = await withVolume();
  const refused = async (volumeCapability: object) =>
    await expect(node.stage('pvc-1', { volumeCapability } as never)).rejects.toMatchObject({
      code: 'InvalidArgument',
    });
  await refused({ ...mountOnce, accessType: { case: 'block', value: {} } });
  await refused({ ...mountOnce, accessType: { case: 'mount', value: { fsType: 'ext4' } } });
  await refused({ ...mountOnce, accessMode: { mode: 5 } });
  await refused({ ...mountOnce, accessType: { case: 'mount', value: { mountFlags: ['loop=/etc/passwd'] } } });
  await expect(
    node.stage('pvc-1', { volumeCapability: { ...mountOnce, accessType: { case: 'block', value: {} } } }),
  ).rejects.toThrow('use volumeMode Filesystem');
});

test('mount options of a class restrict the mount', async () => {
  const node = await withVolume();
  const mountFlags = ['noexec', 'nosuid'];
  const volumeCapability = { ...mountOnce, accessType: { case: 'mount' as const, value: { mountFlags } } };
  await node.stage('pvc-1', { volumeCapability });
  expect((await node.host.mounts()).at(node.path('stage-pvc-1'))?.options).toEqual(mountFlags);
});

test('the limit follows the ledger, and no further', async () => {
  const node = await withVolume();
  const volumePath = node.path('stage-pvc-1');
  const expand = (requiredBytes: number) =>
    node.driver.call(
      'NodeExpandVolume',
      { volumeId: 'pvc-1', volumePath, capacityRange: { requiredBytes: BigInt(requiredBytes) } },
      callOptions,
    );
  await node.stage('pvc-1');
  await expect(expand(200 * mib)).rejects.toMatchObject({ code: 'OutOfRange' });
  await node.fixture.merge('n1-a', { spec: { volumes: [{ name: 'pvc-1', sizeBytes: 200 * mib }] } });
  expect(await expand(200 * mib)).toMatchObject({ capacityBytes: BigInt(200 * mib) });
  expect(node.host.limits.get('pvc-1')).toBe(200 * mib);
  await node.unstage('pvc-1');
  await expect(expand(200 * mib)).rejects.toMatchObject({ code: 'NotFound' });
});

test('figures are those of the limit; elsewhere the volume is not found', async () => {
  const node = await withVolume();
  await node.stage('pvc-1');
  const stats = (volumePath: string) =>
    node.driver.call('NodeGetVolumeStats', { volumeId: 'pvc-1', volumePath }, callOptions);
  const { usage } = await stats(node.path('stage-pvc-1'));
  expect(usage[0]).toMatchObject({ total: BigInt(100 * mib) });
  await expect(stats(node.path('elsewhere'))).rejects.toMatchObject({ code: 'NotFound' });
  for (const path of ['/', 'some/path', `${node.kubelet}/../x`])
    await expect(stats(path)).rejects.toMatchObject({ code: 'NotFound' });
});

test('the health of a volume is that of its drive', async () => {
  const node = await withVolume();
  const request = create(NodeGetVolumeHealthRequestSchema, { volumeId: 'pvc-1' });
  const health = () => node.node.methods.nodeGetVolumeHealth?.(request, callOptions);
  await node.stage('pvc-1');
  expect(await health()).toMatchObject({ volumeHealth: { volumeId: 'pvc-1', healthStatuses: [] } });
  node.host.disconnect('/dev/n1-a');
  await node.until(async () => (await node.fixture.get('n1-a')).status?.state === 'Lost');
  await node.until(() => node.node.drives.get('n1-a')?.drive.status?.state === 'Lost');
  expect(await health()).toMatchObject({
    volumeHealth: { healthStatuses: [{ status: 2, reason: 'DeviceLost' }] },
  });
});

test('the node says its name and its topology', async () => {
  const node = await NodeFixture.start();
  expect(await node.driver.call('NodeGetInfo', {}, callOptions)).toMatchObject({
    nodeId: 'n1',
    accessibleTopology: { segments: { 'stowage.dev/node': 'n1' } },
  });
  expect(node.driver.hasPluginCapability('CONTROLLER_SERVICE')).toBe(false);
});

describe('topology', () => {
  const zone = 'topology.kubernetes.io/zone';
  const region = 'topology.kubernetes.io/region';
  const own = { 'stowage.dev/node': 'n1' };
  const reported = async (node: NodeFixture) =>
    (await node.driver.call('NodeGetInfo', {}, callOptions)).accessibleTopology?.segments;
  const stored = async (node: NodeFixture) => (await node.fixture.get('n1-a')).status?.topology;
  const relabel = (node: NodeFixture, labels: Readonly<Record<string, string | null>>) =>
    node.fixture.cluster
      .resource(nodes)
      .patch({ name: 'n1' }, { type: 'merge', body: { metadata: { labels } } });

  test('is that of the labels of the Node: region, zone, and those that a setting names', async () => {
    const node = await NodeFixture.start();
    const labels = { [zone]: 'a', [region]: 'r', [rackKey]: 'k1', other: 'x' };
    await node.fixture.cluster.resource(nodes).create({ metadata: { name: 'n1', labels } });
    const segments = { ...own, [zone]: 'a', [region]: 'r', [rackKey]: 'k1' };
    expect(await reported(node)).toEqual(segments);
    await node.until(async () => (await stored(node))?.[zone] === 'a');
    expect(await stored(node)).toEqual(segments);
  });

  test('follows a Node that is relabelled, also where a label goes', async () => {
    const node = await NodeFixture.start();
    const labels = { [zone]: 'a', [rackKey]: 'k1' };
    await node.fixture.cluster.resource(nodes).create({ metadata: { name: 'n1', labels } });
    await node.until(async () => (await stored(node))?.[zone] === 'a');
    await relabel(node, { [zone]: 'b', [rackKey]: null, [region]: '' });
    await node.until(async () => (await stored(node))?.[zone] === 'b');
    expect(await stored(node)).toEqual({ ...own, [zone]: 'b' });
    expect(await reported(node)).toEqual({ ...own, [zone]: 'b' });
  });

  test('is the node alone where RBAC does not permit to read the Node, and that of drives stays', async () => {
    const node = await NodeFixture.start();
    await node.fixture.cluster.resource(nodes).create({ metadata: { name: 'n1', labels: { [zone]: 'a' } } });
    await node.until(async () => (await stored(node))?.[zone] === 'a');
    node.mayNotReadNodes = true;
    await node.restart();
    expect(await reported(node)).toEqual(own);
    await node.fixture.clock.advance(120_000);
    expect(await stored(node)).toEqual({ ...own, [zone]: 'a' });
  });
});
