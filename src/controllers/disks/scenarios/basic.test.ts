import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';
import type { Resource } from '../../../kube/resource.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { DisksFixture } from '../testing/disks-fixture.ts';

const apiVersion = 'stowage.dev/v1alpha1';
const gib = 2 ** 30;

/** The example of the proposal that this design follows, with our group and finalizer. */
const proposed = `
apiVersion: stowage.dev/v1alpha1
kind: DiskSchedule
metadata:
  finalizers:
    - stowage.dev/disk-schedule
  name: aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee
spec:
  name: example-disk
  nodeID: example-node
  replicas:
    r1: 53687091200
    r2: 53687091200
    r3: 536870912000
    r4: 5368709120
  backingImages:
    b1: 53687091200
    b2: 53687091200
status:
  replicas:
    r1:
      state: scheduled
      scheduledSize: 53687091200
    r2:
      state: scheduled
      scheduledSize: 53687091200
    r3:
      state: rejected
      scheduledSize: 0
    # r4 is pending - present in spec but not yet in status
  backingImages:
    b1:
      state: scheduled
      scheduledSize: 53687091200
    b2:
      state: scheduled
      scheduledSize: 53687091200
  storageScheduled: 214748364800
  conditions:
    - lastProbeTime: ""
      lastTransitionTime: "2006-01-02T15:04:05Z"
      message: Disk example-disk is ready for scheduling on node example-node
      reason: ""
      status: "True"
      type: Schedulable
`;

test('3. the YAML example of the proposal (r1, r2, b1, b2 scheduled; r3 rejected; r4 pending) reproduced field by field, then one pass settles r4', async () => {
  const fixture = await DisksFixture.start();
  await fixture.stop();
  const schedule = parse(proposed) as DiskSchedule;
  const uuid = schedule.metadata?.name ?? '';
  const place = { nodeID: 'example-node', diskID: uuid };
  // The example has no limit, and no condition Ready: our controller would not write it so.
  await fixture.unchecked(() => apply(fixture, diskSchedules, schedule));
  await apply(fixture, storageNodes, {
    kind: 'StorageNode',
    metadata: { name: 'example-node' },
    spec: { disks: { 'example-disk': { path: '/var/lib/stowage' } } },
    status: {
      diskStatus: {
        'example-disk': { diskUUID: uuid, storageMaximum: 500 * gib, storageAvailable: 400 * gib },
      },
    },
  });
  for (const [at, volumeSize] of Object.values(schedule.spec?.replicas ?? {}).entries()) {
    const [name, volumeName] = [`r${at + 1}`, `v${at + 1}`];
    const spec = { size: volumeSize, numberOfReplicas: 1 };
    await apply(fixture, diskVolumes, { kind: 'Volume', metadata: { name: volumeName }, spec });
    const metadata = { name, finalizers: ['stowage.dev/replica'] };
    await apply(fixture, replicas, { kind: 'Replica', metadata, spec: { volumeName, volumeSize, ...place } });
  }
  for (const name of ['b1', 'b2'])
    await apply(fixture, backingImages, {
      kind: 'BackingImage',
      metadata: { name, finalizers: ['stowage.dev/backing-image'] },
      spec: {
        source: { download: { url: `https://images.example.com/${name}` } },
        minNumberOfCopies: 1,
        diskFileSpecMap: { [uuid]: {} },
      },
      status: { size: 50 * gib, diskFileStatusMap: { [uuid]: { state: 'ready' } } },
    });
  const client = fixture.environment.cluster.resource(diskSchedules);
  const { lastProbeTime: _, ...condition } = (schedule.status?.conditions?.[0] ?? {}) as {
    lastProbeTime?: string;
  };
  expect((await client.get({ name: uuid })).spec).toEqual(schedule.spec);
  expect((await client.get({ name: uuid })).status).toMatchObject({
    ...schedule.status,
    conditions: [condition],
  });

  await fixture.restart();
  await fixture.settle(60_000);
  const settled = await client.get({ name: uuid });
  expect(settled.metadata?.finalizers).toEqual(schedule.metadata?.finalizers);
  expect(settled.spec).toEqual(schedule.spec);
  const scheduled = (size: number) => ({ state: 'scheduled', scheduledSize: size, observedSize: size });
  expect(settled.status).toMatchObject({
    replicas: {
      r1: scheduled(50 * gib),
      r2: scheduled(50 * gib),
      r3: { state: 'rejected', scheduledSize: 0, observedSize: 500 * gib, reason: 'InsufficientStorage' },
      r4: scheduled(5 * gib),
    },
    backingImages: { b1: scheduled(50 * gib), b2: scheduled(50 * gib) },
    storageScheduled: 205 * gib,
    storageLimit: 400 * gib,
  });
  expect(settled.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'Schedulable',
      status: 'True',
      message: schedule.status?.conditions?.[0]?.message,
    }),
  );
  const { items } = await fixture.environment.cluster.resource(replicas).list();
  expect(items.map(({ metadata, spec }) => `${metadata?.name} ${spec?.desiredState}`)).toEqual([
    'r1 running',
    'r2 running',
    'r3 stopped',
    'r4 running',
  ]);
  // The request is repeated now and then: which of the two is written depends on when the last repetition was.
  expect((await fixture.allocation('v3'))[1]).toMatch(
    /^False InsufficientStorage: replica r3: the only disk .*(missing|it rejected this request a moment ago)$/,
  );
  await fixture.checkAtRest();
  expect((await client.get({ name: uuid })).status?.replicas).toEqual(settled.status?.replicas);
});

