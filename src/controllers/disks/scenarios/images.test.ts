import { expect, test } from 'vitest';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { diskCaches } from '../disk-caches.ts';
import { ImagesFixture } from '../images/testing/images-fixture.ts';
import { NodeDisks } from '../node-disks.ts';
import { addVolume, diskUUID, prepareDisks } from '../testing/disks-fixture.ts';
import { scenarioServer } from '../testing/scenario-server.ts';
import { DiskVerdicts } from '../verdicts/disk-verdicts.ts';
import { VolumePlacement } from '../volume-placement.ts';

test('45. size unknown, then known: the copy is requested where it fits, and no disk is over-committed', async () => {
  const fixture = await ImagesFixture.start(30, 100, 60);
  const uuids = [1, 2, 3].map(diskUUID);
  for (const uuid of uuids) fixture.agents.silent.add(uuid);
  await fixture.addImage('i', 50, { minNumberOfCopies: 2, diskFileSpecMap: { [diskUUID(1)]: {} } });
  expect(await fixture.copies('i')).toEqual(['1 - 0/-']);
  expect(await fixture.condition('i', 'DiskAllocation')).toMatch(
    /^False SizeUnknown: No disk is asked for bytes before .* set spec.expectedSize to the number of its bytes$/,
  );
  fixture.agents.resume();
  await fixture.settle(5_000);
  expect(await fixture.copies('i')).toEqual(['2 ready 50', '3 ready 50']);
  expect(await fixture.disks.granted()).toEqual({ 1: 0, 2: 50, 3: 50 });
  for (const uuid of uuids) {
    const { status } = (await fixture.schedule(uuid)) ?? {};
    expect(status?.conditions?.find(({ type }) => type === 'Schedulable')?.status).toBe('True');
    expect(status?.backingImages?.i?.reason).toBeUndefined();
  }
});

test('45a. an image of unknown size that fits nowhere is refused, and a volume waits until the size is known', async () => {
  const fixture = await ImagesFixture.start(30, 100);
  fixture.agents.silent.add(diskUUID(1)).add(diskUUID(2));
  await fixture.addImage('i', 80);
  await addVolume(fixture.disks.environment, 'v', { size: 25, numberOfReplicas: 1, backingImage: 'i' });
  await fixture.settle(5_000);
  expect(await fixture.disks.granted()).toEqual({ 1: 0, 2: 0 });
  const volume = await fixture.disks.environment.cluster.resource(diskVolumes).get({ name: 'v' });
  expect(volume.status?.conditions?.find(({ type }) => type === 'DiskAllocation')?.message).toContain(
    'the size of BackingImage i is unknown; set its spec.expectedSize',
  );
  fixture.agents.resume();
  await fixture.settle(5_000);
  // 80 bytes of the image leave no room for 25 of the volume beside it.
  expect(await fixture.copies('i')).toEqual(['2 ready 80']);
  expect(await fixture.disks.granted()).toEqual({ 1: 0, 2: 80 });

  await fixture.addImage('j', 101);
  expect(await fixture.condition('j', 'DiskAllocation')).toMatch(/^False InsufficientStorage: .* missing$/);
  expect(await fixture.disks.granted()).toEqual({ 1: 0, 2: 80 });
});

test('45b. an upload without spec.expectedSize is refused until it is set', async () => {
  const fixture = await ImagesFixture.start(100);
  await fixture.addImage('i', 50, { source: { upload: {} } });
  expect(await fixture.copies('i')).toEqual([]);
  expect(await fixture.condition('i', 'DiskAllocation')).toBe(
    'False SizeUnknown: No disk is asked for bytes before the size of the image is known, and an upload has no length before it begins; ' +
      'set spec.expectedSize to the number of its bytes',
  );
  await fixture.patchImage('i', { expectedSize: 50 });
  expect(await fixture.copies('i')).toEqual(['1 ready 50']);
});

