import { describe, expect, test } from 'vitest';
import { diskSchedules } from '../../kube/disks/disk-schedule.ts';
import { replicas } from '../../kube/disks/replica.ts';
import { storageNodes } from '../../kube/disks/storage-node.ts';
import { diskVolumes } from '../../kube/disks/volume.ts';
import { seededRandom } from '../../runtime/random.ts';
import { allControllers } from '../all-controllers.ts';
import { crashControllersAtEveryWrite } from '../testing/crash-at-every-write.ts';
import { disksController } from './disks-controller.ts';
import { addVolume, DisksFixture, diskUUID, prepareDisks } from './testing/disks-fixture.ts';

describe('placing', () => {
  test('each replica of a volume gets its bytes on a node of its own', async () => {
    const fixture = await DisksFixture.start(100, 100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 3 });
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running', 'v-r2 3 10 running']);
    expect(await fixture.granted()).toEqual({ 1: 10, 2: 10, 3: 10 });
    expect(await fixture.allocation('v')).toEqual([
      10,
      'True Scheduled: Every replica has been granted 10 bytes',
    ]);
  });

  test('two claims whose sum is larger than the only disk: one is placed', async () => {
    const fixture = await DisksFixture.start(100);
    await Promise.all(
      ['a', 'b'].map((name) => addVolume(fixture.environment, name, { size: 60, numberOfReplicas: 1 })),
    );
    await fixture.settle();
    expect(await fixture.granted()).toEqual({ 1: 60 });
    const states = [(await fixture.allocation('a'))[1], (await fixture.allocation('b'))[1]].sort();
    expect(states[0]).toMatch(
      /^False InsufficientStorage: replica [ab]-r0: the only disk is d on node n1: 40 bytes free, 60 requested: 20 missing$/,
    );
    expect(states[1]).toMatch(/^True/);
  });

  test('ten large volumes at once spread over the disks, and none goes above its limit', async () => {
    const fixture = await DisksFixture.start(...Array.from({ length: 5 }, () => 45));
    const names = Array.from({ length: 10 }, (_, at) => `v${at}`);
    await Promise.all(
      names.map((name) => addVolume(fixture.environment, name, { size: 20, numberOfReplicas: 1 })),
    );
    await fixture.settle(10_000);
    expect(await fixture.granted()).toEqual({ 1: 40, 2: 40, 3: 40, 4: 40, 5: 40 });
  });

  test('fifty volumes on a disk with room for ten: ten have their bytes, and a freed disk wakes the next one', async () => {
    const fixture = await DisksFixture.start(100);
    const names = Array.from({ length: 50 }, (_, at) => `v${at}`);
    await Promise.all(
      names.map((name) => addVolume(fixture.environment, name, { size: 10, numberOfReplicas: 1 })),
    );
    await fixture.settle(5_000);
    expect(await fixture.granted()).toEqual({ 1: 100 });
    const { items } = await fixture.environment.cluster.resource(replicas).list();
    const running = items.filter(({ spec }) => spec?.desiredState === 'running');
    expect(running).toHaveLength(10);
    await fixture.environment.cluster.resource(replicas).delete({ name: running[0]?.metadata?.name ?? '' });
    await fixture.environment.cluster
      .resource(diskVolumes)
      .delete({ name: running[0]?.spec?.volumeName ?? '' });
    await fixture.settle(5_000);
    expect(await fixture.granted()).toEqual({ 1: 100 });
  });

  test('a new disk wakes a volume that waits', async () => {
    const fixture = await DisksFixture.start(5);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    expect((await fixture.allocation('v'))[1]).toMatch(/5 missing/);
    await fixture.setLimit(1, 20);
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running']);
  });

  test('a disk that does not answer is left after half a minute', async () => {
    const fixture = await DisksFixture.start(100, 50);
    const body = {
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Down', message: 'down' }] },
    };
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1, nodeSelector: ['fast'] });
    const client = fixture.environment.cluster.resource(storageNodes);
    // The node has the tag, and stops answering before the verdict.
    await client.patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
    await client.patch({ name: 'n1' }, { type: 'merge', body: { spec: { tags: ['fast'] } } });
    await client.patch({ name: 'n2' }, { type: 'merge', body: { spec: { tags: ['fast'] } } });
    await fixture.settle(120_000);
    expect(await fixture.replicas()).toEqual(['v-r0 2 10 running']);
    expect(await fixture.granted()).toEqual({ 1: 0, 2: 10 });
  });
});

