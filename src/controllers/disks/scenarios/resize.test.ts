import { expect, test } from 'vitest';
import { diskVolumes } from '../../../kube/disks/volume.ts';
import { DisksFixture } from '../testing/disks-fixture.ts';

test('13. rejected growth set back to the old size: scheduled again, replica can start', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.addVolume('v', { size: 50, numberOfReplicas: 1 });
  await fixture.request(1, { 'v-r0': 101 });
  // The volume takes back what others requested for its replica.
  expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 50']);
  expect(await fixture.replicas()).toEqual(['v-r0 1 50 running']);
  await fixture.patchVolume('v', { size: 101 });
  await fixture.patchVolume('v', { size: 50 });
  expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 50']);
  expect((await fixture.allocation('v'))[1]).toMatch(/^True/);
});

test('17. disk with scheduling disabled: growth of an existing entry accepted, new request rejected with a reason', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.addVolume('v', { size: 50, numberOfReplicas: 1 });
  await fixture.patchNode(1, { spec: { disks: { d: { allowScheduling: false } } } });
  await fixture.patchVolume('v', { size: 60 });
  expect((await fixture.allocation('v'))[0]).toBe(60);
  await fixture.request(1, { other: 10 });
  expect(await fixture.verdicts(1)).toEqual(['other rejected 0 SchedulingDisabled', 'v-r0 scheduled 60']);
  expect(await fixture.condition(1, 'Schedulable')).toBe(
    'False SchedulingDisabled: disk d of StorageNode n1 has allowScheduling: false',
  );
  await fixture.patchNode(1, { spec: { disks: { d: { allowScheduling: true } } } });
  expect(await fixture.verdicts(1)).toEqual(['other scheduled 10', 'v-r0 scheduled 60']);
});

test('18. expansion of three replicas, all accepted: sizes rise once, together', async () => {
  const fixture = await DisksFixture.start(100, 100, 100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 3 });
  await fixture.patchVolume('v', { size: 30 });
  expect(await fixture.replicas()).toEqual(['v-r0 1 30 running', 'v-r1 2 30 running', 'v-r2 3 30 running']);
  expect(await fixture.allocation('v')).toEqual([
    30,
    'True Scheduled: Every replica has been granted 30 bytes',
  ]);
});

test('19. one of three rejects: the other two rolled back, volume size untouched, condition names the disk and the missing bytes', async () => {
  const fixture = await DisksFixture.start(100, 25, 100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 3 });
  await fixture.patchVolume('v', { size: 30 });
  expect(await fixture.granted()).toEqual({ 1: 10, 2: 10, 3: 10 });
  expect(await fixture.allocation('v')).toEqual([
    10,
    'False ExpansionRejected: expansion to 30 bytes: disk d on node n2: 15 bytes free, 20 more requested: 5 missing',
  ]);
  // The wish stays, and is fulfilled when the disk that refused gains room.
  await fixture.setLimit(2, 40);
  expect(await fixture.allocation('v')).toEqual([
    30,
    'True Scheduled: Every replica has been granted 30 bytes',
  ]);
});

test('20. two replicas of the volume on one disk need twice the growth', async () => {
  const fixture = await DisksFixture.start(50);
  const antiAffinity = { node: 'soft', disk: 'soft' } as const;
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2, antiAffinity });
  expect(await fixture.granted()).toEqual({ 1: 20 });
  await fixture.patchVolume('v', { size: 30 });
  expect(await fixture.allocation('v')).toEqual([
    10,
    expect.stringMatching(/^False ExpansionRejected: .* missing$/),
  ]);
  expect(await fixture.granted()).toEqual({ 1: 20 });
  await fixture.patchVolume('v', { size: 25 });
  expect((await fixture.allocation('v'))[0]).toBe(25);
  expect(await fixture.granted()).toEqual({ 1: 50 });
});

test('a refused expansion that is taken back leaves the volume as it was', async () => {
  const fixture = await DisksFixture.start(100, 25);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
  await fixture.patchVolume('v', { size: 30 });
  await fixture.patchVolume('v', { size: 10 });
  expect(await fixture.granted()).toEqual({ 1: 10, 2: 10 });
  expect((await fixture.allocation('v'))[1]).toMatch(/^True Scheduled/);
  const { status } = await fixture.environment.cluster.resource(diskVolumes).get({ name: 'v' });
  expect(status?.refusedExpansion).toBeUndefined();
});

test('an expansion on a disk that is not ready counts as rejected after half a minute, and succeeds when it is back', async () => {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
  await fixture.setReady(2, false);
  await fixture.patchVolume('v', { size: 30 });
  // Granted on the other disk meanwhile: nothing has grown.
  expect(await fixture.granted()).toEqual({ 1: 30, 2: 10 });
  expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running']);
  expect((await fixture.allocation('v'))[1]).toMatch(/^False Pending/);
  await fixture.settle(32_000);
  expect(await fixture.allocation('v')).toEqual([
    10,
    'False ExpansionRejected: expansion to 30 bytes: disk d on node n2: it does not answer',
  ]);
  expect(await fixture.granted()).toEqual({ 1: 10, 2: 10 });
  await fixture.setReady(2, true);
  expect((await fixture.allocation('v'))[0]).toBe(30);
  await fixture.checkAtRest();
});
