import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiError } from '../../../kube/api-error.ts';
import { type DiskVerdict, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { addVolume, DisksFixture, diskUUID } from '../testing/disks-fixture.ts';
import { scenarioServer } from '../testing/scenario-server.ts';

test('49. 4000 entries pass; the 4001st is refused', async () => {
  const fixture = await DisksFixture.start(1_000_000);
  await fixture.stop();
  const client = fixture.environment.cluster.resource(diskSchedules);
  const name = diskUUID(1);
  const names = Array.from({ length: 4000 }, (_, at) => `r${at}`);
  const asked = Object.fromEntries(names.map((each) => [each, 10]));
  await client.patch({ name }, { type: 'merge', body: { spec: { replicas: asked } } });
  for (const kind of ['replicas', 'backingImages']) {
    const body = { spec: { [kind]: { more: 10 } } };
    const error: unknown = await client.patch({ name }, { type: 'merge', body }).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).message).toMatch(
      /Too many: 4001: must have at most 4000 items|a disk can have at most 4000 replicas and images in all; use another disk/,
    );
  }
  const verdict: DiskVerdict = { state: 'scheduled', scheduledSize: 10, observedSize: 10 };
  const schedule = await client.get({ name });
  const status = {
    ...schedule.status,
    replicas: Object.fromEntries(names.map((each) => [each, verdict])),
    storageScheduled: 40_000,
  };
  await client.update({ ...schedule, status }, { subresource: 'status' });
});

type Operation =
  | { readonly kind: 'volume'; readonly size: number; readonly replicas: number }
  | { readonly kind: 'expand' | 'shrink'; readonly which: number; readonly size: number }
  | { readonly kind: 'ask'; readonly disk: number; readonly which: number; readonly size: number | null }
  | { readonly kind: 'count'; readonly which: number; readonly replicas: number }
  | { readonly kind: 'delete-volume' | 'delete-replica' | 'healthy'; readonly which: number }
  | { readonly kind: 'limit'; readonly disk: number; readonly limit: number }
  | { readonly kind: 'ready' | 'evict' | 'close'; readonly disk: number; readonly isOn: boolean }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'crash'; readonly writes: number }
  | { readonly kind: 'restart' };

const which = fc.nat({ max: 9 });
const disk = fc.integer({ min: 1, max: 3 });
const size = fc.integer({ min: 1, max: 40 });
const count = fc.integer({ min: 1, max: 3 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('volume' as const), size, replicas: count }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('expand' as const, 'shrink' as const), which, size }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), disk, which, size: fc.option(size) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('count' as const), which, replicas: count }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('delete-volume' as const, 'delete-replica' as const, 'healthy' as const),
      which,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), disk, limit: fc.nat({ max: 90 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('ready' as const, 'evict' as const, 'close' as const),
      disk,
      isOn: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat({ max: 40_000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), writes: fc.integer({ min: 1, max: 12 }) }),
  },
);

/** A failing history is shortened by at most so many further runs, so that the failure is known soon. */
const shrinksMax = 10;

test('50. seeded random walk over all operations with shrinking, and crashes after any write; the invariants hold on every stored version', async () => {
  let shrinksLeft = shrinksMax;
  let hasFailed = false;
  const histories = fc.array(operation, { minLength: 10, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(histories, async (operations) => {
      if (hasFailed && shrinksLeft === 0) return;
      shrinksLeft -= Number(hasFailed);
      try {
        await walk(operations);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }),
    // Over HTTP a walk takes ten times as long.
    { seed: 4, numRuns: scenarioServer().kills === undefined ? 6 : 3 },
  );
});

async function walk(operations: readonly Operation[]): Promise<void> {
  const fixture = await DisksFixture.start(60, 60, 60);
  for (const [at, one] of operations.entries()) await perform(fixture, one, at);
  // At the end all disks answer and have free capacity.
  for (const number of [1, 2, 3]) {
    await fixture.setReady(number, true);
    await fixture.patchNode(number, { spec: { evictionRequested: false, allowScheduling: true } });
    await fixture.setLimit(number, 1000);
  }
  await fixture.checkAtRest();
  for (const { metadata } of (await fixture.environment.cluster.resource(diskVolumes).list()).items)
    expect((await fixture.allocation(metadata?.name ?? ''))[1], metadata?.name).toMatch(/^True/);
  await fixture.stop();
}

async function perform(fixture: DisksFixture, one: Operation, at: number): Promise<void> {
  const { cluster } = fixture.environment;
  const volumes = (await cluster.resource(diskVolumes).list()).items;
  const pick = <T>(list: readonly T[], index: number) => list[index % Math.max(1, list.length)];
  switch (one.kind) {
    case 'volume':
      await addVolume(fixture.environment, `v${at}`, { size: one.size, numberOfReplicas: one.replicas });
      return;
    case 'expand':
    case 'shrink': {
      const { metadata, status } = pick(volumes, one.which) ?? {};
      if (metadata?.name === undefined) return;
      const size = (status?.size ?? one.size) + (one.kind === 'expand' ? one.size : 0);
      await cluster
        .resource(diskVolumes)
        .patch({ name: metadata.name }, { type: 'merge', body: { spec: { size } } });
      return;
    }
    case 'ask':
      // Another program requests bytes without checking for free capacity. A request without an owner is removed after a while.
      return await fixture.request(one.disk, { [`other${one.which % 3}`]: one.size });
    case 'count': {
      const name = pick(volumes, one.which)?.metadata?.name;
      const body = { spec: { numberOfReplicas: one.replicas } };
      if (name !== undefined) await cluster.resource(diskVolumes).patch({ name }, { type: 'merge', body });
      return;
    }
    case 'delete-volume': {
      const name = pick(volumes, one.which)?.metadata?.name;
      if (name === undefined) return;
      await cluster.resource(diskVolumes).delete({ name });
      for (const { metadata, spec } of (await cluster.resource(replicas).list()).items)
        if (spec?.volumeName === name)
          await undefinedIfNotFound(cluster.resource(replicas).delete({ name: metadata?.name ?? '' }));
      return;
    }
    case 'delete-replica':
    case 'healthy': {
      const { metadata, spec } = pick((await cluster.resource(replicas).list()).items, one.which) ?? {};
      if (metadata?.name === undefined) return;
      if (one.kind === 'delete-replica')
        await undefinedIfNotFound(cluster.resource(replicas).delete({ name: metadata.name }));
      else if (spec?.desiredState === 'running') await undefinedIfNotFound(fixture.setHealthy(metadata.name));
      return;
    }
    case 'limit':
      return await fixture.setLimit(one.disk, one.limit);
    case 'ready':
      return await fixture.setReady(one.disk, one.isOn);
    case 'evict':
      return await fixture.patchNode(one.disk, { spec: { evictionRequested: one.isOn } });
    case 'close':
      return await fixture.patchNode(one.disk, { spec: { allowScheduling: one.isOn } });
    case 'wait':
      return await fixture.settle(one.ms);
    case 'restart':
      return await fixture.restart();
    case 'crash':
      // The process crashes while it still reconciles the operations before.
      await fixture.crashAfter(one.writes, () => fixture.settle());
      return;
  }
}
