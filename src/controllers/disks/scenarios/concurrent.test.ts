import { expect, test } from 'vitest';
import type { ClusterCall, ClusterHooks } from '../../../cluster/intercepted-cluster.ts';
import { isReason } from '../../../kube/api-error.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { type DiskVolume, diskVolumes } from '../../../kube/stowage/volume.ts';
import { DisksFixture, diskUUID } from '../testing/disks-fixture.ts';
import { Gate } from '../testing/gate.ts';

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `v${at}`);
}

function isScheduleCall({ resource }: ClusterCall): boolean {
  return resource.plural === diskSchedules.plural;
}

/** The request in the body of a patch of a schedule; null for a withdrawal. */
function requestOf(call: ClusterCall): number | null | undefined {
  if (call.verb !== 'patch' || !isScheduleCall(call)) return undefined;
  const { spec } = call.body as { spec?: { replicas?: Record<string, number | null> } };
  return Object.values(spec?.replicas ?? {})[0];
}

test('21. 50 volumes, one disk with room for 10: exactly 10 scheduled, never above the limit in any stored version', async () => {
  const fixture = await DisksFixture.start(100);
  fixture.runAnother();
  await fixture.addVolumes(numbered(50), { size: 10, numberOfReplicas: 1 });
  const running = (await fixture.replicas()).filter((line) => line.endsWith('running'));
  expect(running).toHaveLength(10);
  expect(await fixture.granted()).toEqual({ 1: 100 });
  // A freed disk wakes the next one.
  const [first = ''] = running.map((line) => line.split(' ')[0] ?? '');
  await fixture.environment.cluster.resource(diskVolumes).delete({ name: first.replace('-r0', '') });
  await fixture.environment.cluster.resource(replicas).delete({ name: first });
  await fixture.settle(5_000);
  expect(await fixture.granted()).toEqual({ 1: 100 });
});

test('22. the script of longhorn#10422: two claims whose sum is larger than the only disk', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.stop();
  // Two instances, and each knows one of the volumes: both have chosen the disk before either of them has requested.
  let waiting = 0;
  const bothHaveChosen = new Gate();
  const hooksOf = (volume: string): ClusterHooks => ({
    onWatchEvent: ({ resource }, event) =>
      waiting < 2 &&
      resource.plural === diskVolumes.plural &&
      event.type !== 'BOOKMARK' &&
      event.object.metadata?.name !== volume
        ? 'drop'
        : undefined,
    before: async (call) => {
      if (requestOf(call) === undefined || waiting === 2) return;
      waiting += 1;
      if (waiting === 2) bothHaveChosen.open();
      await bothHaveChosen.opened;
    },
  });
  await fixture.restartOne(hooksOf('a'));
  fixture.runAnother(hooksOf('b'));
  await fixture.settle();
  await fixture.addVolumes(['a', 'b'], { size: 60, numberOfReplicas: 1 });
  expect(waiting).toBe(2);
  expect((await fixture.verdicts(1)).map((line) => line.split(' ')[1]).sort()).toEqual([
    'rejected',
    'scheduled',
  ]);
  expect(await fixture.granted()).toEqual({ 1: 60 });
  const states = [(await fixture.allocation('a'))[1], (await fixture.allocation('b'))[1]].sort();
  expect(states[0]).toMatch(
    /^False InsufficientStorage: replica [ab]-r0: the only disk is d on node n1: 40 bytes free, 60 requested: 20 missing$/,
  );
  expect(states[1]).toMatch(/^True/);
});

test('23. replicas and images asking in parallel for the last space', async () => {
  const fixture = await DisksFixture.start(100);
  const client = fixture.environment.cluster.resource(diskSchedules);
  const ask = (kind: string, name: string) =>
    client.patch({ name: diskUUID(1) }, { type: 'merge', body: { spec: { [kind]: { [name]: 60 } } } });
  await Promise.all([
    ask('replicas', 'a'),
    ask('backingImages', 'a'),
    ask('replicas', 'b'),
    ask('backingImages', 'b'),
  ]);
  await fixture.settle();
  const all = [...(await fixture.verdicts(1)), ...(await fixture.verdicts(1, 'backingImages'))];
  expect(all.filter((line) => line.includes('scheduled'))).toHaveLength(1);
  expect(all.filter((line) => line.includes('rejected'))).toHaveLength(3);
  expect(await fixture.granted()).toEqual({ 1: 60 });
});

test('24. spec written between read and status write: conflict, recomputed on the new spec', async () => {
  const fixture = await DisksFixture.start(100);
  let conflicts = 0;
  let isWritten = false;
  await fixture.restart({
    before: async (call) => {
      if (!isScheduleCall(call) || call.options.subresource !== 'status' || isWritten) return;
      isWritten = true;
      const body = { spec: { replicas: { first: null, second: 100 } } };
      await fixture.environment.cluster
        .resource(diskSchedules)
        .patch({ name: diskUUID(1) }, { type: 'merge', body });
    },
    failed: (_, error) => {
      conflicts += Number(isReason(error, 'Conflict'));
    },
  });
  await fixture.request(1, { first: 50 });
  expect(isWritten).toBe(true);
  if (fixture.isUndisturbed) expect(conflicts).toBeGreaterThan(0);
  expect(await fixture.verdicts(1)).toEqual(['second scheduled 100']);
});

