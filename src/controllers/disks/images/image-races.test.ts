import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { disksController } from '../disks-controller.ts';
import { diskUUID, prepareDisks } from '../testing/disks-fixture.ts';
import { ImagesFixture } from './testing/images-fixture.ts';

const apiVersion = 'stowage.dev/v1alpha1';

/** The image `i` with one copy on disk 1, which has no room for it, and disk 2, which has. */
async function startWithRejection(wrap: (cluster: Cluster) => Cluster): Promise<VirtualTimeCluster> {
  const environment = await VirtualTimeCluster.start();
  await prepareDisks(environment, [10, 100]);
  await environment.cluster.resource(backingImages).create({
    apiVersion,
    kind: 'BackingImage',
    metadata: { name: 'i' },
    spec: {
      source: { download: { url: 'https://images.example.com/base.img' } },
      expectedSize: 20,
      diskFileSpecMap: { [diskUUID(1)]: {} },
    },
  });
  environment.run([disksController()], wrap(environment.cluster));
  return environment;
}

function isWithdrawal({ verb, resource, body }: ClusterCall): boolean {
  const { spec } = (body ?? {}) as DiskSchedule;
  return verb === 'patch' && resource.plural === 'diskschedules' && spec?.backingImages?.i === null;
}

async function wantedOn({ cluster }: VirtualTimeCluster): Promise<readonly string[]> {
  const { spec } = await cluster.resource(backingImages).get({ name: 'i' });
  return Object.keys(spec?.diskFileSpecMap ?? {});
}

test('Withdrawal races with a late grant: conflict, grant used, nothing leaked', async () => {
  let withdrawals = 0;
  await using environment = await startWithRejection((cluster) => {
    const before = async (call: ClusterCall) => {
      if (!isWithdrawal(call)) return;
      withdrawals += 1;
      if (withdrawals > 1) return;
      // The disk has grown, and another instance has granted the request.
      const schedules = cluster.resource(diskSchedules);
      const schedule = await schedules.get({ name: diskUUID(1) });
      const i = { state: 'scheduled', scheduledSize: 20, observedSize: 20 } as const;
      const status = {
        ...schedule.status,
        storageLimit: 100,
        storageScheduled: 20,
        backingImages: { i },
      };
      await schedules.update({ ...schedule, status }, { subresource: 'status' });
      const body = { status: { diskStatus: { d: { storageAvailable: 100 } } } };
      await cluster
        .resource(storageNodes)
        .patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
    };
    return new InterceptedCluster(cluster, { before });
  });
  await environment.settle(10_000);
  expect(withdrawals).toBe(1);
  expect(await wantedOn(environment)).toEqual([diskUUID(1)]);
  const { items } = await environment.cluster.resource(diskSchedules).list();
  expect(items.map(({ status }) => status?.storageScheduled)).toEqual([20, 0]);
});

test('a rejected copy is withdrawn and goes to another disk, which is remembered', async () => {
  await using environment = await startWithRejection((cluster) => cluster);
  await environment.settle(10_000);
  expect(await wantedOn(environment)).toEqual([diskUUID(2)]);
  const { metadata } = await environment.cluster.resource(backingImages).get({ name: 'i' });
  expect(metadata?.annotations?.['stowage.dev/rejected-disks']).toContain(diskUUID(1));
});

test('an entry without a placement is released', async () => {
  const fixture = await ImagesFixture.start(100, 100);
  await fixture.addImage('i', 10, { expectedSize: 10 });
  const client = fixture.disks.environment.cluster.resource(diskSchedules);
  const body = { spec: { backingImages: { i: 10 } } };
  await client.patch({ name: diskUUID(2) }, { type: 'merge', body });
  await fixture.settle();
  expect(await fixture.entries('i')).toEqual([1]);
});

test('an instance whose cache of images is behind does not release what another one has requested', async () => {
  const fixture = await ImagesFixture.start(100, 100);
  await fixture.addImage('i', 10, { expectedSize: 10 });
  const { environment } = fixture.disks;
  const removals: string[] = [];
  const hooks = {
    before: (call: ClusterCall) => {
      if (isWithdrawal(call)) removals.push(call.name);
    },
    onWatchEvent: async ({ resource, signal }: ClusterCall) => {
      if (resource.plural === 'backingimages' && signal !== undefined)
        await environment.clock.sleep(1_000, signal);
      return undefined;
    },
  };
  environment.run([disksController()], new InterceptedCluster(environment.cluster, hooks));
  await fixture.settle(10_000);
  await fixture.patchImage('i', { minNumberOfCopies: 2 });
  await fixture.settle(30_000);
  expect(await fixture.copies('i')).toEqual(['1 ready 10', '2 ready 10']);
  expect(removals).toEqual([]);
});

test('a copy on a disk that was given up is forgotten, and its image can be deleted', async () => {
  const fixture = await ImagesFixture.start(100, 50);
  await fixture.addImage('i', 10, { expectedSize: 10 });
  fixture.agents.silent.add(diskUUID(1));
  const client = fixture.disks.environment.cluster.resource(storageNodes);
  const down = [{ type: 'Ready', status: 'False', reason: 'Down', message: 'down' }];
  await client.patch(
    { name: 'n1' },
    { type: 'merge', body: { status: { conditions: down } } },
    { subresource: 'status' },
  );
  await fixture.settle();
  expect(await fixture.copies('i')).toEqual(['1 ready 10']);
  const annotations = { 'stowage.dev/force-removal': 'true' };
  await client.patch({ name: 'n1' }, { type: 'merge', body: { metadata: { annotations } } });
  await fixture.settle(10_000);
  expect(await fixture.copies('i')).toEqual(['2 ready 10']);
  expect(await fixture.entries('i')).toEqual([2]);
  expect(Object.keys((await fixture.image('i'))?.status?.diskFileStatusMap ?? {})).toEqual([diskUUID(2)]);
  await fixture.deleteImage('i');
  expect(await fixture.image('i')).toBeUndefined();
});
