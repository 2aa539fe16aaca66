import { describe, expect, test } from 'vitest';
import type { ClusterCall } from '../../../cluster/intercepted-cluster.ts';
import { failOnce, WatchGate } from '../../../cluster/testing/fault-hooks.ts';
import { conflict, isReason } from '../../../kube/api-error.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { replicaFinalizer, replicas } from '../../../kube/stowage/replica.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { crashAtEveryWriteOn } from '../../testing/crash-at-every-write.ts';
import { disksController } from '../disks-controller.ts';
import { addVolume, DisksFixture, diskUUID, prepareDisks } from '../testing/disks-fixture.ts';
import { Gate } from '../testing/gate.ts';
import { scenarioServer } from '../testing/scenario-server.ts';

const apiVersion = 'stowage.dev/v1alpha1';

describe('32. crash after every single write of placing, granting, starting, expanding, releasing and finalizer removal; restart', () => {
  test('placing, granting and starting', async () => {
    const writes = await crashAtEveryWriteOn(scenarioServer().start, {
      controllers: [disksController()],
      resources: [diskSchedules, replicas],
      settleMs: 20_000,
      prepare: async (environment) => {
        await prepareDisks(environment, [100, 25]);
        await addVolume(environment, 'v', { size: 10, numberOfReplicas: 2 });
      },
    });
    expect(writes).toBeGreaterThan(8);
  });

  test.each([
    ['is granted', 10_000, 30],
    ['is refused', 500, 10],
  ])('expanding that %s', async (_, limit, size) => {
    const fixture = await DisksFixture.start(10_000, limit);
    for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
      const name = `v${writes}`;
      await fixture.addVolume(name, { size: 10, numberOfReplicas: 2 });
      const wanted = size === 10 ? 501 : size;
      isInterrupted = await fixture.crashAfter(writes, () => fixture.patchVolume(name, { size: wanted }));
      expect((await fixture.allocation(name))[0], `after ${writes} writes`).toBe(size);
      const granted = Object.values(await fixture.granted());
      expect(granted, `after ${writes} writes`).toEqual([size * writes, size * writes]);
      // The expansion is withdrawn, so that it is not tried again beside the next one.
      await fixture.patchVolume(name, { size });
    }
  });

  test('releasing, finalizer removal and replacement', async () => {
    const fixture = await DisksFixture.start(1000);
    for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
      const name = `v${writes}`;
      await fixture.addVolume(name, { size: 10, numberOfReplicas: 1 });
      isInterrupted = await fixture.crashAfter(writes, async () => {
        await fixture.environment.cluster.resource(replicas).delete({ name: `${name}-r0` });
        await fixture.settle();
      });
      expect(await fixture.granted(), `after ${writes} writes`).toEqual({ 1: 10 * writes });
    }
    await fixture.checkAtRest();
  });

  test('giving a disk up', async () => {
    const fixture = await DisksFixture.start(100, 100, 100);
    for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
      const name = `v${writes}`;
      await fixture.addVolume(name, { size: 10, numberOfReplicas: 2 });
      const placed = await fixture.replicas();
      for (const line of placed) await fixture.setHealthy(line.split(' ')[0] ?? '');
      isInterrupted = await fixture.crashAfter(writes, async () => {
        await fixture.patchNode(1, { metadata: { annotations: { 'stowage.dev/force-removal': 'true' } } });
        await fixture.setReady(1, false);
      });
      const remaining = (await fixture.replicas()).map((line) => line.split(' ')[1]);
      expect(remaining, `after ${writes} writes`).not.toContain('1');
      expect(remaining, `after ${writes} writes`).toHaveLength(2);
      await fixture.patchNode(1, { metadata: { annotations: { 'stowage.dev/force-removal': 'false' } } });
      await fixture.setReady(1, true);
      await fixture.environment.cluster.resource(diskVolumes).delete({ name });
      for (const { metadata } of (await fixture.environment.cluster.resource(replicas).list()).items)
        await fixture.environment.cluster.resource(replicas).delete({ name: metadata?.name ?? '' });
      await fixture.settle();
    }
    await fixture.checkAtRest();
  });
});

test('33. lost watch event: resync heals', async () => {
  const fixture = await DisksFixture.start(100);
  let dropped = 0;
  await fixture.restart({
    onWatchEvent: ({ resource }) => {
      if (resource.plural !== diskSchedules.plural || dropped > 0) return undefined;
      dropped += 1;
      return 'drop';
    },
  });
  await fixture.request(1, { r1: 60 });
  expect(dropped).toBe(1);
  fixture.endWatches();
  await fixture.settle(30_000);
  expect(await fixture.verdicts(1)).toEqual(['r1 scheduled 60']);
});