describe('expansion', () => {
  test('all disks accept: all replicas grow', async () => {
    const fixture = await DisksFixture.start(100, 100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 3 });
    await fixture.patchVolume('v', { size: 30 });
    expect(await fixture.replicas()).toEqual(['v-r0 1 30 running', 'v-r1 2 30 running', 'v-r2 3 30 running']);
    expect(await fixture.allocation('v')).toEqual([
      30,
      'True Scheduled: Every replica has been granted 30 bytes',
    ]);
  });

  test('one disk refuses: all go back, and the condition names the disk and the missing bytes', async () => {
    const fixture = await DisksFixture.start(100, 25, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 3 });
    await fixture.patchVolume('v', { size: 30 });
    expect(await fixture.granted()).toEqual({ 1: 10, 2: 10, 3: 10 });
    expect(await fixture.allocation('v')).toEqual([
      10,
      'False ExpansionRejected: expansion to 30 bytes: disk d on node n2: 15 bytes free, 20 more requested: 5 missing',
    ]);
    await fixture.setLimit(2, 40);
    expect(await fixture.allocation('v')).toEqual([
      30,
      'True Scheduled: Every replica has been granted 30 bytes',
    ]);
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

  test('two volumes that expand on the same two disks with room for one: one wins', async () => {
    const fixture = await DisksFixture.start(50, 50);
    await fixture.addVolume('a', { size: 10, numberOfReplicas: 2 });
    await fixture.addVolume('b', { size: 10, numberOfReplicas: 2 });
    const client = fixture.environment.cluster.resource(diskVolumes);
    await Promise.all(
      ['a', 'b'].map((name) => client.patch({ name }, { type: 'merge', body: { spec: { size: 35 } } })),
    );
    await fixture.settle(20 * 60_000);
    const sizes = [(await fixture.allocation('a'))[0], (await fixture.allocation('b'))[0]].sort();
    expect(sizes).toEqual([10, 35]);
    expect(await fixture.granted()).toEqual({ 1: 45, 2: 45 });
  });
});

