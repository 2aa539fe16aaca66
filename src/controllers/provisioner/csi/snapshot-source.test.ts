import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import { CsiStatusError } from '../../../csi/csi-errors.ts';
import type { CsiRequest } from '../../../csi/csi-methods.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { failure } from '../../../kube/api-error.ts';
import { secrets } from '../../../kube/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from './snapshot-objects.ts';
import { snapshotFinalizer } from './snapshot-protection.ts';
import { type CsiFixtureOptions, CsiProvisionerFixture } from './testing/csi-provisioner-fixture.ts';
import { ofSnapshot, SnapshotFixture } from './testing/snapshots.ts';

const controllerCapabilities = ['CREATE_DELETE_VOLUME', 'CREATE_DELETE_SNAPSHOT'] as const;

/** Long enough for the sweep that removes finalizers after a crash. */
const sweptMs = 330_000;

async function start(options: CsiFixtureOptions = {}) {
  const fixture = await CsiProvisionerFixture.start({ driver: { controllerCapabilities }, ...options });
  const snapshots = await SnapshotFixture.install(fixture);
  return { fixture, snapshots };
}

const restoreSpec = (more: PersistentVolumeClaim['spec'] = {}) => ({
  ...(more.dataSourceRef === undefined ? { dataSource: ofSnapshot } : {}),
  resources: { requests: { storage: '2Gi' } },
  ...more,
});

function sourceOf(fixture: CsiProvisionerFixture) {
  const request = fixture.driver.callsOf('CreateVolume').at(-1) as CsiRequest<'CreateVolume'> | undefined;
  return request?.volumeContentSource?.type;
}

test.each(['dataSource', 'dataSourceRef'] as const)(
  'a volume is restored from the snapshot that %s names',
  async (field) => {
    const { fixture, snapshots } = await start();
    await using _ = fixture;
    await snapshots.make();
    let during: readonly string[] = [];
    fixture.driver.beforeCall = async (method) => {
      if (method === 'CreateVolume') during = await snapshots.finalizers();
    };
    fixture.run();
    await fixture.makeClaim({
      name: 'restored',
      spec: restoreSpec({ [field]: ofSnapshot }),
    });
    const { spec } = await fixture.provisioned('restored');
    expect(sourceOf(fixture)).toMatchObject({ case: 'snapshot', value: { snapshotId: 'snap-1' } });
    expect(spec).toMatchObject({ capacity: { storage: '2Gi' }, claimRef: { name: 'restored' } });
    expect(during, 'the snapshot is protected while the driver reads it').toEqual([snapshotFinalizer]);
    expect(await snapshots.finalizers()).toEqual([]);
  },
);

test('the Secret of the class is sent, as for any volume', async () => {
  const storageClass = {
    parameters: {
      'csi.storage.k8s.io/provisioner-secret-name': 'token',
      'csi.storage.k8s.io/provisioner-secret-namespace': 'default',
    },
  };
  const { fixture, snapshots } = await start({ storageClass });
  await using _ = fixture;
  await fixture.base.cluster
    .resource(secrets)
    .create({ metadata: { namespace: 'default', name: 'token' }, stringData: { key: 'value' } });
  await snapshots.make();
  fixture.run();
  await fixture.makeClaim({ name: 'restored', spec: restoreSpec() });
  await fixture.provisioned('restored');
  expect(fixture.driver.callsOf('CreateVolume').at(-1)).toMatchObject({
    secrets: { key: 'value' },
    volumeContentSource: { type: { value: { snapshotId: 'snap-1' } } },
  });
});

const otherMode = { volumeMode: 'Block' } as const;
const allowed = (value: string) => ({
  metadata: { annotations: { 'snapshot.storage.kubernetes.io/allow-volume-mode-change': value } },
});

test.each<[string, PersistentVolumeClaim['spec'], VolumeSnapshot, VolumeSnapshotContent, string]>([
  ['is not ready', {}, { status: { readyToUse: false } }, {}, 'is not ready to use'],
  ['is not bound', {}, { status: { boundVolumeSnapshotContentName: '' } }, {}, 'is not ready to use'],
  ['has no content', {}, { status: { boundVolumeSnapshotContentName: 'x' } }, {}, 'is not bound to its'],
  ['is another', {}, {}, { spec: { volumeSnapshotRef: { uid: 'x' } } }, 'is not bound to its'],
  ['is elsewhere', {}, {}, { spec: { volumeSnapshotRef: { namespace: 'x' } } }, 'is not bound to its'],
  ['is of another driver', {}, {}, { spec: { driver: 'x.io' } }, 'is of CSI driver x.io'],
  ['is larger', { resources: { requests: { storage: '1Gi' } } }, {}, {}, 'needs at least 2Gi'],
  ['has no handle', {}, {}, { status: { snapshotHandle: '' } }, 'has no handle yet'],
  ['has another mode', otherMode, {}, {}, 'has volumeMode Filesystem'],
  ['may not change its mode', otherMode, {}, allowed('false'), 'has volumeMode Filesystem'],
  ['does not exist', { dataSource: { ...ofSnapshot, name: 'none' } }, {}, {}, 'does not exist'],
])(
  'a volume from a snapshot that %s is refused, without a call',
  async (_, spec, snapshot, content, problem) => {
    const { fixture, snapshots } = await start();
    await using _fixture = fixture;
    await snapshots.make(snapshot, content);
    fixture.run();
    await fixture.makeClaim({ name: 'restored', spec: restoreSpec(spec) });
    await fixture.base.settle();
    expect(await fixture.notes()).toEqual([expect.stringContaining(problem)]);
    expect(fixture.driver.callsOf('CreateVolume')).toEqual([]);
    expect(await snapshots.finalizers()).toEqual([]);
  },
);

