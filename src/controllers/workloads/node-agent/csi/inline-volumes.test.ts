import { expect, test } from 'vitest';
import { pods } from '../../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { getPod, makeNode, namespace, phases, testDriver } from '../testing/agent-fixture.ts';
import { makeCsiDriver, makeInlinePod, PluginFixture } from './testing/plugin-fixture.ts';
import { inlineVolumeHandle } from './volume-request.ts';

test('an inline volume is only published, under the id that a kubelet makes', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, { volumeLifecycleModes: ['Ephemeral'] });
  await makeNode(fixture, 'n1');
  await makeInlinePod(fixture, 'web', { fsSize: '1Gi', fsType: 'ext4' });
  await fixture.settle();
  const { uid = '' } = (await getPod(fixture, 'web')).metadata ?? {};
  const id = inlineVolumeHandle(uid, 'scratch');
  expect(plugin.calls).toEqual([`NodePublishVolume ${id}`]);
  // Without podInfoOnMount the driver gets no size: it may reject fields that it does not know.
  expect(plugin.driver.callsOf('NodePublishVolume')).toMatchObject([
    { stagingTargetPath: '', volumeContext: {}, publishContext: {} },
  ]);
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle();
  expect(plugin.calls.slice(1)).toEqual([`NodeUnpublishVolume ${id}`]);
  expect(plugin.driver.mounts.isEmpty).toBe(true);
});

test.each([
  { what: 'fsSize', csi: { fsSize: '1Gi' }, size: '1Gi' },
  { what: 'the attribute', csi: { volumeAttributes: { 'csi.storage.k8s.io/size': '2Gi' } }, size: '2Gi' },
  { what: 'zero', csi: { fsSize: '0' }, size: '0' },
  { what: 'no size', csi: {}, size: '' },
])('with podInfoOnMount the size of an inline volume is passed: $what', async ({ csi, size }) => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  await makeCsiDriver(fixture, { volumeLifecycleModes: ['Persistent', 'Ephemeral'], podInfoOnMount: true });
  await makeNode(fixture, 'n1');
  await makeInlinePod(fixture, 'web', csi);
  await fixture.settle();
  expect(plugin.driver.callsOf('NodePublishVolume')).toMatchObject([
    {
      volumeContext: { 'csi.storage.k8s.io/ephemeral': 'true', 'csi.storage.k8s.io/size': size },
      publishContext: { 'csi.storage.k8s.io/size': size },
    },
  ]);
});

test.each([
  { spec: undefined, why: '(no CSIDriver object)' },
  { spec: {}, why: '(only supports ["Persistent"])' },
])('an inline volume of a driver without that mode waits: $why', async ({ spec, why }) => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start(plugin.agent());
  if (spec !== undefined) await makeCsiDriver(fixture, spec);
  await makeNode(fixture, 'n1');
  await makeInlinePod(fixture, 'web');
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Pending']);
  expect(plugin.calls).toEqual([]);
  expect(await fixture.eventLines()).toEqual([
    `FailedMount web: MountVolume.NewMounter initialization failed for volume "scratch" : volume mode "Ephemeral" not supported by driver ${testDriver} ${why}`,
  ]);
});
