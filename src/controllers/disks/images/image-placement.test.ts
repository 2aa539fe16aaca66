import { describe, expect, test } from 'vitest';
import { backingImageFinalizer } from '../../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { addVolume, diskUUID } from '../testing/disks-fixture.ts';
import { ImagesFixture } from './testing/images-fixture.ts';

const hour = 60 * 60_000;

describe('placing', () => {
  test('copies go on different nodes, and each is requested before it is made', async () => {
    const fixture = await ImagesFixture.start(100, 100, 100);
    await fixture.addImage('i', 10, { expectedSize: 12, minNumberOfCopies: 2 });
    expect(await fixture.copies('i')).toEqual(['1 ready 10', '2 ready 10']);
    expect(await fixture.condition('i', 'DiskAllocation')).toBe(
      'True Scheduled: Each of 2 copies has been granted 10 bytes',
    );
    expect(await fixture.condition('i', 'Ready')).toBe('True CopyReady: 2 of 2 copies are ready');
    expect((await fixture.image('i'))?.metadata?.finalizers).toContain(backingImageFinalizer);
  });

  test('each disk with a replica of a volume that uses the image gets a copy', async () => {
    const fixture = await ImagesFixture.start(100, 100, 100);
    await fixture.addImage('i', 10, { expectedSize: 10 });
    await fixture.disks.addVolume('v', { size: 20, numberOfReplicas: 3, backingImage: 'i' });
    expect(await fixture.copies('i')).toEqual(['1 ready 10', '2 ready 10', '3 ready 10']);
    const { status } = await fixture.disks.environment.cluster.resource(diskVolumes).get({ name: 'v' });
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'BackingImageReady', status: 'True', reason: 'CopyReady' }),
    );
  });

  test('a replica goes where its copy fits too', async () => {
    const fixture = await ImagesFixture.start(28, 100, 29);
    await fixture.patchNode(2, { tags: ['images'] });
    await fixture.addImage('i', 10, { expectedSize: 10, nodeSelector: ['images'] });
    await fixture.patchNode(2, { allowScheduling: false });
    await fixture.disks.addVolume('v', { size: 19, numberOfReplicas: 1, backingImage: 'i' });
    expect(await fixture.disks.replicas()).toEqual(['v-r0 3 19 running']);
    expect(await fixture.copies('i')).toEqual(['2 ready 10', '3 ready 10']);
    await fixture.disks.addVolume('w', { size: 19, numberOfReplicas: 1, backingImage: 'i' });
    expect((await fixture.disks.allocation('w'))[1]).toMatch(
      /d on node n1: 18 bytes free, 19 requested: 1 missing$/,
    );
  });

  test('a volume says which replica waits for a copy, and why', async () => {
    const fixture = await ImagesFixture.start(25, 100);
    await fixture.patchNode(2, { tags: ['big'] });
    await fixture.disks.addVolume('v', { size: 20, numberOfReplicas: 1, backingImage: 'i' });
    const waits = async () => {
      const { status } = await fixture.disks.environment.cluster.resource(diskVolumes).get({ name: 'v' });
      const found = status?.conditions?.find(({ type }) => type === 'BackingImageReady');
      return `${found?.status} ${found?.reason}: ${found?.message}`;
    };
    expect(await waits()).toBe(
      'False NoBackingImage: There is no BackingImage i; create it, or delete the Volume',
    );
    await fixture.disks.setLimit(2, 25);
    await fixture.addImage('i', 10, { expectedSize: 10, nodeSelector: ['big'] });
    expect(await waits()).toMatch(
      /^False WaitingForCopy: Replica v-r0 waits for a copy of BackingImage i on disk d on node n2: .* 5 bytes free, 10 requested: 5 missing$/,
    );
    await fixture.disks.setLimit(2, 30);
    expect(await waits()).toBe('True CopyReady: Every replica has a copy of BackingImage i');
  });

  test('a rejected copy goes to another disk, and a disk that gains room takes one that waits', async () => {
    const fixture = await ImagesFixture.start(100, 30);
    await fixture.addImage('i', 10, { expectedSize: 20 });
    expect(await fixture.copies('i')).toEqual(['1 ready 10']);
    await fixture.addImage('j', 95, { expectedSize: 95 });
    expect(await fixture.condition('j', 'DiskAllocation')).toBe(
      'False InsufficientStorage: one more copy: none of 2 disks fits; the closest is d on node n1: 90 bytes free, 95 requested: 5 missing',
    );
    expect(await fixture.condition('j', 'Ready')).toBe(
      'False NoCopy: No disk has been chosen for a copy yet',
    );
    await fixture.disks.setLimit(2, 95);
    expect(await fixture.copies('j')).toEqual(['2 ready 95']);
  });

  test('Replicas and images asking in parallel for the last space', async () => {
    const fixture = await ImagesFixture.start(100);
    await Promise.all([
      fixture.createImage('i', 60, { expectedSize: 60 }),
      addVolume(fixture.disks.environment, 'v', { size: 60, numberOfReplicas: 1 }),
    ]);
    await fixture.settle(5_000);
    expect(await fixture.disks.granted()).toEqual({ 1: 60 });
    const texts = [await fixture.condition('i', 'DiskAllocation'), (await fixture.disks.allocation('v'))[1]];
    expect(texts.filter((text) => text.startsWith('True'))).toHaveLength(1);
    expect(texts.filter((text) => /40 bytes free, 60 requested: 20 missing/.test(text))).toHaveLength(1);
  });

  test('more images than fit at once: none is granted beyond the limits, and all that fit are', async () => {
    const fixture = await ImagesFixture.start(45, 45, 45);
    const names = Array.from({ length: 8 }, (_, at) => `i${at}`);
    await Promise.all(names.map((name) => fixture.createImage(name, 20, { expectedSize: 20 })));
    await fixture.settle(10 * 60_000);
    expect(await fixture.disks.granted()).toEqual({ 1: 40, 2: 40, 3: 40 });
  });
});

