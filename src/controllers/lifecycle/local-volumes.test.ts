import { expect, test } from 'vitest';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { InterceptedCluster } from '../../cluster/testing/intercepted-cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { annotations, noProvisioner } from '../../kube/well-known.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { pvBinder } from '../volumes/pv-binder/pv-binder.ts';
import { Life } from './testing/life.ts';

const classes = [classOf({ metadata: { name: 'local' }, provisioner: noProvisioner })];

async function startLocal(): Promise<Life> {
  const life = await Life.start({ classes });
  await life.makeLocalVolume('disk', 'a1');
  await life.makeClaim('data', 'local');
  await life.makePod('web', ['data']);
  await life.settle();
  return life;
}

/** As the scheduler takes a reservation back: only from a version of the volume that it saw Available. */
async function withdraw(life: Life, resourceVersion: string | undefined): Promise<void> {
  const metadata = { resourceVersion, annotations: { [annotations.boundByController]: null } };
  await life.patchVolume('disk', { metadata, spec: { claimRef: null } });
}

test('a disk made by hand waits for the scheduler, however well it fits', async () => {
  await using life = await startLocal();
  expect(await life.lines()).toEqual(['claim data Pending', 'pod web Pending', 'volume disk Available']);
});

test('a claimRef by the scheduler is completed, and the pod runs', async () => {
  await using life = await startLocal();
  await life.reserve('disk', 'data');
  await life.settle();
  const waiting = 'pod web Pending';
  expect(await life.lines()).toEqual(['claim data Bound', waiting, 'volume disk for data Bound']);
  expect((await life.claim()).spec?.volumeName).toBe('disk');
  expect((await life.claim()).status?.capacity).toEqual({ storage: '2Gi' });
  await life.bindPod('web', 'a1');
  await life.settle();
  expect(await life.lines()).toContain('pod web Running on a1');
  life.expectNoTroubles();
});

test('a disk made by hand stays, Released, with a claimRef that keeps others away', async () => {
  await using life = await startLocal();
  await life.reserve('disk', 'data');
  await life.settle();
  await life.deletePod('web');
  await life.deleteClaim('data');
  await life.settle();
  expect(await life.lines()).toEqual(['volume disk for data Released']);
  await life.makeClaim('data', 'local');
  await life.settle();
  expect(await life.lines()).toEqual(['claim data Pending', 'volume disk for data Released']);
  await life.patchVolume('disk', { spec: { claimRef: null } });
  await life.settle();
  expect(await life.lines()).toEqual(['claim data Pending', 'volume disk Available']);
});

test('a claimRef that is withdrawn while the volume is Available frees it, and the claim stays usable', async () => {
  await using life = await startLocal();
  await life.makeLocalVolume('other', 'a2');
  await life.settle();
  await life.pause();
  await life.reserve('disk', 'data');
  const { metadata, status } = await life.volume('disk');
  expect(status?.phase).toBe('Available');
  await withdraw(life, metadata?.resourceVersion);
  life.resume();
  await life.settle();
  expect(await life.lines()).toEqual([
    'claim data Pending',
    'pod web Pending',
    'volume disk Available',
    'volume other Available',
  ]);
  expect((await life.claim()).spec?.volumeName ?? '').toBe('');
  await life.reserve('other', 'data');
  await life.settle();
  expect(await life.lines()).toEqual([
    'claim data Bound',
    'pod web Pending',
    'volume disk Available',
    'volume other for data Bound',
  ]);
});

test('a volume that was freed serves another claim', async () => {
  await using life = await startLocal();
  await life.makeClaim('more', 'local');
  await life.pause();
  await life.reserve('disk', 'data');
  await withdraw(life, (await life.volume('disk')).metadata?.resourceVersion);
  await life.reserve('disk', 'more');
  life.resume();
  await life.settle();
  expect(await life.lines()).toEqual([
    'claim data Pending',
    'claim more Bound',
    'pod web Pending',
    'volume disk for more Bound',
  ]);
});

/** The scheduler withdraws after the binder's first so many writes about the claimRef; then everybody goes on. */
async function withdrawnAfter(writes: number): Promise<string> {
  await using life = await startLocal();
  await life.pause();
  const { resourceVersion } = await life.reserve('disk', 'data');
  if (writes > 0) {
    const binder = life.trial.run(
      [pvBinder],
      new InterceptedCluster(life.cluster, new CrashAfterWrites(writes)),
    );
    await life.settle();
    await binder.close();
  }
  const failure = await withdraw(life, resourceVersion).catch((error: unknown) => error);
  life.resume();
  await life.settle();
  const lines = (await life.lines()).join(', ');
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

test('what a claim has been given is never withdrawn, and a claimRef that somebody removes is written again', async () => {
  await using life = await startLocal();
  await life.reserve('disk', 'data');
  await life.settle();
  await life.settle(3_600_000);
  expect(await life.lines()).toEqual(['claim data Bound', 'pod web Pending', 'volume disk for data Bound']);
  await withdraw(life, (await life.volume('disk')).metadata?.resourceVersion);
  await life.settle();
  expect(await life.lines()).toEqual(['claim data Bound', 'pod web Pending', 'volume disk for data Bound']);
  expect((await life.claim()).spec?.volumeName).toBe('disk');
});
