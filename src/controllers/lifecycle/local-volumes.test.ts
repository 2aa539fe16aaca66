import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { isReason } from '../../kube/api-error.ts';
import { annotations, noProvisioner } from '../../kube/well-known.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { pvBinderController } from '../volumes/pv-binder/pv-binder.ts';
import { LifecycleFixture } from './testing/lifecycle-fixture.ts';

const classes = [classOf({ metadata: { name: 'local' }, provisioner: noProvisioner })];

async function startLocal(): Promise<LifecycleFixture> {
  const fixture = await LifecycleFixture.start({ classes });
  await fixture.makeLocalVolume('disk', 'a1');
  await fixture.makeClaim('data', 'local');
  await fixture.makePod('web', ['data']);
  await fixture.settle();
  return fixture;
}

/** Withdraws a reservation as the scheduler does: only from a version of the volume in phase Available. */
async function withdraw(fixture: LifecycleFixture, resourceVersion: string | undefined): Promise<void> {
  const metadata = { resourceVersion, annotations: { [annotations.boundByController]: null } };
  await fixture.patchVolume('disk', { metadata, spec: { claimRef: null } });
}

test('a hand-made disk waits for the scheduler, however well it fits', async () => {
  await using fixture = await startLocal();
  expect(await fixture.lines()).toEqual(['claim data Pending', 'pod web Pending', 'volume disk Available']);
});

test('a claimRef of the scheduler is completed, and the pod runs', async () => {
  await using fixture = await startLocal();
  await fixture.reserve('disk', 'data');
  await fixture.settle();
  const waiting = 'pod web Pending';
  expect(await fixture.lines()).toEqual(['claim data Bound', waiting, 'volume disk for data Bound']);
  expect((await fixture.claim()).spec?.volumeName).toBe('disk');
  expect((await fixture.claim()).status?.capacity).toEqual({ storage: '2Gi' });
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod web Running on a1');
  fixture.expectNoErrors();
});

test('a hand-made disk stays, Released, with a claimRef that blocks other claims', async () => {
  await using fixture = await startLocal();
  await fixture.reserve('disk', 'data');
  await fixture.settle();
  await fixture.deletePod('web');
  await fixture.deleteClaim('data');
  await fixture.settle();
  expect(await fixture.lines()).toEqual(['volume disk for data Released']);
  await fixture.makeClaim('data', 'local');
  await fixture.settle();
  expect(await fixture.lines()).toEqual(['claim data Pending', 'volume disk for data Released']);
  await fixture.patchVolume('disk', { spec: { claimRef: null } });
  await fixture.settle();
  expect(await fixture.lines()).toEqual(['claim data Pending', 'volume disk Available']);
});

test('a claimRef that is withdrawn while the volume is Available frees it, and the claim stays usable', async () => {
  await using fixture = await startLocal();
  await fixture.makeLocalVolume('other', 'a2');
  await fixture.settle();
  await fixture.pause();
  await fixture.reserve('disk', 'data');
  const { metadata, status } = await fixture.volume('disk');
  expect(status?.phase).toBe('Available');
  await withdraw(fixture, metadata?.resourceVersion);
  fixture.resume();
  await fixture.settle();
  expect(await fixture.lines()).toEqual([
    'claim data Pending',
    'pod web Pending',
    'volume disk Available',
    'volume other Available',
  ]);
  expect((await fixture.claim()).spec?.volumeName ?? '').toBe('');
  await fixture.reserve('other', 'data');
  await fixture.settle();
  expect(await fixture.lines()).toEqual([
    'claim data Bound',
    'pod web Pending',
    'volume disk Available',
    'volume other for data Bound',
  ]);
});

test('a freed volume serves another claim', async () => {
  await using fixture = await startLocal();
  await fixture.makeClaim('more', 'local');
  await fixture.pause();
  await fixture.reserve('disk', 'data');
  await withdraw(fixture, (await fixture.volume('disk')).metadata?.resourceVersion);
  await fixture.reserve('disk', 'more');
  fixture.resume();
  await fixture.settle();
  expect(await fixture.lines()).toEqual([
    'claim data Pending',
    'claim more Bound',
    'pod web Pending',
    'volume disk for more Bound',
  ]);
});

/** The scheduler withdraws after the binder's first so many writes about the claimRef; then all controllers continue. */
async function withdrawnAfter(writes: number): Promise<string> {
  await using fixture = await startLocal();
  await fixture.pause();
  const { resourceVersion } = await fixture.reserve('disk', 'data');
  if (writes > 0) {
    const binder = fixture.virtualTime.run(
      [pvBinderController()],
      new InterceptedCluster(fixture.cluster, new CrashAfterWrites(writes)),
    );
    await fixture.settle();
    await binder.close();
  }
  const failure = await withdraw(fixture, resourceVersion).catch((error: unknown) => error);
  fixture.resume();
  await fixture.settle();
  const lines = (await fixture.lines()).join(', ');
  if (failure === undefined) return lines;
  return `${isReason(failure, 'Conflict') ? 'too late' : failure}: ${lines}`;
}

test.each([0, 1, 2, 3, 4, 5])(
  'a scheduler that withdraws after %i writes of the binder is first or too late, never both',
  async (writes) => {
    expect(await withdrawnAfter(writes)).toBe(
      writes === 0
        ? 'claim data Pending, pod web Pending, volume disk Available'
        : 'too late: claim data Bound, pod web Pending, volume disk for data Bound',
    );
  },
);

test('a completed binding is never withdrawn, and a removed claimRef is written again', async () => {
  await using fixture = await startLocal();
  await fixture.reserve('disk', 'data');
  await fixture.settle();
  await fixture.settle(3_600_000);
  expect(await fixture.lines()).toEqual([
    'claim data Bound',
    'pod web Pending',
    'volume disk for data Bound',
  ]);
  await withdraw(fixture, (await fixture.volume('disk')).metadata?.resourceVersion);
  await fixture.settle();
  expect(await fixture.lines()).toEqual([
    'claim data Bound',
    'pod web Pending',
    'volume disk for data Bound',
  ]);
  expect((await fixture.claim()).spec?.volumeName).toBe('disk');
});
