import { describe, expect, test } from 'vitest';
import { persistentVolumes } from '../../../kube/resources.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { diskUUID } from '../../disks/testing/disks-fixture.ts';
import { DiskClaimsFixture } from '../../provisioner/disks/testing/disk-claims-fixture.ts';

async function start(limits: readonly number[], bytes: number): Promise<DiskClaimsFixture> {
  const fixture = await DiskClaimsFixture.start({ limits });
  await fixture.addPod('app', bytes);
  await fixture.settle();
  expect(await fixture.phases()).toEqual(['app Running']);
  return fixture;
}

/** The claim's size, the sizes of the Volume that are wanted and there, and the granted bytes of each disk. */
async function sizes(fixture: DiskClaimsFixture) {
  const { metadata, status } = await fixture.claim('app-0');
  const name = `pvc-${metadata?.uid}`;
  const volume = await fixture.cluster.resource(diskVolumes).get({ name });
  const { spec } = await fixture.cluster.resource(persistentVolumes).get({ name });
  return {
    claim: String(status?.capacity?.storage),
    persistentVolume: String(spec?.capacity?.storage),
    wanted: volume.spec?.size,
    actual: volume.status?.size,
    granted: await fixture.granted(),
  };
}

async function resizeError(fixture: DiskClaimsFixture): Promise<string | undefined> {
  const { status } = await fixture.claim('app-0');
  return status?.conditions?.find(({ type }) => type === 'ControllerResizeError')?.message;
}

async function setLimit(fixture: DiskClaimsFixture, number: number, storageAvailable: number): Promise<void> {
  const body = {
    status: {
      diskStatus: { d: { diskUUID: diskUUID(number), storageMaximum: 1_000_000, storageAvailable } },
    },
  };
  await fixture.cluster
    .resource(storageNodes)
    .patch({ name: `n${number}` }, { type: 'merge', body }, { subresource: 'status' });
}

describe('the expansion of a claim of disks.stowage.dev', () => {
  test('reserves the bytes on every disk, and grows the claim', async () => {
    const fixture = await start([100, 100], 40);
    await fixture.request('app-0', 90);
    await fixture.settle(10_000);
    expect(await sizes(fixture)).toEqual({
      claim: '90',
      persistentVolume: '90',
      wanted: 90,
      actual: 90,
      granted: [90, 90],
    });
    expect(await resizeError(fixture)).toBeUndefined();
    expect(await fixture.figures()).toEqual(['disks 10 10']);
  });

  test('that a disk refuses says which disk lacks how many bytes, and leaves nothing', async () => {
    const fixture = await start([100, 60], 40);
    await fixture.request('app-0', 90);
    await fixture.settle(2_000);
    expect(await resizeError(fixture)).toContain(
      'expansion to 90 bytes: disk d on node n2: 20 bytes free, 50 more requested: 30 missing',
    );
    await fixture.settle(400);
    expect(await sizes(fixture)).toMatchObject({ claim: '40', wanted: 40, actual: 40, granted: [40, 40] });

    await fixture.request('app-0', 55);
    await fixture.settle(10_000);
    expect(await sizes(fixture)).toMatchObject({ claim: '55', wanted: 55, actual: 55, granted: [55, 55] });
    expect(await resizeError(fixture)).toBeUndefined();
  });

  test('that was refused takes place when the disk has grown', async () => {
    const fixture = await start([100, 60], 40);
    await fixture.request('app-0', 90);
    await fixture.settle(5_000);
    await setLimit(fixture, 2, 100);
    await fixture.settle(60_000);
    expect(await sizes(fixture)).toMatchObject({ claim: '90', wanted: 90, actual: 90, granted: [90, 90] });
    expect(await resizeError(fixture)).toBeUndefined();
  });

  test('to a size that a disk does not answer ends after a while, and the claim gets the smaller size that it requests by then', async () => {
    const fixture = await start([100, 100], 40);
    const setReady = async (status: 'True' | 'False') => {
      const body = {
        status: { conditions: [{ type: 'Ready', status, reason: 'Test', message: 'is away' }] },
      };
      await fixture.cluster
        .resource(storageNodes)
        .patch({ name: 'n2' }, { type: 'merge', body }, { subresource: 'status' });
    };
    await setReady('False');
    await fixture.request('app-0', 60);
    await fixture.settle(3_000);
    expect(await sizes(fixture)).toMatchObject({ wanted: 60, actual: 40 });
    await fixture.request('app-0', 50);
    await fixture.settle(60_000);
    expect(await resizeError(fixture)).toContain('disk d on node n2: it does not answer');
    await setReady('True');
    await fixture.settle(60_000);
    expect(await sizes(fixture)).toMatchObject({ claim: '50', wanted: 50, actual: 50, granted: [50, 50] });
    expect(await resizeError(fixture)).toBeUndefined();
  });
});
