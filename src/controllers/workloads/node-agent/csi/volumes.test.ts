import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../../csi/csi-errors.ts';
import type { CsiRequest } from '../../../../csi/csi-methods.ts';
import { nodes, pods, secrets, volumeAttachments } from '../../../../kube/resources.ts';
import { attacherController } from '../../../attacher/attacher.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import {
  getPod,
  makeClaim,
  makeNode,
  makePod,
  namespace,
  phases,
  testDriver,
} from '../testing/agent-fixture.ts';
import { makeCsiDriver, PluginFixture } from './testing/plugin-fixture.ts';

const global = '/kubelet/n1/plugins/kubernetes.io/csi/d.example.com';

async function remove({ cluster }: VirtualTimeCluster, name: string): Promise<void> {
  await cluster.resource(pods).delete({ namespace, name });
}

test('a volume is staged, published, unpublished and unstaged in the order of a kubelet', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(plugin.calls).toEqual(['NodeStageVolume handle-data', 'NodePublishVolume handle-data']);
  const { uid } = (await getPod(fixture, 'web')).metadata ?? {};
  const [stage] = plugin.driver.callsOf('NodeStageVolume') as [CsiRequest<'NodeStageVolume'>];
  const [publish] = plugin.driver.callsOf('NodePublishVolume') as [CsiRequest<'NodePublishVolume'>];
  expect(stage.stagingTargetPath).toMatch(new RegExp(`^${global}/[0-9a-f]{64}/globalmount$`));
  expect(publish).toMatchObject({
    stagingTargetPath: stage.stagingTargetPath,
    targetPath: `/kubelet/n1/pods/${uid}/volumes/kubernetes.io~csi/v-data/mount`,
    readonly: false,
    volumeContext: {},
    publishContext: {},
  });
  await remove(fixture, 'web');
  await fixture.settle();
  expect(plugin.calls.slice(2)).toEqual(['NodeUnpublishVolume handle-data', 'NodeUnstageVolume handle-data']);
  expect(await phases(fixture)).toEqual([]);
  expect(plugin.directory.files.size).toBe(0);
  expect(fixture.errors).toEqual([]);
});

test('two pods share a staged volume, which is unstaged after the last one', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'one', { claims: ['data'] });
  await makePod(fixture, 'two', { claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['one Running', 'two Running']);
  const [stage, publish] = ['NodeStageVolume handle-data', 'NodePublishVolume handle-data'];
  expect(plugin.calls).toEqual([stage, publish, publish]);
  await remove(fixture, 'one');
  await fixture.settle();
  expect(plugin.calls.slice(3)).toEqual(['NodeUnpublishVolume handle-data']);
  await remove(fixture, 'two');
  await fixture.settle();
  expect(plugin.calls.slice(4)).toEqual(['NodeUnpublishVolume handle-data', 'NodeUnstageVolume handle-data']);
});

test('a plugin without STAGE_UNSTAGE_VOLUME gets no staging path', async () => {
  const plugin = await PluginFixture.start({ nodeCapabilities: [] });
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(plugin.calls).toEqual(['NodePublishVolume handle-data']);
  expect(plugin.driver.callsOf('NodePublishVolume')).toMatchObject([{ stagingTargetPath: '' }]);
  await remove(fixture, 'web');
  await fixture.settle();
  expect(plugin.calls.slice(1)).toEqual(['NodeUnpublishVolume handle-data']);
});

test('an attachable volume is published after it is attached, and detached after it is unstaged', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, { attachRequired: true });
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  const attached: number[] = [];
  const reported: (readonly string[] | undefined)[] = [];
  plugin.driver.beforeCall = async (method) => {
    if (method === 'NodeGetInfo') return;
    const { cluster } = fixture;
    attached.push((await cluster.resource(volumeAttachments).list()).items.length);
    reported.push((await cluster.resource(nodes).get({ name: 'n1' })).status?.volumesInUse);
  };
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  await remove(fixture, 'web');
  await fixture.settle();
  expect(plugin.calls.length).toBe(4);
  expect(attached).toEqual([1, 1, 1, 1]);
  expect(reported).toEqual(Array(4).fill([`kubernetes.io/csi/${testDriver}^handle-data`]));
  expect((await fixture.cluster.resource(volumeAttachments).list()).items).toEqual([]);
});

test('the volumes of a deleted node are released, and detached only after that', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, { attachRequired: true });
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  let attached = 0;
  plugin.driver.beforeCall = async (method) => {
    if (method === 'NodeUnpublishVolume') await fixture.clock.sleep(30_000, new AbortController().signal);
    if (method !== 'NodeUnstageVolume') return;
    attached = (await fixture.cluster.resource(volumeAttachments).list()).items.length;
  };
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await fixture.settle(120_000);
  expect(await phases(fixture)).toEqual([]);
  expect(plugin.driver.mounts.isEmpty).toBe(true);
  expect(attached).toBe(1);
  expect((await fixture.cluster.resource(volumeAttachments).list()).items).toEqual([]);
});