test('26. withdrawal races with a late grant: conflict, grant used, nothing leaked', async () => {
  const fixture = await DisksFixture.start(100, 50);
  const setLimit = (limit: number) =>
    fixture.environment.cluster
      .resource(storageNodes)
      .patch(
        { name: 'n1' },
        { type: 'merge', body: { status: { diskStatus: { d: { storageAvailable: limit } } } } },
        { subresource: 'status' },
      );
  const grant = async () => {
    await setLimit(100);
    const client = fixture.environment.cluster.resource(diskSchedules);
    const schedule = await client.get({ name: diskUUID(1) });
    const verdict = { state: 'scheduled', scheduledSize: 10, observedSize: 10 } as const;
    const status = {
      ...schedule.status,
      storageLimit: 100,
      storageScheduled: 10,
      replicas: { 'v-r0': verdict },
    };
    await client.update({ ...schedule, status }, { subresource: 'status' });
  };
  let granted: Promise<void> | undefined;
  await fixture.restart({
    before: async (call) => {
      const asked = requestOf(call);
      if (asked === 10 && granted === undefined) await setLimit(5);
      if (asked !== null) return;
      // Another instance grants it now.
      granted ??= grant();
      await granted;
    },
  });
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
  // An instance that was killed after the limit fell has requested nothing; then another one has chosen the other disk.
  if (!fixture.isUndisturbed && granted === undefined) return;
  expect(granted).toBeDefined();
  expect(await fixture.replicas()).toEqual(['v-r0 1 10 running']);
  expect(await fixture.granted()).toEqual({ 1: 10, 2: 0 });
  expect((await fixture.schedule(2))?.spec?.replicas ?? {}).toEqual({});
});

test('27. two volumes expand on the same two disks with room for one: one wins within a bounded number of rounds', async () => {
  const fixture = await DisksFixture.start(50, 50);
  await fixture.addVolume('a', { size: 10, numberOfReplicas: 2 });
  await fixture.addVolume('b', { size: 10, numberOfReplicas: 2 });
  let rounds = 0;
  const refused = new Set<string>();
  const grants = new Map(['a-r0', 'b-r1'].map((name) => [name, new Gate()]));
  // The first round grants a first on disk 1, and b on disk 2: each of them waits for the disk of the other.
  const waitsFor = new Map([
    ['b-r0', grants.get('a-r0')],
    ['a-r1', grants.get('b-r1')],
  ]);
  await fixture.restart({
    before: async (call) => {
      const { spec, status } = (call.body ?? {}) as DiskSchedule & DiskVolume;
      if (call.resource.plural === diskVolumes.plural && status?.refusedExpansion) refused.add(call.name);
      if (requestOf(call) !== 35) return;
      rounds += 1;
      await waitsFor.get(Object.keys(spec?.replicas ?? {})[0] ?? '')?.opened;
    },
    after: (call) => {
      const { status } = (call.body ?? {}) as DiskSchedule;
      if (call.verb !== 'update' || !isScheduleCall(call)) return;
      for (const [name, gate] of grants) if (status?.replicas?.[name]?.scheduledSize === 35) gate.open();
    },
  });
  const client = fixture.environment.cluster.resource(diskVolumes);
  await Promise.all(
    ['a', 'b'].map((name) => client.patch({ name }, { type: 'merge', body: { spec: { size: 35 } } })),
  );
  await fixture.settle(5_000);
  if (fixture.isUndisturbed) expect([...refused].sort()).toEqual(['a', 'b']);
  // An instance that was killed opens no gate.
  for (const gate of grants.values()) gate.open();
  if (!fixture.isUndisturbed) await fixture.settle(60_000);
  const sizes = [(await fixture.allocation('a'))[0], (await fixture.allocation('b'))[0]].sort();
  expect(sizes).toEqual([10, 35]);
  expect(await fixture.granted()).toEqual({ 1: 45, 2: 45 });
  if (!fixture.isUndisturbed) return;
  // Four requests are one round of both.
  expect(rounds).toBeGreaterThanOrEqual(4);
  expect(rounds).toBeLessThan(40);
  // No disk gains free bytes, so the loser rests.
  const decided = rounds;
  await fixture.settle(600_000);
  expect(rounds).toBe(decided);
});

