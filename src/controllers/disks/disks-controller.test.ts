import { expect, onTestFinished, test } from 'vitest';
import { events } from '../../kube/resources.ts';
import { type DiskSchedule, diskScheduleFinalizer, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { type StorageDiskStatus, storageNodes } from '../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { crashControllersAtEveryWrite } from '../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { disksController } from './disks-controller.ts';

const apiVersion = 'stowage.dev/v1alpha1';
const uuid = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
const ready = [
  {
    type: 'Ready',
    status: 'True' as const,
    reason: 'Mounted',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  },
];

function disk(storageAvailable: number, diskUUID = uuid): StorageDiskStatus {
  return { diskUUID, storageMaximum: 10_000, storageAvailable, conditions: ready };
}

/** A cluster with our kinds, and the StorageNode n1 that reports the disk d1. */
async function start(storageAvailable = 100): Promise<VirtualTimeCluster> {
  const fixture = await VirtualTimeCluster.start();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  await fixture.installOwnKinds();
  await addNode(fixture, 'n1', { d1: disk(storageAvailable) });
  fixture.run([disksController()]);
  await fixture.settle();
  return fixture;
}

async function addNode(
  { cluster }: VirtualTimeCluster,
  name: string,
  diskStatus: Readonly<Record<string, StorageDiskStatus>>,
): Promise<void> {
  const disks = Object.fromEntries(Object.keys(diskStatus).map((disk) => [disk, { path: `/${disk}` }]));
  const created = await cluster
    .resource(storageNodes)
    .create({ apiVersion, kind: 'StorageNode', metadata: { name }, spec: { disks } });
  await cluster
    .resource(storageNodes)
    .update({ ...created, status: { diskStatus } }, { subresource: 'status' });
}

async function report(
  fixture: VirtualTimeCluster,
  name: string,
  diskStatus: Readonly<Record<string, StorageDiskStatus | null>>,
): Promise<void> {
  const body = { status: { diskStatus } };
  await fixture.cluster
    .resource(storageNodes)
    .patch({ name }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.settle();
}

async function request(
  fixture: VirtualTimeCluster,
  sizes: Readonly<Record<string, number | null>>,
  name = uuid,
): Promise<void> {
  const body = { spec: { replicas: sizes } };
  await fixture.cluster.resource(diskSchedules).patch({ name }, { type: 'merge', body });
  await fixture.settle();
}

async function schedule({ cluster }: VirtualTimeCluster, name = uuid): Promise<DiskSchedule | undefined> {
  return await undefinedIfNotFound(cluster.resource(diskSchedules).get({ name }));
}

/** The verdicts as `NAME STATE BYTES`. */
async function verdicts(fixture: VirtualTimeCluster): Promise<readonly string[]> {
  const { replicas: all = {} } = (await schedule(fixture))?.status ?? {};
  return Object.entries(all).map(([name, { state, scheduledSize, reason }]) =>
    [name, state, scheduledSize, ...(reason ? [reason] : [])].join(' '),
  );
}

async function condition(fixture: VirtualTimeCluster, type: string): Promise<string> {
  const found = (await schedule(fixture))?.status?.conditions?.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

test('each disk of a StorageNode has a schedule, and requests get their verdict', async () => {
  const fixture = await start();
  expect((await schedule(fixture))?.spec).toEqual({ name: 'd1', nodeID: 'n1' });
  expect(await condition(fixture, 'Schedulable')).toBe(
    'True DiskReady: Disk d1 is ready for scheduling on node n1',
  );
  await request(fixture, { r1: 60, r2: 50 });
  expect(await verdicts(fixture)).toEqual(['r1 scheduled 60', 'r2 rejected 0 InsufficientStorage']);
  expect((await schedule(fixture))?.status).toMatchObject({ storageScheduled: 60, storageLimit: 100 });

  await request(fixture, { r1: null });
  expect(await verdicts(fixture)).toEqual(['r2 scheduled 50']);
  expect(fixture.errors).toEqual([]);
});

test('two disks with one UUID: the first keeps the schedule, and the second node gets an event', async () => {
  const fixture = await start();
  await addNode(fixture, 'n2', { d1: disk(100) });
  await fixture.settle();
  expect((await schedule(fixture))?.spec?.nodeID).toBe('n1');
  const { items } = await fixture.cluster.resource(events).list();
  const notes = items.flatMap(({ reason, note }) => (reason === 'DuplicateDisk' ? [note] : []));
  expect(notes).toEqual([
    `StorageNode n1 reports disk ${uuid} too, and keeps its DiskSchedule; give one of the disks another UUID`,
  ]);
});

test('the schedule of a disk that is gone is deleted once it is empty', async () => {
  const fixture = await start();
  await request(fixture, { r1: 60 });
  expect((await schedule(fixture))?.metadata?.finalizers).toEqual([diskScheduleFinalizer]);
  await report(fixture, 'n1', { d1: null });
  expect(await schedule(fixture)).toBeDefined();
  await request(fixture, { r1: null });
  expect(await schedule(fixture)).toBeUndefined();
});

test('a schedule that is deleted by hand keeps its entries, grants nothing new, and goes with the last entry', async () => {
  const fixture = await start();
  await request(fixture, { r1: 60 });
  await fixture.cluster.resource(diskSchedules).delete({ name: uuid });
  await request(fixture, { r2: 10 });
  expect(await verdicts(fixture)).toEqual(['r1 scheduled 60', 'r2 rejected 0 DiskRemoved']);
  await request(fixture, { r1: null, r2: null });
  await fixture.settle(2_000);
  // The disk is there: a new, empty schedule takes its place.
  expect((await schedule(fixture))?.spec).toEqual({ name: 'd1', nodeID: 'n1' });
});

test('a process may die after any write', async () => {
  const writes = await crashControllersAtEveryWrite({
    controllers: [disksController()],
    resources: [diskSchedules],
    prepare: async (fixture) => {
      await fixture.installOwnKinds();
      const gone = 'bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee';
      await addNode(fixture, 'n1', { d1: disk(100) });
      for (const [name, sizes] of [
        [uuid, { r1: 60, r2: 50 }],
        [gone, {}],
      ] as const)
        await fixture.cluster.resource(diskSchedules).create({
          apiVersion,
          kind: 'DiskSchedule',
          metadata: { name },
          spec: { name: 'd1', nodeID: 'n1', replicas: sizes },
        });
    },
  });
  expect(writes).toBeGreaterThanOrEqual(3);
});
