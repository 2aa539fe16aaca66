import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../csi/csi-errors.ts';
import type { GrpcErrorCode } from '../../../csi/grpc-codes.ts';
import type { EnforcingDriver } from '../../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../../csi/testing/joining-drivers.ts';
import {
  persistentVolumeClaims,
  persistentVolumes,
  secrets,
  volumeAttributesClasses,
} from '../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { expanderController } from '../expander/expander.ts';
import {
  type CsiClaimOptions,
  claimKey,
  driverName,
  driverWithVolume,
  makeCsiClaim,
  readClaim,
  readVolume,
  requestSize,
} from '../expander/testing/csi-claim-fixture.ts';

const method = 'ControllerModifyVolume';
const controllerCapabilities = ['EXPAND_VOLUME', 'MODIFY_VOLUME'] as const;

async function start(driver: EnforcingDriver, options?: CsiClaimOptions): Promise<VirtualTimeCluster> {
  const csiDrivers = await JoiningDrivers.of(driver);
  const fixture = await VirtualTimeCluster.start(expanderController({ csiDrivers }));
  await makeCsiClaim(fixture, { attributesClass: 'silver', ...options });
  return fixture;
}

async function makeClass({ cluster }: VirtualTimeCluster, name: string, driver = driverName): Promise<void> {
  const parameters = { iops: name };
  await cluster
    .resource(volumeAttributesClasses)
    .create({ metadata: { name }, driverName: driver, parameters });
}

async function choose(
  { cluster }: VirtualTimeCluster,
  volumeAttributesClassName: string | null,
): Promise<void> {
  const body = { spec: { volumeAttributesClassName } };
  await cluster.resource(persistentVolumeClaims).patch(claimKey, { type: 'merge', body });
}

async function state(fixture: VirtualTimeCluster): Promise<object> {
  const { status } = await readClaim(fixture);
  const { status: progress, targetVolumeAttributesClassName: target } = status?.modifyVolumeStatus ?? {};
  return {
    volume: (await readVolume(fixture)).spec?.volumeAttributesClassName,
    current: status?.currentVolumeAttributesClassName,
    progress: [progress, target].filter((part) => part !== undefined).join(' '),
    conditions: (status?.conditions ?? []).map(({ type, reason }) => [type, reason].join(' ').trim()),
  };
}

const classesAsked = (driver: EnforcingDriver) =>
  driver
    .callsOf(method)
    .map((request) => (request as { mutableParameters: { iops: string } }).mutableParameters.iops);

const silver = { volume: 'silver', current: 'silver', progress: '', conditions: [] };
const gold = { volume: 'gold', current: 'gold', progress: '', conditions: [] };

test('a claim that names another class gets its parameters', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  await using fixture = await start(driver);
  await makeClass(fixture, 'gold');
  await fixture.settle();
  expect(driver.callsOf(method)).toEqual([]);
  await choose(fixture, 'gold');
  await fixture.settle();
  expect(driver.callsOf(method)).toMatchObject([{ volumeId: 'handle', mutableParameters: { iops: 'gold' } }]);
  expect(driver.volumes.get('handle')?.mutable).toEqual({ iops: 'gold' });
  expect(await state(fixture)).toEqual(gold);
  expect(await fixture.eventLines()).toEqual([
    'VolumeModify data: external resizer is modifying volume data with vac gold',
    'VolumeModifySuccessful data: external resizer modified volume data with vac gold successfully',
  ]);
  expect(fixture.errors).toEqual([]);
});

test('a claim that had no class gets one', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  const csiDrivers = await JoiningDrivers.of(driver);
  await using fixture = await VirtualTimeCluster.start(expanderController({ csiDrivers }));
  await makeCsiClaim(fixture);
  await makeClass(fixture, 'gold');
  await choose(fixture, 'gold');
  await fixture.settle();
  expect(await state(fixture)).toEqual(gold);
});