test('28. release races with growth: the entry ends gone', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
  await Promise.all([
    fixture.environment.cluster
      .resource(diskVolumes)
      .patch({ name: 'v' }, { type: 'merge', body: { spec: { size: 30 } } }),
    fixture.environment.cluster.resource(replicas).delete({ name: 'v-r0' }),
  ]);
  await fixture.settle(5_000);
  const names = async () => Object.keys((await fixture.schedule(1))?.spec?.replicas ?? {});
  // A request of another instance may arrive after the release, and is collected later.
  if (fixture.isUndisturbed) expect(await names()).toEqual(['v-r1']);
  await fixture.checkAtRest();
  expect(await names()).toHaveLength(1);
  expect(await fixture.granted()).toEqual({ 1: 30 });
});

test('29. volume owner handover: both controllers place the same replica; one disk, one entry at the end', async () => {
  const fixture = await DisksFixture.start(100, 100, 100);
  for (let extra = 0; extra < 2; extra += 1) fixture.runAnother();
  await fixture.addVolumes(numbered(6), { size: 10, numberOfReplicas: 1 });
  await fixture.restIfDisturbed();
  const entries = await Promise.all(
    [1, 2, 3].map(async (number) => Object.keys((await fixture.schedule(number))?.spec?.replicas ?? {})),
  );
  expect(entries.flat().sort()).toEqual(numbered(6).map((name) => `${name}-r0`));
  const places = (await fixture.replicas()).map((line) => line.split(' ').slice(0, 2).join(' '));
  expect(places).toEqual(entries.flatMap((names, at) => names.map((name) => `${name} ${at + 1}`)).toSorted());
});

test('30. herd: 30 volumes on 5 equal disks spread within one of each other; conflict count below a bound', async () => {
  const fixture = await DisksFixture.start(1000, 1000, 1000, 1000, 1000);
  let conflicts = 0;
  let lostRequests = 0;
  await fixture.restart({
    failed: (call, error) => {
      if (!isReason(error, 'Conflict')) return;
      conflicts += 1;
      lostRequests += Number(requestOf(call) !== undefined);
    },
  });
  await fixture.addVolumes(numbered(30), { size: 10, numberOfReplicas: 1 });
  await fixture.restIfDisturbed();
  const counts = Object.values(await fixture.granted()).map((bytes) => bytes / 10);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30);
  if (fixture.isUndisturbed) expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  // A request sets one key and carries no version: it never loses against another one.
  expect(lostRequests).toBe(0);
  // Fewer than one for each volume: what is left are verdicts that were computed before the last request.
  if (fixture.isUndisturbed) expect(conflicts).toBeLessThan(30);
});

test('31. 100 writers on one disk: all finish, attempts per writer bounded', async () => {
  const fixture = await DisksFixture.start(10_000);
  let requests = 0;
  await fixture.restart({
    before: (call) => {
      requests += Number(requestOf(call) === 10);
    },
  });
  await fixture.addVolumes(numbered(100), { size: 10, numberOfReplicas: 1 });
  expect(await fixture.granted()).toEqual({ 1: 1000 });
  // Nearly every writer needs one attempt.
  expect(requests).toBeGreaterThanOrEqual(100);
  expect(requests).toBeLessThanOrEqual(fixture.isUndisturbed ? 120 : 400);
});

test('longhorn#8450: six volumes of 500 GB move at once to a node with 1.8 TB', async () => {
  const gb = 1e9;
  const fixture = await DisksFixture.start(1, 1);
  fixture.runAnother();
  const storageMaximum = 4000 * gb;
  for (const number of [1, 2])
    await fixture.reportDisk(number, {
      storageMaximum,
      storageAvailable: number === 1 ? 3200 * gb : 1800 * gb,
    });
  await fixture.addVolumes(numbered(6), { size: 500 * gb, numberOfReplicas: 1, nodeSelector: [] });
  await fixture.patchNode(1, { spec: { evictionRequested: true } });
  await fixture.settle(60_000);
  await fixture.restIfDisturbed();
  const granted = await fixture.granted();
  expect(granted[2]).toBe(1500 * gb);
  expect((granted[1] ?? 0) + (granted[2] ?? 0)).toBeGreaterThanOrEqual(3000 * gb);
  expect(await fixture.condition(1, 'Evicted')).toMatch(/^False CannotMove: .* missing/);
});

test('harvester#3083: a machine with ten disks of 2 TB at once does not fill the first disk above its limit', async () => {
  const tb = 1e12;
  const fixture = await DisksFixture.start(1, 1, 1);
  fixture.runAnother();
  for (const number of [1, 2, 3])
    await fixture.reportDisk(number, { storageMaximum: 10 * tb, storageAvailable: 8 * tb });
  await fixture.addVolumes(numbered(10), { size: 2 * tb, numberOfReplicas: 1 });
  await fixture.restIfDisturbed();
  const granted = Object.values(await fixture.granted());
  expect(granted.reduce((sum, bytes) => sum + bytes, 0)).toBe(20 * tb);
  expect(Math.max(...granted)).toBe(8 * tb);
});
