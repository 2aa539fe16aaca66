import { expect, test } from 'vitest';
import { persistentVolumes } from '../../../kube/resources.ts';
import { CsiProvisionerFixture } from './testing/csi-provisioner-fixture.ts';

/** A driver that has one id for all of its volumes. */
async function start(): Promise<CsiProvisionerFixture> {
  const fixture = await CsiProvisionerFixture.start();
  fixture.driver.changeReply = (method, reply) =>
    method === 'CreateVolume'
      ? { volume: { ...(reply as { volume: object }).volume, volumeId: 'same' } }
      : reply;
  fixture.run();
  return fixture;
}

const deletedIds = ({ driver }: CsiProvisionerFixture) =>
  driver.callsOf('DeleteVolume').map((request) => (request as { volumeId: string }).volumeId);

test('a second claim gets no volume with the id of another one, and an Event says why', async () => {
  await using fixture = await start();
  await fixture.makeClaim();
  const { metadata } = await fixture.provisioned();
  await fixture.makeClaim({ name: 'other', node: 'b1' });
  await fixture.base.virtualTime.settle(30_000);
  expect(await fixture.base.volumes()).toHaveLength(1);
  const [note] = await fixture.notes('DuplicateVolumeId');
  expect(note).toContain(
    `returned the volume id "same", which PersistentVolume "${metadata?.name}" already has`,
  );
  await fixture.base.deleteClaim('other');
  await fixture.base.virtualTime.settle(120_000);
  expect(await fixture.base.claim('other')).toBeUndefined();
  expect(deletedIds(fixture), 'the first claim has its data there').toEqual([]);
});

test('of two claims that are provisioned together, one gets the volume', async () => {
  await using fixture = await start();
  await Promise.all([fixture.makeClaim(), fixture.makeClaim({ name: 'other', node: 'b1' })]);
  await fixture.base.virtualTime.settle(30_000);
  expect(await fixture.base.volumes()).toHaveLength(1);
  expect(deletedIds(fixture)).toEqual([]);
});

test('a released volume is not deleted while another PersistentVolume has it', async () => {
  await using fixture = await start();
  await fixture.makeClaim();
  const { spec } = await fixture.provisioned();
  const volumes = fixture.base.cluster.resource(persistentVolumes);
  const twin = { capacity: spec!.capacity!, accessModes: spec!.accessModes!, csi: spec!.csi! };
  await volumes.create({ metadata: { name: 'twin' }, spec: twin });
  await fixture.base.deleteClaim();
  await fixture.base.finishOtherControllersWork();
  await fixture.base.virtualTime.settle(30_000);
  expect(deletedIds(fixture)).toEqual([]);
  expect((await fixture.notes('VolumeFailedDelete')).join()).toContain(
    'PersistentVolume "twin" has the same volume',
  );
  await volumes.delete({ name: 'twin' });
  await fixture.base.until(async () => {
    await fixture.base.finishOtherControllersWork();
    await fixture.base.virtualTime.settle(60_000);
    return deletedIds(fixture).includes('same');
  });
});
