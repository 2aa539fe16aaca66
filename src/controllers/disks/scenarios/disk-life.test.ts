import { describe, expect, test } from 'vitest';
import { diskScheduleFinalizer, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { diskAgentFinalizer, replicas } from '../../../kube/stowage/replica.ts';
import { forceRemovalKey, storageNodes } from '../../../kube/stowage/storage-node.ts';
import { addVolume, DisksFixture, diskUUID } from '../testing/disks-fixture.ts';

const forced = { metadata: { annotations: { [forceRemovalKey]: 'true' } } };
const minuteMs = 60_000;

describe('capacity', () => {
  test('37. limit falls under the sum: nothing revoked, condition set, new ones rejected, recovers when raised', async () => {
    const fixture = await DisksFixture.start(100);
    await fixture.request(1, { r1: 60 });
    for (let times = 1; times <= 2; times += 1) {
      await fixture.setLimit(1, 40);
      await fixture.request(1, { r2: 1 });
      expect(await fixture.verdicts(1)).toEqual(['r1 scheduled 60', 'r2 rejected 0 InsufficientStorage']);
      expect(await fixture.condition(1, 'Schedulable')).toBe(
        'False OverCommitted: 60 bytes are scheduled and the limit is 40: 20 too many; what is scheduled stays, and nothing else is granted',
      );
      // Another change while the disk is over-committed must not count as a transition of the condition.
      await fixture.setLimit(1, 39);
      await fixture.setLimit(1, 100);
      expect(await fixture.verdicts(1)).toEqual(['r1 scheduled 60', 'r2 scheduled 1']);
      expect(await fixture.condition(1, 'Schedulable')).toMatch(/^True/);
      await fixture.request(1, { r2: null });
    }
    const overCommitted = await fixture.eventLines(/^OverCommitted/);
    expect(overCommitted).toEqual([
      `OverCommitted ${diskUUID(1)}: 60 bytes are scheduled and the limit is 40: 20 too many; what is scheduled stays, and nothing else is granted`,
    ]);
  });

  test('38. disk not ready (0/0): no verdict, release works, the deadline of the requester moves it on', async () => {
    const fixture = await DisksFixture.start(100, 50);
    await fixture.request(1, { old: 60 });
    await fixture.reportDisk(1, { storageMaximum: 0, storageAvailable: 0 });
    await fixture.request(1, { old: null, fresh: 10 });
    expect(await fixture.verdicts(1)).toEqual([]);
    expect(await fixture.condition(1, 'Ready')).toBe(
      'False DiskNotReady: StorageNode n1 does not report storageMaximum of disk d',
    );
    await fixture.request(1, { fresh: null });
    await fixture.reportDisk(1, { storageMaximum: 1_000, storageAvailable: 100 });

    // The disk stops answering between the choice and the verdict.
    const stopped = { storageMaximum: 0, storageAvailable: 0 };
    await fixture.restart({
      before: async ({ verb, resource }) => {
        if (verb !== 'patch' || resource.plural !== 'diskschedules') return;
        const body = { status: { diskStatus: { d: stopped } } };
        await fixture.environment.cluster
          .resource(storageNodes)
          .patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
      },
    });
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 stopped']);
    expect((await fixture.allocation('v'))[1]).toMatch(/^False Pending/);
    await fixture.settle(27_000);
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 stopped']);
    await fixture.settle(5_000);
    expect(await fixture.replicas()).toEqual(['v-r0 2 10 running']);
    expect(await fixture.granted()).toEqual({ 1: 0, 2: 10 });
  });

  test('44. raised setting or larger disk re-evaluates waiting entries without any other event', async () => {
    const fixture = await DisksFixture.start(100);
    await fixture.request(1, { waits: 120 });
    expect(await fixture.verdicts(1)).toEqual(['waits rejected 0 InsufficientStorage']);
    // The maximum is 1,000,000 bytes: with over-provisioning, what is written on the disk does not count.
    const overProvision = { capacityPolicy: 'OverProvision', overProvisioningPercentage: 50 } as const;
    await fixture.setSettings(overProvision);
    expect((await fixture.schedule(1))?.status?.storageLimit).toBe(500_000);
    expect(await fixture.verdicts(1)).toEqual(['waits scheduled 120']);

    await fixture.setSettings({ capacityPolicy: 'Available' });
    expect(await fixture.condition(1, 'Schedulable')).toMatch(/^False OverCommitted: 120 .* limit is 100/);
    await fixture.addVolume('v', { size: 150, numberOfReplicas: 1 });
    expect((await fixture.allocation('v'))[1]).toMatch(/170 missing$/);
    await fixture.setSettings(overProvision);
    expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 150', 'waits scheduled 120']);

    await fixture.request(1, { waits: null, large: 600_000 });
    expect(await fixture.verdicts(1)).toContain('large rejected 0 InsufficientStorage');
    await fixture.patchNode(1, {
      spec: { disks: { d: { capacityPolicy: 'OverProvision', overProvisioningPercentage: 70 } } },
    });
    expect(await fixture.verdicts(1)).toContain('large scheduled 600000');

    // Lowered, it is as with a limit that falls.
    await fixture.patchNode(1, {
      spec: { disks: { d: { capacityPolicy: 'Available', overProvisioningPercentage: null } } },
    } as never);
    expect(await fixture.condition(1, 'Schedulable')).toMatch(/^False OverCommitted/);
    await fixture.reportDisk(1, { storageMaximum: 2_000_000, storageAvailable: 700_000 });
    expect(await fixture.condition(1, 'Schedulable')).toMatch(/^True/);
  });
});

describe('removal', () => {
  test('39. disk with entries: removal refused; forced removal tells all owners', async () => {
    const fixture = await DisksFixture.start(100, 50, 40);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
    await fixture.addVolume('single', { size: 45, numberOfReplicas: 1 });
    expect(await fixture.replicas()).toEqual([
      'single-r0 1 45 running',
      'v-r0 1 10 running',
      'v-r1 2 10 running',
    ]);
    for (const name of ['v-r0', 'v-r1', 'single-r0']) await fixture.setHealthy(name);
    await setFinalizer(fixture, 'v-r0');

    await fixture.reportDisk(1, null);
    await fixture.settle(20 * minuteMs);
    expect((await fixture.schedule(1))?.metadata).not.toHaveProperty('deletionTimestamp');
    expect(await fixture.verdicts(1)).toEqual(['single-r0 scheduled 45', 'v-r0 scheduled 10']);
    expect(await fixture.notes('DiskInUse')).toEqual([
      `disk d (${diskUUID(1)}) is no longer reported by StorageNode n1, and has 2 replicas and images: its DiskSchedule stays until they are gone; bring the disk back, or move or delete them; to give up a disk that does not answer, annotate the DiskSchedule with stowage.dev/force-removal=true`,
    ]);

    await fixture.environment.cluster
      .resource(diskSchedules)
      .patch({ name: diskUUID(1) }, { type: 'merge', body: forced });
    await fixture.settle();
    expect(await fixture.schedule(1)).toBeUndefined();
    expect([...(await fixture.notes('ReplicaFailed'))].sort()).toEqual([
      `replica single-r0: its disk ${diskUUID(1)} on node n1 was removed`,
      `replica v-r0: its disk ${diskUUID(1)} on node n1 was removed`,
    ]);
    // The one with a healthy replica is repaired; the other one is not replaced by an empty one.
    expect(await fixture.places('v')).toEqual(['2 10 running', '3 10 running']);
    expect(await fixture.replicas()).toContain('single-r0 1 45 running');
    expect(await fixture.allocation('single')).toEqual([
      45,
      expect.stringMatching(
        `^False DiskRemoved: replica single-r0: its disk ${diskUUID(1)} was removed, and no other replica is healthy; bring the disk back, or give the data up and begin with empty replicas: kubectl annotate --overwrite volumes.stowage.dev single stowage.dev/accept-data-loss=\\S+$`,
      ),
    ]);
    const { status } = await fixture.environment.cluster.resource(replicas).get({ name: 'single-r0' });
    expect(status?.failedAt).toBeDefined();

    // Brought back, the disk has its replica again.
    await fixture.setLimit(1, 100);
    expect(await fixture.verdicts(1)).toEqual(['single-r0 scheduled 45 Adopted']);
    expect((await fixture.allocation('single'))[1]).toMatch(/^True/);
    await fixture.checkAtRest();
  });

  test('a disk that answers can not be given up, and a StorageNode gives up those that do not', async () => {
    const fixture = await DisksFixture.start(100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
    for (const name of ['v-r0', 'v-r1']) await fixture.setHealthy(name);
    await fixture.patchNode(1, forced);
    expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 10']);
    await fixture.setReady(1, false);
    expect(await fixture.verdicts(1)).toEqual([]);
    expect(await fixture.condition(1, 'Ready')).toBe(
      'False DiskRemoved: the disk does not answer; its removal is forced',
    );
    expect((await fixture.allocation('v'))[1]).toMatch(
      /^False InsufficientStorage: replica v-r[02]: none of 2 disks fits/,
    );
    await fixture.setReady(1, true);
    await fixture.restIfDisturbed();
    expect(await fixture.places('v')).toEqual(['1 10 running', '2 10 running']);
  });

  test('40. disk UUID changes: old entries end, new object starts empty', async () => {
    const fixture = await DisksFixture.start(100, 50, 40);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
    for (const name of ['v-r0', 'v-r1']) await fixture.setHealthy(name);
    await fixture.reportDisk(1, { diskUUID: diskUUID(9) });
    expect((await fixture.schedule(9))?.spec).toEqual({ name: 'd', nodeID: 'n1' });
    expect(await fixture.granted()).toEqual({ 1: 10, 2: 10, 3: 0, 9: 0 });
    // It may have been moved to a node that has not reported it yet.
    await fixture.settle(4 * minuteMs);
    expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 10']);
    await fixture.settle(2 * minuteMs);
    expect(await fixture.schedule(1)).toBeUndefined();
    expect(await fixture.places('v')).toEqual(['2 10 running', '9 10 running']);
    expect(await fixture.granted()).toEqual({ 2: 10, 3: 0, 9: 10 });
    expect(await fixture.notes('ReplicaFailed')).toEqual([
      `replica v-r0: its disk ${diskUUID(1)} on node n1 was removed`,
    ]);
  });

  test('41. disk moves to another node with the same UUID: ledger kept', async () => {
    const fixture = await DisksFixture.start(100, 50);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    await fixture.setHealthy('v-r0');
    // Node 1 reports another disk instead, and the new node has not reported the moved disk yet.
    await fixture.reportDisk(1, { diskUUID: diskUUID(9) });
    await fixture.settle(minuteMs);
    await fixture.addNode(7, 100, 1);
    const schedule = await fixture.schedule(1);
    expect(schedule?.spec).toEqual({ name: 'd', nodeID: 'n7', replicas: { 'v-r0': 10 } });
    expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 10']);
    const { spec } = await fixture.environment.cluster.resource(replicas).get({ name: 'v-r0' });
    expect(spec).toMatchObject({ nodeID: 'n7', diskID: diskUUID(1) });
    await fixture.settle(10 * minuteMs);
    expect(await fixture.verdicts(1)).toEqual(['v-r0 scheduled 10']);
  });

  test('a disk that was moved from a node that is down, and still lists it, is taken over', async () => {
    const fixture = await DisksFixture.start(100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    await fixture.setReady(1, false);
    await fixture.addNode(7, 100, 1);
    expect((await fixture.schedule(1))?.spec?.nodeID).toBe('n7');
    expect(await fixture.notes('DuplicateDisk')).toEqual([]);
  });

  test('a disk that is no longer claimed by one node is taken over by the other one that reports it', async () => {
    const fixture = await DisksFixture.start(100);
    await fixture.addNode(7, 100, 1);
    expect(await fixture.notes('DuplicateDisk')).toHaveLength(1);
    await fixture.reportDisk(1, null);
    expect((await fixture.schedule(1))?.spec?.nodeID).toBe('n7');
    expect((await fixture.schedule(1))?.metadata?.finalizers ?? []).not.toContain(diskScheduleFinalizer);
  });

  test('42. upgrade of an over-committed disk: existing replicas adopted, new ones refused', async () => {
    const fixture = await DisksFixture.start();
    // Volume and replica are older than the schedule of their disk, which has less room than they need.
    await fixture.stop();
    const spec = { volumeName: 'v', volumeSize: 80, nodeID: 'n1', diskID: diskUUID(1) };
    await addVolume(fixture.environment, 'v', { size: 80, numberOfReplicas: 1 });
    await fixture.environment.cluster
      .resource(replicas)
      .create({ apiVersion: 'stowage.dev/v1alpha1', kind: 'Replica', metadata: { name: 'v-r0' }, spec });
    await fixture.setHealthy('v-r0');
    await fixture.addNode(1, 50);
    await fixture.restart();
    await fixture.request(1, { fresh: 1 });
    expect(await fixture.verdicts(1)).toEqual([
      'fresh rejected 0 InsufficientStorage',
      'v-r0 scheduled 80 Adopted',
    ]);
    expect(await fixture.condition(1, 'Schedulable')).toMatch(
      /^False OverCommitted: 80 bytes .* limit is 50/,
    );
    await fixture.request(1, { fresh: null });
    expect((await fixture.allocation('v'))[1]).toMatch(/^True/);
  });

  test('43. node down and back: releases made meanwhile are applied', async () => {
    const fixture = await DisksFixture.start(100);
    for (const name of ['a', 'b']) await fixture.addVolume(name, { size: 50, numberOfReplicas: 1 });
    await fixture.setReady(1, false);
    await fixture.environment.cluster.resource(replicas).delete({ name: 'a-r0' });
    await fixture.settle();
    expect(await fixture.verdicts(1)).toEqual(['b-r0 scheduled 50']);
    expect(await fixture.granted()).toEqual({ 1: 50 });
    expect((await fixture.allocation('a'))[1]).toMatch(/the disk does not answer$/);
    await fixture.setReady(1, true);
    // The replacement has the name of the deleted one, or the next one.
    expect(await fixture.verdicts(1)).toEqual([
      expect.stringMatching(/^a-r[01] scheduled 50$/),
      'b-r0 scheduled 50',
    ]);
  });
});

describe('eviction', () => {
  test('the new replica has its data before the old one goes, and the disk says when it is empty', async () => {
    const fixture = await DisksFixture.start(100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    await fixture.setHealthy('v-r0');
    await fixture.patchNode(1, { spec: { disks: { d: { evictionRequested: true } } } });
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running']);
    expect(await fixture.condition(1, 'Evicted')).toBe(
      'False Moving: 1 replica and 0 images are still on the disk; new replicas wait for their data on node n2, where no agent runs: start the controller disk-agent there',
    );
    await fixture.environment.cluster
      .resource(storageNodes)
      .patch(
        { name: 'n2' },
        { type: 'merge', body: { status: { upload: { url: 'https://n2:7444' } } } },
        { subresource: 'status' },
      );
    await fixture.settle();
    expect(await fixture.condition(1, 'Evicted')).toBe(
      'False Moving: 1 replica and 0 images are still on the disk',
    );
    await fixture.setHealthy('v-r1');
    expect(await fixture.replicas()).toEqual(['v-r1 2 10 running']);
    expect(await fixture.condition(1, 'Evicted')).toBe('True Empty: Nothing is left on the disk');
    await fixture.patchNode(1, { spec: { disks: { d: { evictionRequested: false } } } });
    expect(await fixture.condition(1, 'Evicted')).toBe('-');
  });

  test('draining a node says what can not move, and why, until it can', async () => {
    const fixture = await DisksFixture.start(100, 15);
    await fixture.addVolume('large', { size: 50, numberOfReplicas: 1 });
    await fixture.addVolume('small', { size: 10, numberOfReplicas: 1 });
    await fixture.patchNode(1, { spec: { evictionRequested: true } });
    await fixture.settle(5_000);
    expect(await fixture.granted()).toEqual({ 1: 50, 2: 10 });
    expect(await fixture.condition(1, 'Evicted')).toMatch(
      /^False CannotMove: 1 replica and 0 images are still on the disk; these can't leave: replica large-r0 of Volume large: replica large-r1: none of 2 disks fits; the closest is d on node n2: .* missing$/,
    );
    expect(await fixture.eventLines(/^CannotMove n1: disk d: /)).toHaveLength(1);
    await fixture.setLimit(2, 100);
    expect(await fixture.granted()).toEqual({ 1: 0, 2: 60 });
    expect(await fixture.condition(1, 'Evicted')).toMatch(/^True Empty/);
  });

  test('from one disk of a node to another: the node counts as free if there is no other', async () => {
    const fixture = await DisksFixture.start(100);
    await fixture.patchNode(1, { spec: { disks: { e: { path: '/e' } } } });
    const body = {
      status: { diskStatus: { e: { diskUUID: diskUUID(2), storageMaximum: 90, storageAvailable: 90 } } },
    };
    await fixture.environment.cluster
      .resource(storageNodes)
      .patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running']);
    await fixture.patchNode(1, { spec: { disks: { d: { evictionRequested: true } } } });
    expect(await fixture.replicas()).toEqual(['v-r1 2 10 running']);
  });

  test('an eviction that is taken back keeps the old replica', async () => {
    const fixture = await DisksFixture.start(100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    await fixture.setHealthy('v-r0');
    await fixture.patchNode(1, { spec: { evictionRequested: true } });
    expect(await fixture.replicas()).toHaveLength(2);
    await fixture.patchNode(1, { spec: { evictionRequested: false } });
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running']);
    expect(await fixture.granted()).toEqual({ 1: 10, 2: 0 });
  });
});

/** As an agent does that has made the file of a replica. */
async function setFinalizer({ environment }: DisksFixture, name: string): Promise<void> {
  const client = environment.cluster.resource(replicas);
  const { metadata } = await client.get({ name });
  const finalizers = [...(metadata?.finalizers ?? []), diskAgentFinalizer];
  await client.patch({ name }, { type: 'merge', body: { metadata: { finalizers } } });
}
