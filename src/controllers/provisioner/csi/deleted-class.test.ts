import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../csi/csi-errors.ts';
import type { CsiRequest } from '../../../csi/csi-methods.ts';
import { storageClasses } from '../../../kube/resources.ts';
import { intentOf } from '../intent.ts';
import { classOf } from '../testing/objects.ts';
import { CsiProvisionerFixture, driverName } from './testing/csi-provisioner-fixture.ts';

/** After this time no request of the process that ended can arrive any more. */
const quietMs = 80_000;
const parameters = { pool: 'ssd' };
const unlisted = ['CREATE_DELETE_VOLUME'] as const;

/** The driver has made the volume; its reply was lost, the process has ended, and the class no longer exists. */
async function afterLostReply(
  controllerCapabilities: readonly ('CREATE_DELETE_VOLUME' | 'LIST_VOLUMES')[],
): Promise<CsiProvisionerFixture> {
  const fixture = await CsiProvisionerFixture.start({
    driver: { controllerCapabilities },
    storageClass: { parameters },
  });
  fixture.driver.afterCall = (method) => {
    if (method === 'CreateVolume') throw new CsiStatusError('DeadlineExceeded', 'the reply is lost');
  };
  const first = fixture.run();
  await fixture.makeClaim();
  await fixture.base.until(() => fixture.driver.volumes.size === 1);
  await first.close();
  fixture.driver.afterCall = undefined;
  fixture.driver.calls.length = 0;
  await fixture.base.cluster.resource(storageClasses).delete({ name: 'standard' });
  return fixture;
}

async function isFree({ base }: CsiProvisionerFixture): Promise<boolean> {
  const claim = await base.claim();
  return claim !== undefined && intentOf(claim) === undefined;
}

test('a volume whose class was deleted after a lost reply is found in the list of the driver, and deleted', async () => {
  await using fixture = await afterLostReply(['CREATE_DELETE_VOLUME', 'LIST_VOLUMES']);
  fixture.run();
  await fixture.base.virtualTime.settle(quietMs);
  await fixture.base.until(() => isFree(fixture));
  expect(fixture.driver.volumes.size).toBe(0);
  expect(fixture.driver.callsOf('CreateVolume')).toEqual([]);
});

test('without a list, CreateVolume is repeated without parameters', async () => {
  await using fixture = await afterLostReply(unlisted);
  fixture.run();
  await fixture.base.virtualTime.settle(quietMs);
  await fixture.base.until(() => isFree(fixture));
  expect(fixture.driver.volumes.size).toBe(0);
  const [repeated] = fixture.driver.callsOf('CreateVolume') as CsiRequest<'CreateVolume'>[];
  expect(repeated?.parameters).toEqual({});
});

test('the claim gets its volume when the class is there again', async () => {
  await using fixture = await afterLostReply(unlisted);
  fixture.run();
  await fixture.base.virtualTime.settle(quietMs);
  await fixture.base.until(() => isFree(fixture));
  expect(await fixture.notes()).toContainEqual(expect.stringContaining('"standard" not found'));
  await fixture.base.cluster
    .resource(storageClasses)
    .create(classOf({ provisioner: driverName, parameters }));
  await fixture.provisioned();
  expect(await fixture.isAtRest()).toBe(true);
});

test('a driver that refuses the repetition keeps the claim waiting, and an Event says what to do', async () => {
  await using fixture = await afterLostReply(unlisted);
  fixture.driver.beforeCall = (method, request) => {
    const { pool } = (request as CsiRequest<'CreateVolume'>).parameters ?? {};
    if (method === 'CreateVolume' && pool !== 'ssd')
      throw new CsiStatusError('AlreadyExists', 'the volume is in another pool');
  };
  fixture.run();
  await fixture.base.virtualTime.settle(quietMs);
  await fixture.base.settle();
  expect(await isFree(fixture)).toBe(false);
  const notes = (await fixture.base.virtualTime.eventLines()).join();
  expect(notes).toContain('create StorageClass "standard" again with the same parameters');
  await fixture.base.cluster
    .resource(storageClasses)
    .create(classOf({ provisioner: driverName, parameters }));
  await fixture.provisioned();
  expect(await fixture.isAtRest()).toBe(true);
});