test('46. image deleted and created again with another size under the same name', async () => {
  const fixture = await ImagesFixture.start(100);
  await fixture.addImage('i', 30, { expectedSize: 30 });
  await fixture.deleteImage('i');
  expect(await fixture.entries('i')).toEqual([]);
  await fixture.addImage('i', 70, { expectedSize: 80 });
  expect(await fixture.copies('i')).toEqual(['1 ready 70']);
  expect(await fixture.disks.granted()).toEqual({ 1: 70 });

  // The finalizers were removed by hand, so the entry of the old image is still there.
  const client = fixture.disks.environment.cluster.resource(backingImages);
  const removeByHand = async () => {
    await client.delete({ name: 'i' });
    const body = { metadata: { finalizers: null } };
    // A controller may have been faster.
    await undefinedIfNotFound(client.patch({ name: 'i' }, { type: 'merge', body }));
  };
  await removeByHand();
  await fixture.addImage('i', 40, { expectedSize: 45 });
  await fixture.settle(5_000);
  expect(await fixture.copies('i')).toEqual(['1 ready 40']);
  expect(await fixture.disks.granted()).toEqual({ 1: 40 });

  // The bytes granted to the old image must not count for the new one, which does not fit.
  await fixture.disks.stop();
  await removeByHand();
  await fixture.addImage('i', 110, { expectedSize: 110, diskFileSpecMap: { [diskUUID(1)]: {} } });
  expect(await fixture.copies('i')).toEqual(['1 - 40']);
  await fixture.disks.restart();
  await fixture.settle(5_000);
  expect(await fixture.copies('i')).toEqual(['1 - 40/110']);
  expect(await fixture.condition('i', 'DiskAllocation')).toBe(
    'False InsufficientStorage: one more copy: the only disk is d on node n1: 100 bytes free, 110 requested: 10 missing',
  );
});

test('47. copy removed from one disk only: only that entry goes', async () => {
  const fixture = await ImagesFixture.start(100, 100, 100);
  await fixture.addImage('i', 10, { expectedSize: 10, minNumberOfCopies: 2 });
  await fixture.patchImage('i', { minNumberOfCopies: 1 });
  const removed: string[] = [];
  await fixture.disks.restart({
    before: ({ verb, resource, name, body }) => {
      if (verb !== 'patch' || resource.plural !== diskSchedules.plural) return;
      if ((body as DiskSchedule).spec?.backingImages?.i === null) removed.push(name);
    },
  });
  await fixture.patchImage('i', { diskFileSpecMap: { [diskUUID(1)]: null } });
  expect([...new Set(removed)]).toEqual([diskUUID(1)]);
  if (fixture.disks.isUndisturbed) expect(removed).toHaveLength(1);
  expect(await fixture.copies('i')).toEqual(['2 ready 10']);
  expect(await fixture.entries('i')).toEqual([2]);
  expect((await fixture.image('i'))?.status?.diskFileStatusMap).toEqual({
    [diskUUID(2)]: { state: 'ready' },
  });
});

/** The controller without the loops of images and replicas; counts how often each volume is planned. */
function countingController(plans: Map<string, number>): Controller {
  return {
    name: 'disks',
    async run(context, signal) {
      const caches = diskCaches(context.informers);
      const { volumes } = caches;
      const counting = new Proxy(volumes, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== 'function') return value;
          return (...values: readonly unknown[]) => {
            if (key === 'get') plans.set(String(values[0]), (plans.get(String(values[0])) ?? 0) + 1);
            return Reflect.apply(value, target, values);
          };
        },
      });
      await Promise.all([
        new NodeDisks(context, caches).run(signal),
        new DiskVerdicts(context, caches).run(signal),
        new VolumePlacement(context, { ...caches, volumes: counting }).run(signal),
      ]);
    },
  };
}

test('48. image verdicts wake no volume; replica verdicts wake only their own volume, also when the entry vanishes', async () => {
  await using environment = await scenarioServer().start();
  await prepareDisks(environment, [100, 100]);
  const plans = new Map<string, number>();
  environment.run([countingController(plans)]);
  const { cluster } = environment;
  for (const name of ['a', 'b']) await addVolume(environment, name, { size: 10, numberOfReplicas: 1 });
  await environment.settle();
  const patch = async (spec: object) => {
    for (const number of [1, 2])
      await cluster
        .resource(diskSchedules)
        .patch({ name: diskUUID(number) }, { type: 'merge', body: { spec } });
    plans.clear();
    await environment.settle();
  };
  await patch({ backingImages: { i: 30 } });
  await environment.settle();
  plans.clear();
  await patch({ backingImages: { i: 40, j: 500 } });
  expect([...plans]).toEqual([]);
  await patch({ backingImages: { i: null, j: null } });
  expect([...plans]).toEqual([]);

  const { spec } = await cluster.resource(replicas).get({ name: 'a-r0' });
  const client = cluster.resource(diskSchedules);
  const body = { spec: { replicas: { 'a-r0': null } } };
  await client.patch({ name: spec?.diskID ?? '' }, { type: 'merge', body });
  await environment.settle();
  expect([...plans.keys()]).toEqual(['a']);
  // It has asked for its bytes again.
  expect((await client.get({ name: spec?.diskID ?? '' })).status?.replicas).toHaveProperty('a-r0');
});