describe('leaving', () => {
  test('a deleted volume takes its replicas and their bytes along', async () => {
    const fixture = await DisksFixture.start(100, 100);
    fixture.environment.run(allControllers().filter(({ name }) => name === 'garbage-collector'));
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
    await fixture.environment.cluster.resource(diskVolumes).delete({ name: 'v' });
    await fixture.settle(10_000);
    expect(await fixture.replicas()).toEqual([]);
    expect(await fixture.granted()).toEqual({ 1: 0, 2: 0 });
  });

  test('eviction makes a new replica first, and deletes the old one when the new one has the data', async () => {
    const fixture = await DisksFixture.start(100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    await fixture.setHealthy('v-r0');
    await fixture.environment.cluster
      .resource(storageNodes)
      .patch({ name: 'n1' }, { type: 'merge', body: { spec: { evictionRequested: true } } });
    await fixture.settle();
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running']);
    await fixture.setHealthy('v-r1');
    expect(await fixture.replicas()).toEqual(['v-r1 2 10 running']);
    expect(await fixture.granted()).toEqual({ 1: 0, 2: 10 });
  });

  test('a request without an owner is removed after two looks a minute apart, and not before', async () => {
    const fixture = await DisksFixture.start(100);
    const body = { spec: { replicas: { ghost: 10 }, backingImages: { image: 20 } } };
    await fixture.environment.cluster
      .resource(diskSchedules)
      .patch({ name: diskUUID(1) }, { type: 'merge', body });
    await fixture.settle(30_000);
    expect(await fixture.granted()).toEqual({ 1: 30 });
    await fixture.settle(60_000);
    expect(await fixture.granted()).toEqual({ 1: 0 });
  });
});

describe('any number of instances, and crashes', () => {
  test('three instances place what one would place', async () => {
    const fixture = await DisksFixture.start(100, 100, 100);
    for (let extra = 0; extra < 2; extra += 1) fixture.environment.run([disksController]);
    const names = Array.from({ length: 8 }, (_, at) => `v${at}`);
    await Promise.all(
      names.map((name) => addVolume(fixture.environment, name, { size: 30, numberOfReplicas: 1 })),
    );
    await fixture.settle(30_000);
    expect(Object.values(await fixture.granted()).sort()).toEqual([60, 90, 90]);
    expect(await fixture.replicas()).toHaveLength(8);
  });

  test('a process may die after any write of placing', async () => {
    const writes = await crashControllersAtEveryWrite({
      controllers: [disksController],
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
  ])('a process may die after any write of an expansion that %s', async (_, limit, size) => {
    const fixture = await DisksFixture.start(10_000, limit);
    for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
      const name = `v${writes}`;
      await fixture.addVolume(name, { size: 10, numberOfReplicas: 2 });
      const wanted = size === 10 ? 501 : size;
      isInterrupted = await fixture.crashAfter(writes, () => fixture.patchVolume(name, { size: wanted }));
      expect((await fixture.allocation(name))[0], `after ${writes} writes`).toBe(size);
      const granted = Object.values(await fixture.granted());
      expect(granted, `after ${writes} writes`).toEqual([size * writes, size * writes]);
      // Taken back, so that it is not tried again beside the next one.
      await fixture.patchVolume(name, { size });
    }
  });

  test('random histories of volumes and disks come to rest with exact sums', async () => {
    for (const seed of ['b', 'c']) {
      const random = seededRandom(seed);
      const fixture = await DisksFixture.start(60, 60, 60);
      const client = fixture.environment.cluster.resource(diskVolumes);
      const names: string[] = [];
      for (let step = 0; step < 25; step += 1) {
        const name = names.length > 0 ? random.pick(names) : undefined;
        const draw = random.int(6);
        if (draw < 3 || name === undefined) {
          names.push(`v${step}`);
          await addVolume(fixture.environment, `v${step}`, {
            size: 1 + random.int(30),
            numberOfReplicas: 1 + random.int(3),
          });
        } else if (draw === 3) {
          const { status } = await client.get({ name });
          await client.patch(
            { name },
            { type: 'merge', body: { spec: { size: (status?.size ?? 0) + 1 + random.int(30) } } },
          );
        } else if (draw === 4) await fixture.setLimit(1 + random.int(3), random.int(90));
        else
          await client.patch(
            { name },
            { type: 'merge', body: { spec: { numberOfReplicas: 1 + random.int(3) } } },
          );
        await fixture.settle(random.int(300));
      }
      await fixture.settle(10 * 60_000);
      const { items } = await fixture.environment.cluster.resource(replicas).list();
      const { items: schedules } = await fixture.environment.cluster.resource(diskSchedules).list();
      for (const { metadata, spec, status } of schedules)
        for (const [name, { scheduledSize = 0 }] of Object.entries(status?.replicas ?? {})) {
          const replica = items.find((one) => one.metadata?.name === name);
          expect(replica?.spec?.diskID, `${name} of seed ${seed}`).toBe(metadata?.name);
          if (replica?.spec?.desiredState === 'running') expect(scheduledSize).toBe(replica.spec.volumeSize);
          expect(spec?.replicas?.[name]).toBeDefined();
        }
    }
  });
});
