import { expect, test } from 'vitest';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { VolumeCapability_AccessMode_Mode as Mode } from '../../csi/generated/csi.ts';
import type { EnforcingDriver } from '../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../csi/testing/joining-drivers.ts';
import { csiNodes, persistentVolumes, secrets, volumeAttachments } from '../../kube/resources.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { attacherController } from './attacher.ts';
import {
  attachingDriver,
  attachmentOf,
  deleteAttachment,
  driverName,
  makeAttachment,
  makeCsiNode,
  makeVolume,
  volumeFinalizers,
} from './testing/attacher-fixture.ts';

const finalizer = 'external-attacher/enforcing-example-com';

async function start(driver: EnforcingDriver): Promise<VirtualTimeCluster> {
  const csiDrivers = await JoiningDrivers.of(driver);
  const fixture = await VirtualTimeCluster.start(attacherController({ csiDrivers }));
  await makeVolume(fixture);
  return fixture;
}

test('a volume is attached with the id of the node, and the context of the driver is recorded', async () => {
  const driver = attachingDriver();
  await using fixture = await VirtualTimeCluster.start(
    attacherController({ csiDrivers: await JoiningDrivers.of(driver) }),
  );
  const data = { password: Buffer.from('p').toString('base64') };
  await fixture.cluster.resource(secrets).create({ metadata: { namespace: 'default', name: 's' }, data });
  await makeVolume(fixture, {
    readOnly: true,
    fsType: 'xfs',
    volumeAttributes: { pool: 'p' },
    controllerPublishSecretRef: { namespace: 'default', name: 's' },
  });
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  expect(driver.callsOf('ControllerPublishVolume')).toMatchObject([
    {
      volumeId: 'handle',
      nodeId: 'id-of-n1',
      volumeCapability: {
        accessMode: { mode: Mode.SINGLE_NODE_WRITER },
        accessType: { case: 'mount', value: { fsType: 'xfs' } },
      },
      // The driver does not have PUBLISH_READONLY.
      readonly: false,
      volumeContext: { pool: 'p' },
      secrets: { password: 'p' },
    },
  ]);
  const attachment = await attachmentOf(fixture);
  expect(attachment?.status).toEqual({ attached: true, attachmentMetadata: { attachedTo: 'id-of-n1' } });
  expect(attachment?.metadata).toMatchObject({
    finalizers: [finalizer],
    annotations: { 'csi.alpha.kubernetes.io/node-id': 'id-of-n1' },
  });
  expect(await volumeFinalizers(fixture)).toContain(finalizer);
  expect(fixture.errors).toEqual([]);
});

test('read-only volumes are published as such by drivers that can', async () => {
  const driver = attachingDriver({
    controllerCapabilities: ['PUBLISH_UNPUBLISH_VOLUME', 'PUBLISH_READONLY', 'SINGLE_NODE_MULTI_WRITER'],
  });
  await using fixture = await VirtualTimeCluster.start(
    attacherController({ csiDrivers: await JoiningDrivers.of(driver) }),
  );
  await makeVolume(fixture, { readOnly: true });
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  expect(driver.callsOf('ControllerPublishVolume')).toMatchObject([
    { readonly: true, volumeCapability: { accessMode: { mode: Mode.SINGLE_NODE_MULTI_WRITER } } },
  ]);
});

test('a deleted attachment is detached before it goes, and then the volume may go', async () => {
  const driver = attachingDriver();
  await using fixture = await start(driver);
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  await fixture.cluster.resource(persistentVolumes).delete({ name: 'v' });
  await fixture.settle();
  expect(await volumeFinalizers(fixture)).toContain(finalizer);
  await deleteAttachment(fixture);
  await fixture.settle();
  expect(driver.callsOf('ControllerUnpublishVolume')).toMatchObject([
    { volumeId: 'handle', nodeId: 'id-of-n1' },
  ]);
  expect([...driver.published]).toEqual([]);
  expect(await attachmentOf(fixture)).toBeUndefined();
  // The finalizer of the protection controller, which does not run here, is all that is left.
  expect(await volumeFinalizers(fixture)).not.toContain(finalizer);
});

test('a volume is detached from a node that is gone', async () => {
  const driver = attachingDriver();
  await using fixture = await start(driver);
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  await fixture.cluster.resource(csiNodes).delete({ name: 'n1' });
  await deleteAttachment(fixture);
  await fixture.settle();
  expect([...driver.published]).toEqual([]);
  expect(await attachmentOf(fixture)).toBeUndefined();
});

test('a driver without ControllerPublishVolume gets no call, and the attachment no finalizer', async () => {
  const driver = attachingDriver({ controllerCapabilities: ['CREATE_DELETE_VOLUME'] });
  await using fixture = await start(driver);
  await makeAttachment(fixture);
  await fixture.settle();
  const attachment = await attachmentOf(fixture);
  expect(attachment?.status).toEqual({ attached: true });
  expect(attachment?.metadata?.finalizers ?? []).toEqual([]);
  await deleteAttachment(fixture);
  await fixture.settle();
  expect(await attachmentOf(fixture)).toBeUndefined();
  expect(driver.calls.filter(({ method }) => /Publish|Unpublish/.test(method))).toEqual([]);
});