test('the Secret of the annotations goes before that for expansions', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  const controllerExpandSecretRef = { namespace: 'default', name: 'expand' };
  await using fixture = await start(driver, { csi: { controllerExpandSecretRef } });
  const client = fixture.cluster.resource(secrets);
  for (const name of ['expand', 'modify']) {
    const data = { of: Buffer.from(name).toString('base64') };
    await client.create({ metadata: { namespace: 'default', name }, data });
  }
  for (const name of ['gold', 'bronze']) await makeClass(fixture, name);
  await choose(fixture, 'gold');
  await fixture.settle();
  const prefix = 'volume.kubernetes.io/controller-modify-secret';
  const annotations = { [`${prefix}-name`]: 'modify', [`${prefix}-namespace`]: 'default' };
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  await fixture.cluster.resource(persistentVolumes).patch({ name: 'v' }, patch);
  await choose(fixture, 'bronze');
  await fixture.settle();
  expect(driver.callsOf(method)).toMatchObject([
    { secrets: { of: 'expand' } },
    { secrets: { of: 'modify' } },
  ]);
});

test('a driver that cannot modify volumes is left alone', async () => {
  const driver = driverWithVolume();
  await using fixture = await start(driver);
  await makeClass(fixture, 'gold');
  await choose(fixture, 'gold');
  await fixture.settle();
  expect(await state(fixture)).toEqual(silver);
});

test('claims of a driver that joins later are modified then', async () => {
  const csiDrivers = await JoiningDrivers.of();
  await using fixture = await VirtualTimeCluster.start(expanderController({ csiDrivers }));
  await makeCsiClaim(fixture, { attributesClass: 'silver' });
  await makeClass(fixture, 'gold');
  await choose(fixture, 'gold');
  await fixture.settle();
  expect(await state(fixture)).toEqual(silver);
  await csiDrivers.join(driverWithVolume({ controllerCapabilities }));
  await fixture.settle();
  expect(await state(fixture)).toEqual(gold);
});

test('a claim waits for a class that does not exist yet', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  await using fixture = await start(driver);
  await choose(fixture, 'gold');
  await fixture.settle();
  expect(await state(fixture)).toEqual({ ...silver, progress: 'Pending' });
  expect(await fixture.eventLines()).toEqual(['VolumeModifyFailed data: VAC "gold" does not exist.']);
  await makeClass(fixture, 'gold');
  await fixture.settle();
  expect(await state(fixture)).toEqual(gold);
});

test('a class of another driver is not sent to the driver', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  await using fixture = await start(driver);
  await makeClass(fixture, 'gold', 'other.example.com');
  await choose(fixture, 'gold');
  await fixture.settle();
  expect(driver.callsOf(method)).toEqual([]);
  expect(await state(fixture)).toEqual({ ...silver, progress: 'Pending' });
  expect(await fixture.eventLines()).toEqual([
    `VolumeModifyFailed data: VAC "gold" is for driver other.example.com, but the volume belongs to ${driverName}.`,
  ]);
});

test('after an infeasible class the claim can return to the old one', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  driver.beforeCall = () => {
    if (classesAsked(driver).at(-1) === 'gold') throw new CsiStatusError('InvalidArgument', 'too fast');
  };
  await using fixture = await start(driver);
  for (const name of ['silver', 'gold']) await makeClass(fixture, name);
  await choose(fixture, 'gold');
  await fixture.settle(60_000);
  expect(classesAsked(driver)).toEqual(['gold']);
  const why = `CSI driver ${driverName}: ${method}: InvalidArgument: too fast`;
  expect(await state(fixture)).toEqual({
    ...silver,
    progress: 'Infeasible gold',
    conditions: ['ModifyingVolume', 'ModifyVolumeError InvalidArgument'],
  });
  const conditions = (await readClaim(fixture)).status?.conditions ?? [];
  expect(conditions.map(({ message }) => message)).toEqual([
    'Modifying volume to "gold" failed. Waiting for retry.',
    why,
  ]);
  expect(await fixture.eventLines()).toContain(`VolumeModifyFailed data: ${why}`);
  await fixture.settle(5 * 60_000);
  expect(classesAsked(driver)).toEqual(['gold', 'gold']);
  await choose(fixture, 'silver');
  await fixture.settle();
  expect(classesAsked(driver)).toEqual(['gold', 'gold', 'silver']);
  expect(await state(fixture)).toEqual(silver);
});

test('a claim that never had a class may drop an infeasible one', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  driver.beforeCall = () => {
    throw new CsiStatusError('InvalidArgument', 'no');
  };
  const csiDrivers = await JoiningDrivers.of(driver);
  await using fixture = await VirtualTimeCluster.start(expanderController({ csiDrivers }));
  await makeCsiClaim(fixture);
  await makeClass(fixture, 'gold');
  await choose(fixture, 'gold');
  await fixture.settle();
  await choose(fixture, null);
  await fixture.settle();
  expect(await state(fixture)).toMatchObject({ conditions: ['ModifyVolumeError InvalidArgument'] });
  expect(await fixture.eventLines()).toContain('VolumeModifyCanceled data: Cancelled modify.');
  expect(classesAsked(driver)).toEqual(['gold']);
});