test('34. stale cache says the replica is missing: entry is not collected', async () => {
  const fixture = await DisksFixture.start(100);
  const gate = new WatchGate(replicas);
  await fixture.restart(gate);
  gate.hold();
  await fixture.environment.cluster.resource(replicas).create({
    apiVersion,
    kind: 'Replica',
    metadata: { name: 'r1' },
    spec: { volumeName: 'v', volumeSize: 10, nodeID: 'n1', diskID: diskUUID(1) },
  });
  await fixture.request(1, { r1: 10, ghost: 20 });
  await fixture.settle(5 * 60_000);
  const verdicts = await fixture.verdicts(1);
  // First of all: a cache that waits for its events can't be closed.
  gate.release();
  expect(verdicts).toEqual(['r1 scheduled 10']);
});

test('a request without an owner is removed after two looks a minute apart, and not before', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.request(1, { ghost: 10 });
  await fixture.request(1, { image: 20 }, 'backingImages');
  await fixture.settle(30_000);
  expect(await fixture.granted()).toEqual({ 1: 30 });
  await fixture.settle(60_000);
  expect(await fixture.granted()).toEqual({ 1: 0 });
});

test('35. status write stored but reply lost: the retry is a no-op', async () => {
  const fixture = await DisksFixture.start(100);
  let writes = 0;
  let stored: DiskSchedule | undefined;
  await fixture.restart({
    after: async ({ verb, resource }) => {
      if (verb !== 'update' || resource.plural !== diskSchedules.plural) return;
      writes += 1;
      if (writes > 1) return;
      stored = await fixture.schedule(1);
      throw new Error('the reply is lost');
    },
  });
  const body = { spec: { replicas: { r1: 60 } } };
  await fixture.environment.cluster
    .resource(diskSchedules)
    .patch({ name: diskUUID(1) }, { type: 'merge', body });
  await fixture.environment.settle();
  const errors = fixture.environment.errors.splice(0);
  if (fixture.isUndisturbed)
    expect(errors.map(({ error }) => String(error))).toEqual(['Error: the reply is lost']);
  await fixture.settle(20_000);
  if (fixture.isUndisturbed) expect(writes).toBe(1);
  if (fixture.isUndisturbed) expect(await fixture.schedule(1)).toEqual(stored);
  expect(await fixture.verdicts(1)).toEqual(['r1 scheduled 60']);
});

/** Whether the call releases the request of replica v-r0. */
function isRelease({ verb, resource, body }: ClusterCall): boolean {
  const isPatch = verb === 'patch' && resource.plural === diskSchedules.plural;
  return isPatch && JSON.stringify(body).includes('"v-r0":null');
}

test('36. conflict on release: finalizer stays, release is retried', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
  const seen: string[] = [];
  const client = fixture.environment.cluster.resource(replicas);
  const hooks = failOnce(isRelease, conflict(diskSchedules, diskUUID(1), 'it was changed'));
  await fixture.restart(hooks, {
    before: async (call) => {
      if (!isRelease(call)) return;
      const replica = await undefinedIfNotFound(client.get({ name: 'v-r0' }));
      seen.push(replica?.metadata?.finalizers?.includes(replicaFinalizer) === true ? 'kept' : 'gone');
    },
  });
  await fixture.environment.cluster.resource(diskVolumes).delete({ name: 'v' });
  await client.delete({ name: 'v-r0' });
  await fixture.settle(5_000);
  expect(seen[0]).toBe('kept');
  if (fixture.isUndisturbed) expect(seen).toEqual(['kept']);
  expect(await undefinedIfNotFound(client.get({ name: 'v-r0' }))).toBeUndefined();
  expect(await fixture.granted()).toEqual({ 1: 0 });
});

test('a release that arrives late takes nothing from the next replica of that name', async () => {
  const fixture = await DisksFixture.start(100);
  const client = fixture.environment.cluster.resource(replicas);
  const place = async () => {
    const spec = { volumeName: 'v', volumeSize: 10, nodeID: 'n1', diskID: diskUUID(1) };
    const metadata = { name: 'v-r0', finalizers: [replicaFinalizer] };
    await client.create({ apiVersion, kind: 'Replica', metadata, spec });
    await fixture.request(1, { 'v-r0': 10 });
  };
  await place();
  const gate = new Gate();
  const outcomes: string[] = [];
  let isHeld = false;
  await fixture.restartOne({
    before: async (call) => {
      if (!isRelease(call) || isHeld) return;
      isHeld = true;
      await gate.opened;
    },
    after: (call) => void (isRelease(call) && outcomes.push('stored')),
    failed: (call, error) =>
      void (isRelease(call) && outcomes.push(isReason(error, 'Conflict') ? 'conflict' : 'failed')),
  });
  fixture.runAnother();
  await fixture.settle();
  await client.delete({ name: 'v-r0' });
  await fixture.settle();
  // The other instance has released the bytes.
  if (fixture.isUndisturbed) expect([isHeld, outcomes]).toEqual([true, []]);
  expect(await fixture.granted()).toEqual({ 1: 0 });
  await place();
  const before = await fixture.schedule(1);
  expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 10']);
  gate.open();
  await fixture.settle();
  if (fixture.isUndisturbed) expect(outcomes).toEqual(['conflict']);
  expect(await fixture.schedule(1)).toEqual(before);
});
