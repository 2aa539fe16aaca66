import { describe, expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import { copyBytes } from '../../../engine/disks/images/may-make-copy.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { seededRandom } from '../../../runtime/random.ts';
import { disksController } from '../disks-controller.ts';
import { addVolume, diskUUID } from '../testing/disks-fixture.ts';
import { ImagesFixture } from './testing/images-fixture.ts';

const hour = 60 * 60_000;

/** At rest: every copy has its bytes and its file, and nothing else has an entry. */
async function checkRest(fixture: ImagesFixture, note: string): Promise<void> {
  const { cluster } = fixture.disks.environment;
  const { items: images } = await cluster.resource(backingImages).list();
  const { items: schedules } = await cluster.resource(diskSchedules).list();
  const { items: volumes } = await cluster.resource(diskVolumes).list();
  const { items: all } = await cluster.resource(replicas).list();
  for (const { metadata, spec, status } of schedules)
    for (const name of Object.keys(spec?.backingImages ?? {})) {
      const image = images.find((one) => one.metadata?.name === name);
      const where = `${note}: ${name} on ${metadata?.name}`;
      expect(image?.spec?.diskFileSpecMap, where).toHaveProperty([metadata?.name ?? '']);
      const bytes = image && copyBytes(image);
      expect(spec?.backingImages?.[name], where).toBe(bytes);
      const verdict = status?.backingImages?.[name];
      const state = image?.status?.diskFileStatusMap?.[metadata?.name ?? '']?.state;
      expect(state, where).toBe(verdict?.state === 'scheduled' ? 'ready' : undefined);
    }
  for (const { metadata, spec, status } of images) {
    const imageNote = `${note}: ${metadata?.name}`;
    expect(
      Object.keys(status?.diskFileStatusMap ?? {}).filter((uuid) => !spec?.diskFileSpecMap?.[uuid]),
      imageNote,
    ).toEqual([]);
    const allocation = status?.conditions?.find(({ type }) => type === 'DiskAllocation');
    expect(['Scheduled', 'InsufficientStorage'], imageNote).toContain(allocation?.reason);
    if (allocation?.reason === 'Scheduled')
      expect(Object.keys(spec?.diskFileSpecMap ?? {}).length, imageNote).toBeGreaterThanOrEqual(
        spec?.minNumberOfCopies ?? 1,
      );
    const users = volumes.filter((volume) => volume.spec?.backingImage === metadata?.name);
    for (const replica of all) {
      const isUser = users.some((volume) => volume.metadata?.name === replica.spec?.volumeName);
      if (isUser && replica.spec?.desiredState === 'running')
        expect(spec?.diskFileSpecMap, imageNote).toHaveProperty([replica.spec.diskID ?? '']);
    }
  }
}

describe('crashes', () => {
  test.each([
    ['placing, and of a size that becomes known', {}, ['1 ready 5', '2 ready 5'], { 1: 5, 2: 5, 3: 0 }],
    [
      'a copy that is rejected and goes elsewhere',
      { [diskUUID(3)]: {} },
      ['1 ready 5', '2 ready 5'],
      { 1: 5, 2: 5, 3: 0 },
    ],
  ])('a process may die after any write of %s', async (_, diskFileSpecMap, copies, granted) => {
    const fixture = await ImagesFixture.start(10_000, 60, 4);
    for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
      const name = `i${writes}`;
      isInterrupted = await fixture.disks.crashAfter(writes, async () => {
        await fixture.createImage(name, 5, { expectedSize: 7, minNumberOfCopies: 2, diskFileSpecMap });
        await fixture.disks.settle();
      });
      await fixture.settle();
      expect(await fixture.copies(name), `after ${writes} writes`).toEqual(copies);
      expect(await fixture.disks.granted(), `after ${writes} writes`).toEqual(granted);
      await fixture.deleteImage(name);
      expect(await fixture.entries(name)).toEqual([]);
    }
  });

  test('a process may die after any write of an eviction', async () => {
    const fixture = await ImagesFixture.start(100, 90, 80);
    await fixture.addImage('i', 5, { expectedSize: 5 });
    const numbers = [1, 2];
    for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
      const [from = 0, to = 0] = writes % 2 === 1 ? numbers : numbers.toReversed();
      expect(await fixture.copies('i')).toEqual([`${from} ready 5`]);
      isInterrupted = await fixture.disks.crashAfter(writes, () =>
        fixture.patchNode(from, { evictionRequested: true }),
      );
      await fixture.settle(90_000);
      expect(await fixture.copies('i'), `after ${writes} writes`).toEqual([`${to} ready 5`]);
      expect(await fixture.entries('i'), `after ${writes} writes`).toEqual([to]);
      await fixture.patchNode(from, { evictionRequested: false });
    }
  });

  test('a process may die after any write of a deletion', async () => {
    const fixture = await ImagesFixture.start(100, 100);
    for (let writes = 1, isInterrupted = true; isInterrupted; writes += 1) {
      const name = `i${writes}`;
      await fixture.addImage(name, 5, { expectedSize: 5, minNumberOfCopies: 2 });
      isInterrupted = await fixture.disks.crashAfter(writes, () => fixture.deleteImage(name));
      await fixture.settle(5_000);
      expect(await fixture.image(name), `after ${writes} writes`).toBeUndefined();
      expect(await fixture.entries(name), `after ${writes} writes`).toEqual([]);
    }
  });
});

