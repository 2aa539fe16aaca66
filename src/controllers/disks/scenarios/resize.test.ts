import { expect, test } from 'vitest';
import type { ClusterCall } from '../../../cluster/intercepted-cluster.ts';
import { isObjectWrite } from '../../../cluster/testing/fault-hooks.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { type Replica, replicas } from '../../../kube/stowage/replica.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { DisksFixture, diskUUID } from '../testing/disks-fixture.ts';
import { Gate } from '../testing/gate.ts';

/** Until it is opened, the disk with this number, or every disk, decides nothing. */
class VerdictGate extends Gate {
  readonly #uuid: string | undefined;

  constructor(number?: number) {
    super();
    this.#uuid = number === undefined ? undefined : diskUUID(number);
  }

  readonly before = async ({ verb, resource, name }: ClusterCall): Promise<void> => {
    const isVerdict = verb === 'update' && resource.plural === diskSchedules.plural;
    if (isVerdict && (this.#uuid ?? name) === name) await this.opened;
  };
}

test('13. rejected growth set back to the old size: scheduled again, replica can start', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.addVolume('v', { size: 50, numberOfReplicas: 1 });
  await fixture.environment.cluster
    .resource(replicas)
    .patch({ name: 'v-r0' }, { type: 'merge', body: { spec: { desiredState: 'stopped' } } });
  await fixture.request(1, { 'v-r0': 101 });
  // The volume controller releases what others requested for the replica.
  expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 50']);
  expect(await fixture.replicas()).toEqual(['v-r0 1 50 running']);
  await fixture.patchVolume('v', { size: 101 });
  await fixture.patchVolume('v', { size: 50 });
  expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 50']);
  expect((await fixture.allocation('v'))[1]).toMatch(/^True/);
});

test('14. rejected 101, then 80 asked: not read as rejected before the pass, scheduled after it', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.addVolume('v', { size: 50, numberOfReplicas: 1 });
  // The controller does not run while the user changes the size.
  await fixture.stop();
  const client = fixture.environment.cluster.resource(diskSchedules);
  await fixture.request(1, { 'v-r0': 101 });
  const schedule = await client.get({ name: diskUUID(1) });
  const refused = {
    state: 'rejected',
    scheduledSize: 50,
    observedSize: 101,
    reason: 'InsufficientStorage',
  } as const;
  await client.update(
    { ...schedule, status: { ...schedule.status, replicas: { 'v-r0': refused } } },
    { subresource: 'status' },
  );
  await fixture.request(1, { 'v-r0': 80 });
  await fixture.patchVolume('v', { size: 80 });

  const gate = new VerdictGate();
  await fixture.restart(gate);
  expect((await fixture.allocation('v'))[1]).toMatch(/^False Pending/);
  expect((await fixture.schedule(1))?.spec?.replicas).toEqual({ 'v-r0': 80 });
  expect(await fixture.verdicts(1)).toEqual(['v-r0 rejected 50 InsufficientStorage']);
  gate.open();
  await fixture.settle();
  expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 80']);
  expect(await fixture.allocation('v')).toEqual([80, expect.stringMatching(/^True/)]);
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
  const gate = new VerdictGate(3);
  const grown: string[] = [];
  const calls: string[] = [];
  await fixture.restart(gate, {
    before: ({ verb, resource, name, body }) => {
      calls.push(`${verb} ${resource.plural} ${name}`);
      const { volumeSize } = (body as Replica | undefined)?.spec ?? {};
      if (verb === 'patch' && resource.plural === replicas.plural && volumeSize !== undefined)
        grown.push(`${name} ${volumeSize}`);
    },
  });
  await fixture.patchVolume('v', { size: 30 });
  // Two disks have granted the bytes, and the third has not answered: nothing rises.
  expect(await fixture.granted()).toEqual({ 1: 30, 2: 30, 3: 10 });
  expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running', 'v-r2 3 10 running']);
  expect(await fixture.allocation('v')).toEqual([10, expect.stringMatching(/^False Pending/)]);
  expect(grown).toEqual([]);
  // It only waits.
  calls.length = 0;
  await fixture.settle(10_000);
  if (fixture.isUndisturbed) expect(calls).toEqual([]);
  gate.open();
  await fixture.settle();
  expect(await fixture.replicas()).toEqual(['v-r0 1 30 running', 'v-r1 2 30 running', 'v-r2 3 30 running']);
  expect([...new Set(grown)].sort()).toEqual(['v-r0 30', 'v-r1 30', 'v-r2 30']);
  if (fixture.isUndisturbed) expect(grown).toHaveLength(3);
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

test('what a refused expansion gives back on the disk that refused it is no reason to try it again', async () => {
  const fixture = await DisksFixture.start(60);
  const antiAffinity = { node: 'soft', disk: 'soft' } as const;
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2, antiAffinity });
  let requests = 0;
  await fixture.restart({
    before: ({ verb, resource, body }) => {
      const isRequest = verb === 'patch' && resource.plural === diskSchedules.plural;
      if (isRequest && JSON.stringify(body).includes(':40')) requests += 1;
    },
  });
  // One replica is granted 30 more, which are given back when the other one is refused.
  await fixture.patchVolume('v', { size: 40 });
  await fixture.settle(25_000);
  expect((await fixture.allocation('v'))[1]).toMatch(/^False ExpansionRejected/);
  expect(requests).toBeGreaterThanOrEqual(2);
  if (fixture.isUndisturbed) expect(requests).toBe(2);
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

/** Counts the writes of the controller. */
class WriteCount {
  count = 0;

  readonly before = (call: ClusterCall): void => {
    if (isObjectWrite(call)) this.count += 1;
  };
}

test('refused expansions rest: they write nothing and hold no bytes on other disks until a disk gains room', async () => {
  const fixture = await DisksFixture.start(1000, 180);
  const names = Array.from({ length: 16 }, (_, at) => `v${at}`);
  await fixture.addVolumes(names, { size: 10, numberOfReplicas: 2 });
  const writes = new WriteCount();
  await fixture.restart(writes);
  for (const name of names) await fixture.patchVolume(name, { size: 40 });
  expect(await fixture.granted()).toEqual({ 1: 160, 2: 160 });
  writes.count = 0;
  await fixture.settle(30 * 60_000);
  expect(writes.count).toBe(0);
  expect(await fixture.granted()).toEqual({ 1: 160, 2: 160 });
  // Room for one of them.
  await fixture.setLimit(2, 190);
  const sizes = await Promise.all(names.map(async (name) => (await fixture.allocation(name))[0]));
  expect(sizes.toSorted()).toEqual([...names.slice(1).map(() => 10), 40]);
  expect(await fixture.granted()).toEqual({ 1: 190, 2: 190 });
  // The others did not try: two requests, two verdicts, two replicas, and the phases of the expansion in the status.
  if (fixture.isUndisturbed) expect(writes.count).toBeLessThan(15);
  await fixture.checkAtRest();
});

test('a refused expansion is tried again when any disk of it gains room, also a cordoned one, and only when all have it', async () => {
  const fixture = await DisksFixture.start(35, 35);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
  await fixture.patchNode(2, { spec: { disks: { d: { allowScheduling: false } } } });
  const writes = new WriteCount();
  await fixture.restart(writes);
  await fixture.patchVolume('v', { size: 40 });
  expect((await fixture.allocation('v'))[1]).toMatch(/^False ExpansionRejected/);
  writes.count = 0;
  await fixture.setLimit(1, 40);
  // The new limit in the status of the DiskSchedule.
  if (fixture.isUndisturbed) expect(writes.count).toBe(1);
  expect(await fixture.granted()).toEqual({ 1: 10, 2: 10 });
  await fixture.setLimit(2, 40);
  expect((await fixture.allocation('v'))[0]).toBe(40);
});

test('expansions that block each other take turns: one is granted, the other one rests', async () => {
  const fixture = await DisksFixture.start(40, 40);
  await fixture.addVolumes(['v0', 'v1'], { size: 10, numberOfReplicas: 2 });
  await fixture.stop();
  for (const name of ['v0', 'v1'])
    await fixture.environment.cluster
      .resource(diskVolumes)
      .patch({ name }, { type: 'merge', body: { spec: { size: 30 } } });
  await fixture.restart();
  await fixture.settle(30_000);
  const sizes = await Promise.all(['v0', 'v1'].map(async (name) => (await fixture.allocation(name))[0]));
  expect(sizes.toSorted()).toEqual([10, 30]);
  expect(await fixture.granted()).toEqual({ 1: 40, 2: 40 });
  await fixture.checkAtRest();
});

test('a refused expansion is tried again after the controller was restarted, if a disk gained room meanwhile', async () => {
  const fixture = await DisksFixture.start(100, 25);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
  await fixture.patchVolume('v', { size: 30 });
  await fixture.stop();
  await fixture.setLimit(2, 40);
  await fixture.restart();
  expect((await fixture.allocation('v'))[0]).toBe(30);
});