test('the metadata of the attachment reaches the plugin', async () => {
  const options = { controllerCapabilities: ['PUBLISH_UNPUBLISH_VOLUME'] } as const;
  const plugin = await PluginFixture.start(options);
  const csiDrivers = plugin.drivers;
  const agent = plugin.agent({ csiDrivers });
  await using fixture = await VirtualTimeCluster.start(agent, attacherController({ csiDrivers }));
  await makeCsiDriver(fixture, { attachRequired: true });
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
  const publishContext = { attachedTo: 'id-of-n1' };
  expect(plugin.driver.callsOf('NodeStageVolume')).toMatchObject([{ publishContext }]);
  expect(plugin.driver.callsOf('NodePublishVolume')).toMatchObject([{ publishContext }]);
  await remove(fixture, 'web');
  await fixture.settle(5_000);
  expect(plugin.calls).toEqual([
    'ControllerPublishVolume handle-data',
    'NodeStageVolume handle-data',
    'NodePublishVolume handle-data',
    'NodeUnpublishVolume handle-data',
    'NodeUnstageVolume handle-data',
    'ControllerUnpublishVolume handle-data',
  ]);
});

test('secrets, attributes, file system and mount options reach the plugin', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, { podInfoOnMount: true });
  await makeNode(fixture, 'n1');
  const csi = {
    driver: testDriver,
    volumeHandle: 'h',
    fsType: 'xfs',
    volumeAttributes: { pool: 'a' },
    nodeStageSecretRef: { namespace, name: 's' },
    nodePublishSecretRef: { namespace, name: 's' },
  };
  await makeClaim(fixture, 'data', { spec: { csi, mountOptions: ['noatime'] } });
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly: true } }];
  const serviceAccountName = 'robot';
  await makePod(fixture, 'web', {
    spec: { volumes, serviceAccountName, nodeName: 'n1', containers: [{ name: 'main', image: 'pause' }] },
  });
  await fixture.settle();
  expect(await fixture.eventLines()).toContain(
    'FailedMount web: MountVolume.MountDevice failed for volume "v-data" : fetching NodeStageSecretRef default/s failed: ' +
      'kubernetes.io/csi: failed to find the secret s in the namespace default with error: secrets "s" not found',
  );
  await fixture.cluster
    .resource(secrets)
    .create({ metadata: { namespace, name: 's' }, data: { key: 'dmFsdWU=' } });
  await fixture.settle(2_000);
  const capability = {
    accessMode: { mode: 1 },
    accessType: { case: 'mount', value: { fsType: 'xfs', mountFlags: ['noatime'] } },
  };
  const common = { volumeId: 'h', secrets: { key: 'value' }, volumeCapability: capability };
  expect(plugin.driver.callsOf('NodeStageVolume')).toMatchObject([
    { ...common, volumeContext: { pool: 'a' } },
  ]);
  const { uid } = (await getPod(fixture, 'web')).metadata ?? {};
  const volumeContext = {
    pool: 'a',
    'csi.storage.k8s.io/pod.name': 'web',
    'csi.storage.k8s.io/pod.namespace': 'default',
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': 'robot',
    'csi.storage.k8s.io/ephemeral': 'false',
  };
  const [publish] = plugin.driver.callsOf('NodePublishVolume');
  expect(publish).toMatchObject({ ...common, readonly: true, volumeContext, publishContext: {} });
});

test('a block volume has the paths of a kubelet', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  const csi = { driver: testDriver, volumeHandle: 'h' };
  await makeClaim(fixture, 'data', { spec: { csi, volumeMode: 'Block' } });
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  const { uid } = (await getPod(fixture, 'web')).metadata ?? {};
  const devices = '/kubelet/n1/plugins/kubernetes.io/csi/volumeDevices';
  expect(plugin.driver.callsOf('NodeStageVolume')).toMatchObject([
    { stagingTargetPath: `${devices}/staging/v-data`, volumeCapability: { accessType: { case: 'block' } } },
  ]);
  expect(plugin.driver.callsOf('NodePublishVolume')).toMatchObject([
    { targetPath: `${devices}/publish/v-data/${uid}`, volumeCapability: { accessType: { case: 'block' } } },
  ]);
});