/** Creates an object, and then its status. */
async function apply<T extends KubeObject>(
  { environment }: DisksFixture,
  resource: Resource<T>,
  { status, ...object }: KubeObject & { readonly spec?: object; readonly status?: object },
): Promise<void> {
  const client = environment.cluster.resource(resource);
  // Safe: the API server validates it.
  const created = await client.create({ apiVersion, ...object } as unknown as T);
  if (status !== undefined) await client.update({ ...created, status }, { subresource: 'status' });
}

test('5. set 0 removes the key; a stored 0 is refused', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.request(1, { r1: 60 });
  await fixture.request(1, { r1: null });
  expect((await fixture.schedule(1))?.spec?.replicas).toEqual({});
  expect(await fixture.granted()).toEqual({ 1: 0 });
  await expect(fixture.request(1, { r1: 0 })).rejects.toSatisfy((error) => isReason(error, 'Invalid'));
  expect((await fixture.schedule(1))?.spec?.replicas).toEqual({});
});

test('6. negative, fraction, NaN and 2^53+1 are refused at the door', async () => {
  const fixture = await DisksFixture.start(100);
  for (const size of [-1, 1.5, 'NaN', 2 ** 53, 2n ** 53n + 1n, '9007199254740993']) {
    for (const kind of ['replicas', 'backingImages'] as const)
      await expect(fixture.request(1, { r1: size as number }, kind), `${size} ${kind}`).rejects.toSatisfy(
        (error) => isReason(error, 'Invalid'),
      );
  }
  expect((await fixture.schedule(1))?.status?.replicas).toEqual({});
});

test('8. a second pass on unchanged input writes nothing', async () => {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('v', { size: 60, numberOfReplicas: 2 });
  await fixture.addVolume('w', { size: 60, numberOfReplicas: 1 });
  await fixture.settle(60_000);
  const before = await Promise.all([1, 2].map((number) => fixture.schedule(number)));
  const writes: string[] = [];
  await fixture.restart({
    before: ({ verb, resource }) => {
      if (resource.plural === diskSchedules.plural && !['get', 'list', 'watch'].includes(verb))
        writes.push(verb);
    },
  });
  await fixture.settle(20 * 60_000);
  expect(writes).toEqual([]);
  expect(await Promise.all([1, 2].map((number) => fixture.schedule(number)))).toEqual(before);
});