test('an administrator may allow another mode', async () => {
  const { fixture, snapshots } = await start();
  await using _ = fixture;
  await snapshots.make({}, allowed('true'));
  fixture.run();
  await fixture.makeClaim({ name: 'restored', spec: restoreSpec(otherMode) });
  expect((await fixture.provisioned('restored')).spec?.volumeMode).toBe('Block');
});

test('a snapshot that is being deleted is refused, unless a volume from it was begun before', async () => {
  const { fixture, snapshots } = await start();
  await using _ = fixture;
  await snapshots.make({ metadata: { finalizers: ['example.com/other'] } });
  await snapshots.delete();
  fixture.run();
  await fixture.makeClaim({ name: 'late', spec: restoreSpec() });
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining('is being deleted')]);
});

test('a snapshot that is deleted while the driver reads it stays until the volume is recorded', async () => {
  const { fixture, snapshots } = await start();
  await using _ = fixture;
  await snapshots.make();
  let calls = 0;
  fixture.driver.beforeCall = async (method) => {
    if (method !== 'CreateVolume') return;
    calls += 1;
    if (calls > 1) return;
    await snapshots.delete();
    throw new CsiStatusError('DeadlineExceeded', 'still copying');
  };
  const first = fixture.run();
  await fixture.makeClaim({ name: 'restored', spec: restoreSpec() });
  await fixture.base.until(() => calls === 1);
  await fixture.base.settle();
  // Another process finds the snapshot in deletion, and goes on.
  await first.close();
  fixture.run();
  await fixture.provisioned('restored');
  expect(calls).toBe(2);
  await expect(snapshots.get()).rejects.toThrow('not found');
});

test('a snapshot is protected until no claim waits for a volume from it', async () => {
  const { fixture, snapshots } = await start();
  await using _ = fixture;
  await snapshots.make();
  fixture.driver.beforeCall = (method, request) => {
    const { name } = request as CsiRequest<'CreateVolume'>;
    if (method === 'CreateVolume' && name === `pvc-${slowUid}`)
      throw new CsiStatusError('DeadlineExceeded', 'still copying');
  };
  let slowUid = '';
  fixture.run();
  slowUid = (await fixture.makeClaim({ name: 'slow', spec: restoreSpec() })).metadata?.uid ?? '';
  await fixture.base.settle();
  await fixture.makeClaim({ name: 'fast', spec: restoreSpec() });
  await fixture.provisioned('fast');
  expect(await snapshots.finalizers()).toEqual([snapshotFinalizer]);
  fixture.driver.beforeCall = undefined;
  await fixture.provisioned('slow');
  await fixture.base.until(async () => (await snapshots.finalizers()).length === 0);
});

test('it crashes after any write: the volume is there, and the snapshot is free', async () => {
  for (let writes = 1; ; writes++) {
    const { fixture, snapshots } = await start();
    await using _ = fixture;
    await snapshots.make();
    await fixture.makeClaim({ name: 'restored', spec: restoreSpec() });
    const crash = new CrashAfterWrites(writes);
    const crashing = new InterceptedCluster(fixture.base.cluster, crash);
    const first = fixture.base.virtualTime.run(fixture.controllers, crashing);
    await fixture.base.virtualTime.settle();
    await first.close();
    fixture.run();
    await fixture.provisioned('restored');
    await fixture.base.virtualTime.settle(sweptMs);
    expect(await snapshots.finalizers(), `after ${writes} writes`).toEqual([]);
    if (!crash.hasCrashed) break;
    expect(writes).toBeLessThan(20);
  }
});

test('a finalizer that a crash has left is removed by the next process', async () => {
  const { fixture, snapshots } = await start();
  await using _ = fixture;
  await snapshots.make({ metadata: { finalizers: [snapshotFinalizer, 'example.com/other'] } });
  fixture.run();
  await fixture.base.until(async () => (await snapshots.finalizers()).join() === 'example.com/other');
});

test('without the right to change snapshots, volumes are restored without protection', async () => {
  const { fixture, snapshots } = await start();
  await using _ = fixture;
  await snapshots.make();
  const restricted = new InterceptedCluster(fixture.base.cluster, {
    before: ({ resource, verb }) => {
      if (resource.plural === 'volumesnapshots' && verb !== 'get')
        throw failure(403, 'Forbidden', 'volumesnapshots is forbidden');
    },
  });
  fixture.base.virtualTime.run(fixture.controllers, restricted);
  await fixture.makeClaim({ name: 'restored', spec: restoreSpec() });
  await fixture.provisioned('restored');
  expect(await snapshots.finalizers()).toEqual([]);
});

test('a driver without snapshots is not asked', async () => {
  const driver = { controllerCapabilities: ['CREATE_DELETE_VOLUME'] as const };
  const { fixture, snapshots } = await start({ driver });
  await using _ = fixture;
  await snapshots.make();
  fixture.run();
  await fixture.makeClaim({ name: 'restored', spec: restoreSpec() });
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining('has no snapshots')]);
});