describe('sizes', () => {
  test('a copy that is larger than expected is requested again, and one that is smaller gives bytes back', async () => {
    const fixture = await ImagesFixture.start(100, 15);
    await fixture.patchNode(2, { tags: ['small'] });
    await fixture.addImage('large', 20, { expectedSize: 10, nodeSelector: ['small'] });
    expect(await fixture.copies('large')).toEqual(['2 ready 20']);
    expect((await fixture.schedule(diskUUID(2)))?.status?.backingImages?.large?.reason).toBe('Adopted');
    await fixture.addImage('small', 5, { expectedSize: 50 });
    expect(await fixture.copies('small')).toEqual(['1 ready 5']);
    expect(await fixture.disks.granted()).toEqual({ 1: 5, 2: 20 });
  });
});

describe('leaving', () => {
  test.each([
    [
      'the copy',
      (f: ImagesFixture) =>
        f.patchImage('i', { diskFileSpecMap: { [diskUUID(1)]: { evictionRequested: true } } }),
    ],
    ['its disk', (f: ImagesFixture) => f.patchNode(1, { disks: { d: { evictionRequested: true } } })],
    ['its node', (f: ImagesFixture) => f.patchNode(1, { evictionRequested: true })],
  ])('eviction of %s: the new copy is ready first, then the old one goes', async (_, evict) => {
    const fixture = await ImagesFixture.start(100, 50);
    await fixture.addImage('i', 10, { expectedSize: 10 });
    expect(await fixture.copies('i')).toEqual(['1 ready 10']);
    fixture.agents.silent.add(diskUUID(2));
    await evict(fixture);
    await fixture.settle(60_000);
    expect(await fixture.copies('i')).toEqual(['1 ready 10', '2 - 10']);
    fixture.agents.resume();
    await fixture.settle(5_000);
    expect(await fixture.copies('i')).toEqual(['2 ready 10']);
    expect(await fixture.entries('i')).toEqual([2]);
  });

  test('eviction from a disk that its node does not report any more', async () => {
    const fixture = await ImagesFixture.start(100, 50);
    await fixture.addImage('i', 10, { expectedSize: 10 });
    await fixture.disks.reportDisk(1, null);
    await fixture.patchNode(1, { evictionRequested: true });
    expect(await fixture.copies('i')).toContain('2 ready 10');
  });

  test('an evicted copy that has nowhere to go stays, and the disk says so', async () => {
    const fixture = await ImagesFixture.start(100, 5);
    await fixture.addImage('i', 10, { expectedSize: 10 });
    await fixture.patchNode(1, { evictionRequested: true });
    await fixture.settle(60_000);
    expect(await fixture.copies('i')).toEqual(['1 ready 10']);
    const { status } = (await fixture.schedule(diskUUID(1))) ?? {};
    expect(status?.conditions?.find(({ type }) => type === 'Evicted')?.message).toBe(
      "0 replicas and 1 image are still on the disk; these can't leave: image i: one more copy: the only disk is d on node n2: 5 bytes free, 10 requested: 5 missing",
    );
  });

  test('an evicted copy stays with the replica that needs it, and both move', async () => {
    const fixture = await ImagesFixture.start(100, 50);
    await fixture.addImage('i', 10, { expectedSize: 10 });
    await fixture.disks.addVolume('v', { size: 20, numberOfReplicas: 1, backingImage: 'i' });
    await fixture.patchImage('i', { diskFileSpecMap: { [diskUUID(1)]: { evictionRequested: true } } });
    await fixture.settle(5_000);
    expect(await fixture.copies('i')).toEqual(['1 ready 10', '2 ready 10']);
    expect(await fixture.condition('i', 'DiskAllocation')).toMatch(
      /; the copy on disk d on node n1 stays while replica v-r0 is there$/,
    );
    await fixture.patchNode(1, { evictionRequested: true });
    await fixture.disks.settle(10_000);
    expect((await fixture.copies('i')).map((line) => line.split(' ')[0])).toEqual(['2']);
  });

  test('a deleted image is held while a volume uses it, and then releases everything', async () => {
    const fixture = await ImagesFixture.start(100, 100);
    await fixture.addImage('i', 10, { expectedSize: 10, minNumberOfCopies: 2 });
    await fixture.disks.addVolume('v', { size: 20, numberOfReplicas: 1, backingImage: 'i' });
    await fixture.deleteImage('i');
    expect(await fixture.condition('i', 'InUse')).toBe(
      'True VolumesUseImage: Volume v uses the image; it is deleted when no Volume does',
    );
    expect(await fixture.copies('i')).toEqual(['1 ready 10', '2 ready 10']);
    await fixture.disks.environment.cluster.resource(diskVolumes).delete({ name: 'v' });
    await fixture.settle(5_000);
    expect(await fixture.image('i')).toBeUndefined();
    expect(await fixture.entries('i')).toEqual([]);
  });

  test('a deleted image keeps its bytes until the file is gone', async () => {
    const fixture = await ImagesFixture.start(100, 100);
    await fixture.addImage('i', 10, { expectedSize: 10, minNumberOfCopies: 2 });
    fixture.agents.silent.add(diskUUID(1));
    await fixture.deleteImage('i');
    expect(await fixture.entries('i')).toEqual([1]);
    expect((await fixture.image('i'))?.metadata?.finalizers).toContain(backingImageFinalizer);
    fixture.agents.resume();
    await fixture.settle();
    expect(await fixture.image('i')).toBeUndefined();
    expect(await fixture.entries('i')).toEqual([]);
  });

  test('a failed copy is removed, and placed again after a while', async () => {
    const fixture = await ImagesFixture.start(100);
    fixture.agents.failing.add(diskUUID(1));
    await fixture.addImage('i', 10, { expectedSize: 10 });
    expect(await fixture.copies('i')).toEqual([]);
    expect(await fixture.entries('i')).toEqual([]);
    expect(await fixture.condition('i', 'Ready')).toBe(
      'False CopyFailed: No copy is ready; the copy on disk d on node n1 failed: not found',
    );
    expect(await fixture.condition('i', 'DiskAllocation')).toMatch(/^False CopyFailed/);
    await fixture.settle(20_000);
    fixture.agents.failing.clear();
    expect(await fixture.copies('i')).toEqual([]);
    await fixture.settle(15_000);
    expect(await fixture.copies('i')).toEqual(['1 ready 10']);
  });

  test('a disk where copies fail is left for another one while the source is good', async () => {
    const fixture = await ImagesFixture.start(100, 90, 80);
    fixture.agents.failing.add(diskUUID(2));
    await fixture.addImage('i', 10, { expectedSize: 10 });
    await fixture.patchImage('i', { minNumberOfCopies: 2 });
    expect(await fixture.copies('i')).toEqual(['1 ready 10', '3 ready 10']);
    expect(await fixture.entries('i')).toEqual([1, 3]);
  });

  test('copies beyond the fewest are removed an hour after their last use', async () => {
    const fixture = await ImagesFixture.start(100, 100, 100);
    await fixture.addImage('i', 10, { expectedSize: 10 });
    await fixture.disks.addVolume('v', { size: 20, numberOfReplicas: 3, backingImage: 'i' });
    await fixture.settle(2 * hour);
    expect(await fixture.copies('i')).toHaveLength(3);
    await fixture.disks.patchVolume('v', { numberOfReplicas: 1 });
    await fixture.settle(hour - 60_000);
    expect(await fixture.copies('i')).toHaveLength(3);
    await fixture.settle(2 * 60_000);
    const left = await fixture.copies('i');
    expect(left).toHaveLength(1);
    const { items } = await fixture.disks.environment.cluster.resource(diskSchedules).list();
    const withReplica = items.filter(({ spec }) => Object.keys(spec?.replicas ?? {}).length > 0);
    expect(withReplica.map(({ metadata }) => `${Number(metadata?.name?.slice(-12))} ready 10`)).toEqual(left);
  });
});