describe('any number of instances', () => {
  test('three instances make as many copies as one would, and leave no request behind', async () => {
    const fixture = await ImagesFixture.start(100, 100, 100);
    for (let extra = 0; extra < 2; extra += 1) fixture.disks.runAnother();
    const names = Array.from({ length: 6 }, (_, at) => `i${at}`);
    await Promise.all(
      names.map((name) => fixture.createImage(name, 10, { expectedSize: 12, minNumberOfCopies: 2 })),
    );
    await fixture.settle(5 * 60_000);
    for (const name of names) expect(await fixture.copies(name), name).toHaveLength(2);
    const granted = Object.values(await fixture.disks.granted());
    expect(granted.reduce((sum, bytes) => sum + bytes, 0)).toBe(120);
    await checkRest(fixture, 'three instances');
  });

  test('random histories of two instances, one of which crashes, come to rest with exact entries', async () => {
    for (const seed of ['a', 'b', 'c']) {
      const random = seededRandom(`images ${seed}`);
      const fixture = await ImagesFixture.start(60, 60, 60, 60);
      const { environment } = fixture.disks;
      const { cluster } = environment;
      const crash = new CrashAfterWrites(5 + random.int(60));
      const second = environment.run([disksController()], new InterceptedCluster(cluster, crash));
      const names: string[] = [];
      for (let step = 0; step < 30; step += 1) {
        const name = names.length > 0 ? random.pick(names) : undefined;
        const number = 1 + random.int(4);
        const draw = random.int(10);
        if (draw < 3 || name === undefined) {
          const size = 1 + random.int(20);
          names.push(`i${step}`);
          await fixture.createImage(`i${step}`, size, {
            minNumberOfCopies: 1 + random.int(3),
            ...(random.int(4) > 0 && { expectedSize: 1 + random.int(25) }),
          });
        } else if (draw === 3)
          await addVolume(environment, `v${step}`, {
            size: 1 + random.int(20),
            numberOfReplicas: 1 + random.int(2),
            backingImage: name,
          });
        else if (draw === 4)
          await cluster
            .resource(backingImages)
            .patch({ name }, { type: 'merge', body: { spec: { minNumberOfCopies: 1 + random.int(4) } } });
        else if (draw === 5)
          await cluster.resource(storageNodes).patch(
            { name: `n${number}` },
            {
              type: 'merge',
              body: { status: { diskStatus: { d: { storageAvailable: random.int(90) } } } },
            },
            { subresource: 'status' },
          );
        else if (draw === 6)
          await cluster
            .resource(storageNodes)
            .patch(
              { name: `n${number}` },
              { type: 'merge', body: { spec: { evictionRequested: random.int(2) === 0 } } },
            );
        else if (draw === 7) fixture.agents.failing.add(diskUUID(number));
        else if (draw === 8) fixture.agents.failing.clear();
        else {
          const { items } = await cluster.resource(diskVolumes).list();
          const isUsed = items.some(({ spec }) => spec?.backingImage === name);
          if (!isUsed) {
            names.splice(names.indexOf(name), 1);
            await cluster.resource(backingImages).delete({ name });
          }
        }
        await environment.settle(random.int(2_000));
      }
      fixture.agents.failing.clear();
      await second.close();
      environment.errors.length = 0;
      await environment.settle(1.5 * hour);
      expect(environment.errors).toEqual([]);
      await checkRest(fixture, `seed ${seed}`);
    }
  }, 60_000);
});
