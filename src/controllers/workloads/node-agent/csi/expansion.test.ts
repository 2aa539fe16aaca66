import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../../csi/csi-errors.ts';
import type { CsiRequest } from '../../../../csi/csi-methods.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { getClaim, makeClaim, makeNode, makePod, namespace, phases } from '../testing/agent-fixture.ts';
import { makeCsiDriver, PluginFixture } from './testing/plugin-fixture.ts';

const key = { namespace, name: 'data' };

/** The expander has finished its part, and the node has to continue: the volume has 3Gi, the claim 1Gi. */
async function askNode({ cluster }: VirtualTimeCluster): Promise<void> {
  const spec = { capacity: { storage: '3Gi' } };
  await cluster.resource(persistentVolumes).patch({ name: 'v-data' }, { type: 'merge', body: { spec } });
  const status = {
    allocatedResources: { storage: '3Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
    conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
  };
  await cluster
    .resource(persistentVolumeClaims)
    .patch(key, { type: 'merge', body: { status } }, { subresource: 'status' });
}

async function start(plugin: PluginFixture): Promise<VirtualTimeCluster> {
  const fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  return fixture;
}

const sizes = async (fixture: VirtualTimeCluster) => {
  const { status } = await getClaim(fixture, 'data');
  return [status?.capacity?.storage, status?.allocatedResourceStatuses?.storage];
};

test('a volume grows after it is published, before the pod starts', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await start(plugin);
  await askNode(fixture);
  let phaseAtCall: readonly string[] = [];
  plugin.driver.beforeCall = async (method) => {
    if (method === 'NodeExpandVolume') phaseAtCall = await phases(fixture);
  };
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(plugin.calls).toEqual([
    'NodeStageVolume handle-data',
    'NodePublishVolume handle-data',
    'NodeExpandVolume handle-data',
  ]);
  expect(phaseAtCall).toEqual(['web Pending']);
  const [publish] = plugin.driver.callsOf('NodePublishVolume') as [CsiRequest<'NodePublishVolume'>];
  expect(plugin.driver.callsOf('NodeExpandVolume')).toMatchObject([
    {
      volumePath: publish.targetPath,
      stagingTargetPath: publish.stagingTargetPath,
      capacityRange: { requiredBytes: 3n * 1024n ** 3n },
    },
  ]);
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(await sizes(fixture)).toEqual(['3Gi', undefined]);
  expect(await fixture.eventLines()).toEqual([
    'FileSystemResizeSuccessful data: MountVolume.NodeExpandVolume succeeded for volume "v-data" n1',
    'FileSystemResizeSuccessful web: MountVolume.NodeExpandVolume succeeded for volume "v-data" n1',
  ]);
});

test('a volume grows under running pods, once for all of them', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await start(plugin);
  await makePod(fixture, 'one', { claims: ['data'] });
  await makePod(fixture, 'two', { claims: ['data'] });
  await fixture.settle();
  await askNode(fixture);
  await fixture.settle();
  expect(plugin.driver.callsOf('NodeExpandVolume').length).toBe(1);
  expect(await sizes(fixture)).toEqual(['3Gi', undefined]);
});

test('the volume of a running pod does not grow before the plugin has answered again', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start();
  const first = fixture.run([plugin.agent()]);
  await makeCsiDriver(fixture);
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  await first.close();
  const later = await PluginFixture.start({ joinsLater: true });
  for (const [path, text] of plugin.directory.files) later.directory.files.set(path, text);
  for (const [path, id] of plugin.driver.mounts.published) later.driver.mounts.published.set(path, id);
  fixture.run([later.agent()]);
  await askNode(fixture);
  await fixture.settle();
  expect(await sizes(fixture)).toEqual(['1Gi', 'NodeResizePending']);
  await later.join();
  await fixture.settle();
  expect(later.calls).toEqual(['NodeExpandVolume handle-data']);
  expect(await sizes(fixture)).toEqual(['3Gi', undefined]);
});

test('a plugin that cannot expand leaves nothing to do on the node', async () => {
  const plugin = await PluginFixture.start({ nodeCapabilities: ['STAGE_UNSTAGE_VOLUME'] });
  await using fixture = await start(plugin);
  await askNode(fixture);
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(plugin.driver.callsOf('NodeExpandVolume')).toEqual([]);
  expect(await sizes(fixture)).toEqual(['3Gi', undefined]);
});

test('a failure delays the pod, and is retried', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await start(plugin);
  await askNode(fixture);
  plugin.driver.beforeCall = (method) => {
    if (method === 'NodeExpandVolume') throw new CsiStatusError('Internal', 'no tools');
  };
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle(3_000);
  expect(await phases(fixture)).toEqual(['web Pending']);
  expect(await sizes(fixture)).toEqual(['1Gi', 'NodeResizeInProgress']);
  expect(await fixture.eventLines()).toContain(
    'VolumeResizeFailed web: NodeExpandVolume.NodeExpandVolume failed for volume "v-data" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = no tools',
  );
  plugin.driver.beforeCall = undefined;
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(await sizes(fixture)).toEqual(['3Gi', undefined]);
});

test('a size that the plugin refuses is recorded, and the pod starts with the old size', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await start(plugin);
  await askNode(fixture);
  plugin.driver.beforeCall = (method) => {
    if (method === 'NodeExpandVolume') throw new CsiStatusError('OutOfRange', 'too large');
  };
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle(60_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(await sizes(fixture)).toEqual(['1Gi', 'NodeResizeInfeasible']);
  expect(plugin.driver.callsOf('NodeExpandVolume').length).toBe(1);
});

test('a plugin that cannot expand a volume in use lets the pod start', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await start(plugin);
  await askNode(fixture);
  plugin.driver.beforeCall = (method) => {
    if (method === 'NodeExpandVolume') throw new CsiStatusError('FailedPrecondition', 'in use');
  };
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(await sizes(fixture)).toEqual(['1Gi', 'NodeResizeInProgress']);
});