test('after a failure without effect another class may be tried at once; the same one has a growing delay', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  driver.beforeCall = () => {
    throw new CsiStatusError('Internal', 'broken');
  };
  await using fixture = await start(driver);
  for (const name of ['gold', 'bronze']) await makeClass(fixture, name);
  await choose(fixture, 'gold');
  await fixture.settle(60_000);
  const attempts = classesAsked(driver).length;
  expect(attempts).toBeGreaterThanOrEqual(4);
  expect(attempts).toBeLessThanOrEqual(7);
  expect(await state(fixture)).toMatchObject({
    progress: 'InProgress gold',
    conditions: ['ModifyingVolume', 'ModifyVolumeError Internal'],
  });
  driver.beforeCall = undefined;
  await choose(fixture, 'bronze');
  await fixture.settle();
  expect(classesAsked(driver).slice(attempts)).toEqual(['bronze']);
  expect(await state(fixture)).toMatchObject({ current: 'bronze', conditions: [] });
});

test.each<GrpcErrorCode>(['DeadlineExceeded', 'Unavailable', 'Aborted'])(
  'after %s the same class is repeated, then the one that the claim names by now',
  async (code) => {
    const driver = driverWithVolume({ controllerCapabilities });
    let failures = 2;
    driver.afterCall = () => {
      if (failures-- > 0) throw new CsiStatusError(code, 'lost');
    };
    await using fixture = await start(driver);
    for (const name of ['gold', 'bronze']) await makeClass(fixture, name);
    await choose(fixture, 'gold');
    await fixture.settle();
    const [modifying] = (await readClaim(fixture)).status?.conditions ?? [];
    expect(modifying?.message).toBe('Modifying volume to "gold" is still in progress.');
    await choose(fixture, 'bronze');
    await fixture.settle(10_000);
    expect(classesAsked(driver)).toEqual(['gold', 'gold', 'gold', 'bronze']);
    expect(await state(fixture)).toMatchObject({ current: 'bronze', progress: '', conditions: [] });
  },
);

test('a process that died during the call: the next one repeats the recorded class', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  const csiDrivers = await JoiningDrivers.of(driver);
  const expander = expanderController({ csiDrivers });
  await using fixture = await VirtualTimeCluster.start();
  await makeCsiClaim(fixture, { attributesClass: 'silver' });
  for (const name of ['silver', 'gold']) await makeClass(fixture, name);
  const first = fixture.run([expander]);
  driver.afterCall = () => new Promise(() => {});
  await choose(fixture, 'gold');
  await fixture.settle();
  void first.close();
  driver.afterCall = undefined;
  await choose(fixture, 'silver');
  fixture.run([expander]);
  await fixture.settle();
  expect(classesAsked(driver)).toEqual(['gold', 'gold', 'silver']);
  expect(await state(fixture)).toEqual(silver);
});

test('a claim is expanded and modified at the same time', async () => {
  const driver = driverWithVolume({ controllerCapabilities, expandsOnNode: false });
  await using fixture = await start(driver);
  await makeClass(fixture, 'gold');
  await Promise.all([choose(fixture, 'gold'), requestSize(fixture, '3Gi')]);
  await fixture.settle(5_000);
  expect(await state(fixture)).toEqual(gold);
  expect((await readClaim(fixture)).status?.capacity?.storage).toBe('3Gi');
});

test('crashing after any write does not change the final state', async () => {
  const driver = driverWithVolume({ controllerCapabilities });
  const csiDrivers = await JoiningDrivers.of(driver);
  const places = await crashControllersAtEveryWrite({
    controllers: [expanderController({ csiDrivers })],
    prepare: async (fixture) => {
      await makeCsiClaim(fixture, { attributesClass: 'silver' });
      await makeClass(fixture, 'gold');
      await choose(fixture, 'gold');
    },
    resources: [persistentVolumeClaims, persistentVolumes],
  });
  // The claim's start, the volume, the claim's end, and two Events.
  expect(places).toBe(5);
});