test('a failing plugin is retried with the back-off of a kubelet, and other pods start', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'bad');
  await makeClaim(fixture, 'good');
  const times: number[] = [];
  plugin.driver.beforeCall = (method, request) => {
    if (method !== 'NodePublishVolume' || (request as { volumeId: string }).volumeId !== 'handle-bad') return;
    times.push(fixture.clock.monotonicMs());
    throw new CsiStatusError('Internal', 'no such device');
  };
  await makePod(fixture, 'bad', { claims: ['bad'] });
  await makePod(fixture, 'good', { claims: ['good'] });
  await fixture.settle(600_000);
  expect(await phases(fixture)).toEqual(['bad Pending', 'good Running']);
  expect(await fixture.eventLines()).toContain(
    'FailedMount bad: MountVolume.SetUp failed for volume "v-bad" : rpc error: code = Internal desc = no such device',
  );
  const waits = times.slice(1).map((time, at) => Math.round((time - (times[at] ?? 0)) / 100) / 10);
  expect(waits.slice(0, 10)).toEqual([0.5, 1, 2, 4, 8, 16, 32, 64, 122, 122]);
  expect(plugin.driver.callsOf('NodeStageVolume').length).toBe(2);
  plugin.driver.beforeCall = undefined;
  await fixture.settle(130_000);
  expect(await phases(fixture)).toEqual(['bad Running', 'good Running']);
  await remove(fixture, 'bad');
  await remove(fixture, 'good');
  await fixture.settle();
  expect(plugin.driver.mounts.isEmpty).toBe(true);
});

test('a plugin that hangs ends its calls after two minutes, and holds up no other plugin', async () => {
  const plugin = await PluginFixture.start();
  const other = await PluginFixture.start({ name: 'other.example.com' });
  await plugin.drivers.join(other.driver);
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  plugin.driver.beforeCall = (method) => (method === 'NodeGetInfo' ? undefined : new Promise(() => {}));
  for (let at = 0; at < 10; at += 1) {
    await makeClaim(fixture, `c${at}`);
    await makePod(fixture, `p${at}`, { claims: [`c${at}`] });
  }
  const csi = { driver: 'other.example.com', volumeHandle: 'h' };
  await makeClaim(fixture, 'free', { spec: { csi } });
  await makePod(fixture, 'free', { claims: ['free'] });
  await fixture.settle();
  expect(await phases(fixture)).toContain('free Running');
  await fixture.settle(121_000);
  expect(await fixture.eventLines()).toContain(
    'FailedMount p0: MountVolume.MountDevice failed for volume "v-c0" : rpc error: code = DeadlineExceeded desc = context deadline exceeded',
  );
  plugin.driver.beforeCall = undefined;
  await fixture.settle(250_000);
  expect((await phases(fixture)).every((line) => line.endsWith('Running'))).toBe(true);
});

test('a pod that is deleted stays until its volumes are unpublished', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  plugin.driver.beforeCall = (method) => {
    if (method === 'NodeUnpublishVolume') throw new CsiStatusError('Internal', 'busy');
  };
  await remove(fixture, 'web');
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual(['web Succeeded']);
  expect(await fixture.eventLines()).toContain(
    'FailedUnMount web: UnmountVolume.TearDown failed for volume "v-data" : kubernetes.io/csi: Unmounter.TearDownAt failed: rpc error: code = Internal desc = busy',
  );
  plugin.driver.beforeCall = undefined;
  await fixture.settle(130_000);
  expect(await phases(fixture)).toEqual([]);
  expect(plugin.driver.mounts.isEmpty).toBe(true);
});

test('a pod that is deleted before it started leaves nothing published', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'one');
  await makeClaim(fixture, 'two');
  plugin.driver.beforeCall = (method, request) => {
    const { volumeId } = request as { volumeId?: string };
    if (method === 'NodePublishVolume' && volumeId === 'handle-two')
      throw new CsiStatusError('Unavailable', 'no');
  };
  await makePod(fixture, 'web', { claims: ['one', 'two'] });
  await fixture.settle();
  expect(plugin.driver.mounts.published.size).toBe(1);
  await remove(fixture, 'web');
  await fixture.settle(5_000);
  expect(await phases(fixture)).toEqual([]);
  expect(plugin.driver.mounts.isEmpty).toBe(true);
  // The lost call may have published the volume.
  expect(plugin.calls).toContain('NodeUnpublishVolume handle-two');
});

test('a volume is staged again if the reply to unstaging it was lost', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'one', { claims: ['data'] });
  await fixture.settle();
  plugin.driver.afterCall = (method) => {
    if (method === 'NodeUnstageVolume') throw new CsiStatusError('Unavailable', 'lost');
  };
  await remove(fixture, 'one');
  await fixture.settle(100);
  expect(plugin.calls.at(-1)).toBe('NodeUnstageVolume handle-data');
  await makePod(fixture, 'two', { claims: ['data'] });
  await fixture.settle(5_000);
  expect(await phases(fixture)).toEqual(['two Running']);
  expect(plugin.driver.callsOf('NodeStageVolume').length).toBe(2);
});

test('a pod that ends by itself releases its volumes', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  const annotations = { 'stowage.dev/run-seconds': '5' };
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const containers = [{ name: 'main', image: 'pause' }];
  const spec = { restartPolicy: 'Never', nodeName: 'n1', containers, volumes } as const;
  await makePod(fixture, 'job', { spec, annotations });
  await fixture.settle(1_000);
  expect(plugin.driver.mounts.published.size).toBe(1);
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual(['job Succeeded']);
  expect(plugin.driver.mounts.isEmpty).toBe(true);
});
