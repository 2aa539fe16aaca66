import { describe, expect, test } from 'vitest';
import {
  csiDrivers,
  csiStorageCapacities,
  persistentVolumes,
  storageClasses,
} from '../../../kube/resources.ts';
import { diskSettings } from '../../../kube/stowage/disk-settings.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { disksDriver, diskVolumes } from '../../../kube/stowage/volume.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { allControllers } from '../../all-controllers.ts';
import {
  DiskClaimsFixture,
  diskClaimControllers,
} from '../../provisioner/disks/testing/disk-claims-fixture.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';

async function addClass(
  { cluster }: DiskClaimsFixture,
  name: string,
  parameters: Readonly<Record<string, string>>,
): Promise<void> {
  await cluster.resource(storageClasses).create({
    metadata: { name },
    provisioner: disksDriver,
    parameters,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
}

async function objectOf({ cluster }: DiskClaimsFixture, className: string) {
  const { items } = await cluster.resource(csiStorageCapacities).list();
  return items.find(({ storageClassName }) => storageClassName === className);
}

describe('the published room of a class', () => {
  test('counts all replicas of a volume, on different nodes', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 60, 30] });
    await addClass(fixture, 'single', { numberOfReplicas: '1' });
    await addClass(fixture, 'triple', {});
    await fixture.settle();
    expect(await fixture.figures()).toEqual(['disks 90 60', 'single 190 100', 'triple 30 30']);
    const object = await objectOf(fixture, 'disks');
    expect(object?.nodeTopology).toEqual({});
    expect(object?.metadata?.namespace).toBe('kube-system');
  });

  test('follows the disks, their tags and the settings', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100, 100] });
    await addClass(fixture, 'fast', { numberOfReplicas: '2', diskSelector: 'ssd' });
    await fixture.settle();
    expect(await fixture.figures()).toEqual(['disks 150 100', 'fast 0 0']);
    const patch = async (name: string, body: object) => {
      await fixture.cluster.resource(storageNodes).patch({ name }, { type: 'merge', body }, {});
      await fixture.settle();
    };
    for (const name of ['n1', 'n2']) await patch(name, { spec: { disks: { d: { tags: ['ssd'] } } } });
    expect(await fixture.figures()).toEqual(['disks 150 100', 'fast 100 100']);
    await patch('n3', { spec: { allowScheduling: false } });
    expect(await fixture.figures()).toEqual(['disks 100 100', 'fast 100 100']);
    await fixture.cluster.resource(diskSettings).create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'DiskSettings',
      metadata: { name: 'default' },
      spec: { capacityPolicy: 'OverProvision', overProvisioningPercentage: 200 },
    });
    await fixture.settle();
    expect(await fixture.figures()).toEqual(['disks 2M 2M', 'fast 2M 2M']);
  });

  test('is shared by classes that use the same disks, and by no others', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
    await addClass(fixture, 'single', { numberOfReplicas: '1' });
    await addClass(fixture, 'fast', { numberOfReplicas: '1', diskSelector: 'ssd' });
    await fixture.settle();
    const backing = async (name: string) =>
      (await objectOf(fixture, name))?.metadata?.labels?.[labels.backingPool];
    expect(await backing('single')).toBe(await backing('disks'));
    expect(await backing('fast')).not.toBe(await backing('disks'));
  });

  test('is measured again after a volume came into being, though it is the same, so that the promise ends', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
    await fixture.addPod('app', 40);
    await fixture.settle();
    const [volume] = (await fixture.cluster.resource(persistentVolumes).list()).items;
    const createdAt = volume?.metadata?.annotations?.[annotations.volumeCreatedAt] ?? '';
    const object = await objectOf(fixture, 'disks');
    expect(Date.parse(object?.metadata?.annotations?.[annotations.measuredAt] ?? '')).toBeGreaterThan(
      Date.parse(createdAt),
    );
    const { resourceVersion } = object?.metadata ?? {};
    await fixture.settle(60_000);
    expect((await objectOf(fixture, 'disks'))?.metadata?.resourceVersion).toBe(resourceVersion);
    // The promise has ended: all of the rest can be used.
    await fixture.addPod('rest', 60);
    await fixture.settle();
    expect(await fixture.phases()).toEqual(['app Running', 'rest Running']);
    expect(await fixture.granted()).toEqual([100, 100]);
  });

  test('goes with the class, and comes back if another client deletes it', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
    await addClass(fixture, 'single', { numberOfReplicas: '1' });
    await fixture.settle();
    await fixture.cluster.resource(storageClasses).delete({ name: 'single' });
    const { namespace, name = '' } = (await objectOf(fixture, 'disks'))?.metadata ?? {};
    await fixture.cluster.resource(csiStorageCapacities).delete({ namespace, name });
    await fixture.settle();
    expect(await fixture.figures()).toEqual(['disks 100 100']);
  });
});

test('two instances of all controllers place what fits, and nothing beyond', async () => {
  const fixture = await DiskClaimsFixture.start({ limits: [100, 100, 100] });
  // A second scheduler would place the same pods; of all others any number may run.
  const second = diskClaimControllers().filter(({ name }) =>
    ['provisioner', 'disks', 'expander'].includes(name),
  );
  fixture.environment.run(second);
  for (let at = 0; at < 16; at += 1) await fixture.addPod(`app-${at}`, 10);
  await fixture.settle(60_000);
  const running = (await fixture.phases()).filter((line) => line.endsWith('Running')).length;
  const granted = await fixture.granted();
  expect(granted.reduce((sum, bytes) => sum + bytes, 0)).toBe(running * 20);
  expect(Math.max(...granted)).toBeLessThanOrEqual(100);
  // Fifteen fit. If two instances choose at the same moment, the last bytes may be on one node, where no volume can have two replicas.
  expect(running).toBeGreaterThanOrEqual(12);
  expect(await fixture.figures()).toEqual(['disks 0 0']);
  expect((await fixture.cluster.resource(diskVolumes).list()).items).toHaveLength(running);
});

test('the class and the driver come with the first StorageNode, where that is wanted', async () => {
  await using environment = await VirtualTimeCluster.start();
  await environment.installOwnKinds();
  environment.run(allControllers({ allocationOnly: true, createsDiskClass: true }));
  const { cluster } = environment;
  const classes = async () =>
    (await cluster.resource(storageClasses).list()).items.map(({ metadata }) => metadata?.name);
  await environment.settle();
  expect(await classes()).toEqual([]);
  const spec = { disks: { d: { path: '/d' } } };
  await cluster
    .resource(storageNodes)
    .create({ apiVersion: 'stowage.dev/v1alpha1', kind: 'StorageNode', metadata: { name: 'n1' }, spec });
  await environment.settle();
  expect(await classes()).toEqual(['stowage-disks']);
  expect((await cluster.resource(csiDrivers).get({ name: disksDriver })).spec).toMatchObject({
    attachRequired: false,
    storageCapacity: true,
  });
});
