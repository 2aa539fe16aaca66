import { expect, onTestFinished, test } from 'vitest';
import { WatchGate } from '../../cluster/testing/fault-hooks.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { DisksFixture, diskUUID } from './testing/disks-fixture.ts';

test('a volume with the name of a deleted one does not start with the grant of its replica', async () => {
  const fixture = await DisksFixture.start(100);
  const gate = new WatchGate(diskSchedules);
  onTestFinished(() => gate.release());
  await fixture.restart(gate);
  await fixture.addVolume('v', { size: 30, numberOfReplicas: 1 });
  gate.hold();
  const { cluster } = fixture.environment;
  await cluster.resource(diskVolumes).delete({ name: 'v' });
  await cluster.resource(replicas).delete({ name: 'v-r0' });
  await fixture.addVolume('v', { size: 20, numberOfReplicas: 1 });
  expect(await fixture.replicas()).toEqual(['v-r0 1 20 stopped']);
  gate.release();
  await fixture.settle(60_000);
  expect(await fixture.replicas()).toEqual(['v-r0 1 20 running']);
  expect(await fixture.granted()).toEqual({ 1: 20 });
});

test('a disk does not grant more than it has for the data of a deleted replica', async () => {
  const fixture = await DisksFixture.start(100);
  const gate = new WatchGate(replicas);
  onTestFinished(() => gate.release());
  await fixture.restart(gate);
  await fixture.addVolume('v', { size: 30, numberOfReplicas: 1 });
  await fixture.setHealthy('v-r0');
  gate.hold();
  const { cluster } = fixture.environment;
  await cluster.resource(diskVolumes).delete({ name: 'v' });
  await fixture.request(1, { 'v-r0': null });
  const client = cluster.resource(replicas);
  await client.patch({ name: 'v-r0' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await client.delete({ name: 'v-r0' });
  const spec = { volumeName: 'w', volumeSize: 150, nodeID: 'n1', diskID: diskUUID(1) };
  await client.create({ metadata: { name: 'v-r0' }, spec });
  await fixture.request(1, { 'v-r0': 150 });
  expect(await fixture.verdicts(1)).toEqual(['v-r0 rejected 0 InsufficientStorage']);
});
