import { expect, test } from 'vitest';
import { JoiningDrivers } from '../../csi/testing/joining-drivers.ts';
import { nodes } from '../../kube/resources.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { attacherController } from './attacher.ts';
import {
  attachingDriver,
  attachmentOf,
  deleteAttachment,
  makeAttachment,
  makeCsiNode,
  makeVolume,
} from './testing/attacher-fixture.ts';

/** Two nodes, each with its own driver and process; the volume is attached to n1. */
async function start() {
  const fixture = await VirtualTimeCluster.start();
  const drivers = { n1: attachingDriver(), n2: attachingDriver() };
  for (const [nodeName, driver] of Object.entries(drivers)) {
    await fixture.cluster.resource(nodes).create({ metadata: { name: nodeName } });
    await makeCsiNode(fixture, nodeName);
    const csiDrivers = await JoiningDrivers.of(driver);
    fixture.run([attacherController({ csiDrivers, csi: { timeoutMs: 10_000, nodeName } })]);
  }
  await makeVolume(fixture);
  await makeAttachment(fixture);
  await fixture.settle();
  return { fixture, ...drivers };
}

test('only the driver of the attachment’s node attaches and detaches', async () => {
  const { fixture, n1, n2 } = await start();
  await using _fixture = fixture;
  expect((await attachmentOf(fixture))?.status?.attached).toBe(true);
  await deleteAttachment(fixture);
  await fixture.settle();
  expect(await attachmentOf(fixture)).toBeUndefined();
  expect(n1.calls.map(({ method }) => method)).toEqual([
    'ControllerPublishVolume',
    'ControllerUnpublishVolume',
  ]);
  expect(n2.calls).toEqual([]);
});

test('a volume of a deleted node is detached by the driver of a node that reaches it', async () => {
  const { fixture } = await start();
  await using _fixture = fixture;
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await deleteAttachment(fixture);
  await fixture.settle(5_000);
  expect(await attachmentOf(fixture)).toBeUndefined();
});