test('attachments of other drivers are left alone until their driver joins', async () => {
  const csiDrivers = await JoiningDrivers.of();
  const driver = attachingDriver();
  await using fixture = await VirtualTimeCluster.start(attacherController({ csiDrivers }));
  await makeVolume(fixture);
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  expect((await attachmentOf(fixture))?.status?.attached).toBe(false);
  await csiDrivers.join(driver);
  await fixture.settle();
  expect((await attachmentOf(fixture))?.status?.attached).toBe(true);
  expect(driver.callsOf('ControllerPublishVolume')).toHaveLength(1);
});

test('a node whose plugin has not registered yet: the error says so, and the registration wakes the attachment', async () => {
  const driver = attachingDriver();
  await using fixture = await start(driver);
  await makeAttachment(fixture);
  await fixture.settle();
  const waiting = await attachmentOf(fixture);
  expect(waiting?.status?.attachError?.message).toBe(`CSINode n1 does not contain driver ${driverName}`);
  // Nothing was published, so the attachment can still be deleted immediately.
  expect(waiting?.metadata?.finalizers ?? []).toEqual([]);
  await makeCsiNode(fixture);
  await fixture.settle(10);
  expect((await attachmentOf(fixture))?.status).toMatchObject({ attached: true });
  expect((await attachmentOf(fixture))?.status?.attachError).toBeUndefined();
});

test('a failing driver is asked again with a growing delay, and its error is recorded with the code', async () => {
  const driver = attachingDriver();
  driver.beforeCall = () => {
    throw new CsiStatusError('ResourceExhausted', 'no slot left');
  };
  await using fixture = await start(driver);
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle(2_900);
  // The finalizer of the first attempt leads to the second, and the back-off to the third; the records of errors lead to none.
  expect(driver.callsOf('ControllerPublishVolume')).toHaveLength(3);
  await fixture.settle(57_100);
  const attachment = await attachmentOf(fixture);
  expect(attachment?.status?.attached).toBe(false);
  expect(attachment?.status?.attachError).toMatchObject({
    message: `CSI driver ${driverName}: ControllerPublishVolume: ResourceExhausted: no slot left`,
    errorCode: 8,
  });
  const calls = driver.callsOf('ControllerPublishVolume').length;
  expect(calls).toBeGreaterThanOrEqual(3);
  expect(calls).toBeLessThanOrEqual(8);
  driver.beforeCall = undefined;
  await fixture.settle(60_000);
  expect((await attachmentOf(fixture))?.status).toEqual({
    attached: true,
    attachmentMetadata: { attachedTo: 'id-of-n1' },
  });
});

test('a lost reply: the volume is published again; if the attachment is deleted instead, it is unpublished', async () => {
  const driver = attachingDriver();
  driver.afterCall = (method) => {
    if (method === 'ControllerPublishVolume') throw new CsiStatusError('Unavailable', 'lost');
  };
  await using fixture = await start(driver);
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  expect([...driver.published]).toEqual(['handle id-of-n1']);
  await deleteAttachment(fixture);
  await fixture.settle(10_000);
  expect([...driver.published]).toEqual([]);
  expect(await attachmentOf(fixture)).toBeUndefined();
});

test('a driver that cannot detach: the attachment stays, with the error, until it can', async () => {
  const driver = attachingDriver();
  await using fixture = await start(driver);
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  driver.beforeCall = () => {
    throw new CsiStatusError('Internal', 'stuck');
  };
  await deleteAttachment(fixture);
  await fixture.settle();
  expect((await attachmentOf(fixture))?.status?.detachError?.message).toBe(
    `CSI driver ${driverName}: ControllerUnpublishVolume: Internal: stuck`,
  );
  driver.beforeCall = undefined;
  await fixture.settle(10_000);
  expect(await attachmentOf(fixture)).toBeUndefined();
});

test('a driver that hangs delays only its own attachment', async () => {
  const driver = attachingDriver();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  driver.beforeCall = (_, request) =>
    (request as { readonly volumeId: string }).volumeId === 'handle' ? held : undefined;
  await using fixture = await start(driver);
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  const other = { driver: driverName, volumeHandle: 'other' };
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] as const, csi: other };
  await fixture.cluster.resource(persistentVolumes).create({ metadata: { name: 'w' }, spec });
  const attachments = fixture.cluster.resource(volumeAttachments);
  const source = { persistentVolumeName: 'w' };
  await attachments.create({
    metadata: { name: 'b' },
    spec: { attacher: driverName, nodeName: 'n1', source },
  });
  await fixture.settle();
  expect((await attachments.get({ name: 'b' })).status?.attached).toBe(true);
  expect((await attachmentOf(fixture))?.status?.attached).toBe(false);
  release();
  await fixture.settle();
  expect((await attachmentOf(fixture))?.status?.attached).toBe(true);
});

test('a volume that is being deleted, or belongs to another driver, is not attached', async () => {
  const driver = attachingDriver();
  await using fixture = await VirtualTimeCluster.start(
    attacherController({ csiDrivers: await JoiningDrivers.of(driver) }),
  );
  await makeVolume(fixture, { driver: 'other.example.com' });
  await makeCsiNode(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  expect((await attachmentOf(fixture))?.status?.attachError?.message).toBe(
    `PersistentVolume "v" is not a volume of CSI driver ${driverName}`,
  );
  expect(driver.calls).toEqual([]);
});
