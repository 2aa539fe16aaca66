import { expect, test } from 'vitest';
import { JoiningDrivers } from '../../csi/testing/joining-drivers.ts';
import { csiNodes, persistentVolumes, volumeAttachments } from '../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { attacherController } from './attacher.ts';
import {
  attachingDriver,
  deleteAttachment,
  makeAttachment,
  makeCsiNode,
  makeVolume,
} from './testing/attacher-fixture.ts';

const resources = [persistentVolumes, volumeAttachments, csiNodes];

test('crashing after any write while a volume is attached does not change the final state', async () => {
  const csiDrivers = await JoiningDrivers.of(attachingDriver());
  const places = await crashControllersAtEveryWrite({
    controllers: [attacherController({ csiDrivers })],
    prepare: async (fixture) => {
      await makeVolume(fixture);
      await makeCsiNode(fixture);
      await makeAttachment(fixture);
    },
    resources,
  });
  // The finalizers of volume and attachment, and the status.
  expect(places).toBe(3);
});

test('crashing after any write while a volume is detached and deleted leaves nothing published', async () => {
  const driver = attachingDriver();
  const csiDrivers = await JoiningDrivers.of(driver);
  const attacher = attacherController({ csiDrivers });
  const places = await crashControllersAtEveryWrite({
    controllers: [attacher],
    prepare: async (fixture) => {
      await makeVolume(fixture);
      await makeCsiNode(fixture);
      await makeAttachment(fixture);
      const before = fixture.run([attacher]);
      await fixture.settle();
      await before.close();
      expect(driver.published.size).toBe(1);
      await deleteAttachment(fixture);
      await fixture.cluster.resource(persistentVolumes).delete({ name: 'v' });
    },
    resources,
  });
  expect(places).toBe(2);
  expect([...driver.published]).toEqual([]);
});

test.each(['ControllerPublishVolume', 'ControllerUnpublishVolume'])(
  'a process that dies during %s leaves no volume published without an attachment',
  async (method) => {
    const driver = attachingDriver();
    const csiDrivers = await JoiningDrivers.of(driver);
    const attacher = attacherController({ csiDrivers });
    await using fixture = await VirtualTimeCluster.start();
    await makeVolume(fixture);
    await makeCsiNode(fixture);
    await makeAttachment(fixture);
    const first = fixture.run([attacher]);
    driver.afterCall = async (called) => {
      if (called !== method) return;
      driver.afterCall = undefined;
      await new Promise(() => {});
    };
    await fixture.settle();
    if (method === 'ControllerUnpublishVolume') await deleteAttachment(fixture);
    await fixture.settle();
    void first.close();
    fixture.run([attacher]);
    if (method === 'ControllerPublishVolume') await deleteAttachment(fixture);
    await fixture.settle();
    expect([...driver.published]).toEqual([]);
    expect((await fixture.cluster.resource(volumeAttachments).list()).items).toEqual([]);
  },
);
