import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../csi/csi-errors.ts';
import { VolumeCapability_AccessMode_Mode as Mode } from '../../../csi/generated/csi.ts';
import type { GrpcErrorCode } from '../../../csi/grpc-codes.ts';
import type { EnforcingDriver } from '../../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../../csi/testing/joining-drivers.ts';
import { persistentVolumeClaims, persistentVolumes, pods, secrets } from '../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { makePod } from '../../workloads/node-agent/testing/agent-fixture.ts';
import { expanderController } from './expander.ts';
import {
  type CsiClaimOptions,
  claimKey,
  driverName,
  driverWithVolume,
  makeCsiClaim,
  readClaim,
  readVolume,
  requestSize,
} from './testing/csi-claim-fixture.ts';

const gibi = 1024n ** 3n;
const method = 'ControllerExpandVolume';

async function start(driver: EnforcingDriver, options?: CsiClaimOptions): Promise<VirtualTimeCluster> {
  const csiDrivers = await JoiningDrivers.of(driver);
  const fixture = await VirtualTimeCluster.start(expanderController({ csiDrivers }));
  await makeCsiClaim(fixture, options);
  return fixture;
}

/** The sizes of volume and claim, and the state of the expansion. */
async function state(fixture: VirtualTimeCluster): Promise<object> {
  const { status } = await readClaim(fixture);
  return {
    volume: (await readVolume(fixture)).spec?.capacity?.storage,
    claim: status?.capacity?.storage,
    allocated: status?.allocatedResources?.storage,
    status: status?.allocatedResourceStatuses?.storage,
    conditions: (status?.conditions ?? []).map(({ type }) => type),
  };
}

const sizesAsked = (driver: EnforcingDriver) =>
  driver
    .callsOf(method)
    .map(
      (request) =>
        (request as { capacityRange: { requiredBytes: bigint } }).capacityRange.requiredBytes / gibi,
    );

test('the driver expands the volume, and a node has to follow', async () => {
  const driver = driverWithVolume();
  await using fixture = await start(driver, {
    csi: { fsType: 'xfs', controllerExpandSecretRef: { namespace: 'default', name: 's' } },
  });
  const data = { password: Buffer.from('p').toString('base64') };
  await fixture.cluster.resource(secrets).create({ metadata: { namespace: 'default', name: 's' }, data });
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect(driver.callsOf(method)).toMatchObject([
    {
      volumeId: 'handle',
      capacityRange: { requiredBytes: 3n * gibi },
      volumeCapability: {
        accessMode: { mode: Mode.SINGLE_NODE_WRITER },
        accessType: { case: 'mount', value: { fsType: 'xfs' } },
      },
      secrets: { password: 'p' },
    },
  ]);
  expect(await state(fixture)).toEqual({
    volume: '3Gi',
    claim: '1Gi',
    allocated: '3Gi',
    status: 'NodeResizePending',
    conditions: ['Resizing', 'FileSystemResizePending'],
  });
  expect((await readVolume(fixture)).metadata?.annotations).toMatchObject({
    'volume.alpha.kubernetes.io/pre-resize-capacity': '1Gi',
    'stowage.dev/volume-expanded-from': '1Gi',
    'stowage.dev/volume-expanded-at': expect.stringMatching(/Z$/),
  });
  // Only kube-controller-manager writes the name of a resizer, and not for volumes of CSI drivers.
  expect((await readClaim(fixture)).metadata?.annotations ?? {}).toEqual({});
  expect(fixture.errors).toEqual([]);
});

test('the size in the reply counts; without node expansion the claim is finished, and its annotation says so to kubelets', async () => {
  const driver = driverWithVolume({ expandsOnNode: false });
  driver.beforeCall = (_, request) => {
    // The driver makes volumes of whole 4Gi.
    const { capacityRange } = request as { capacityRange: { requiredBytes: bigint } };
    capacityRange.requiredBytes = 4n * gibi;
  };
  await using fixture = await start(driver);
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toEqual({
    volume: '4Gi',
    claim: '4Gi',
    allocated: '3Gi',
    status: undefined,
    conditions: [],
  });
  const mark = 'volume.kubernetes.io/node-expansion-not-required';
  expect((await readClaim(fixture)).metadata?.annotations).toEqual({ [mark]: 'true' });
  expect(await fixture.eventLines()).toEqual([
    'Resizing data: External resizer is resizing volume v',
    'VolumeResizeSuccessful data: Resize volume succeeded',
  ]);
});

test('a driver whose nodes alone expand volumes gets no call', async () => {
  const driver = driverWithVolume({ controllerCapabilities: ['CREATE_DELETE_VOLUME'] });
  await using fixture = await start(driver);
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect(driver.callsOf(method)).toEqual([]);
  expect(await state(fixture)).toMatchObject({ volume: '3Gi', claim: '1Gi', status: 'NodeResizePending' });
});

test('a driver that cannot expand volumes is left alone', async () => {
  const driver = driverWithVolume({ controllerCapabilities: ['CREATE_DELETE_VOLUME'], nodeCapabilities: [] });
  await using fixture = await start(driver);
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toMatchObject({ volume: '1Gi', claim: '1Gi', allocated: undefined });
});

test('claims of a driver that joins later are expanded then', async () => {
  const csiDrivers = await JoiningDrivers.of();
  await using fixture = await VirtualTimeCluster.start(expanderController({ csiDrivers }));
  await makeCsiClaim(fixture);
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toMatchObject({ volume: '1Gi', allocated: undefined });
  await csiDrivers.join(driverWithVolume());
  await fixture.settle();
  expect(await state(fixture)).toMatchObject({ volume: '3Gi', status: 'NodeResizePending' });
});

test('a size that the driver cannot provide may be reduced; the same size is tried again after five minutes', async () => {
  const driver = driverWithVolume();
  await using fixture = await start(driver);
  await requestSize(fixture, '20Gi');
  await fixture.settle(60_000);
  const why = `CSI driver ${driverName}: ${method}: OutOfRange: the pool is full`;
  expect(await state(fixture)).toEqual({
    volume: '1Gi',
    claim: '1Gi',
    allocated: '20Gi',
    status: 'ControllerResizeInfeasible',
    conditions: ['Resizing', 'ControllerResizeError'],
  });
  const [, condition] = (await readClaim(fixture)).status?.conditions ?? [];
  expect(condition?.message).toBe(`failed to expand pvc with ${why}`);
  expect(await fixture.eventLines()).toContain(
    `VolumeResizeFailed data: resize volume "v" by resizer "${driverName}" failed: ${why}`,
  );
  expect(sizesAsked(driver)).toEqual([20n]);
  await fixture.settle(5 * 60_000);
  expect(sizesAsked(driver)).toEqual([20n, 20n]);
  await requestSize(fixture, '4Gi');
  await fixture.settle();
  expect(sizesAsked(driver)).toEqual([20n, 20n, 4n]);
  expect(await state(fixture)).toMatchObject({
    volume: '4Gi',
    allocated: '4Gi',
    status: 'NodeResizePending',
  });
});

test.each<GrpcErrorCode>(['InvalidArgument', 'NotFound', 'OutOfRange'])(
  '%s means infeasible',
  async (code) => {
    const driver = driverWithVolume();
    driver.beforeCall = () => {
      throw new CsiStatusError(code, 'no');
    };
    await using fixture = await start(driver);
    await requestSize(fixture, '3Gi');
    await fixture.settle();
    expect(await state(fixture)).toMatchObject({ status: 'ControllerResizeInfeasible' });
  },
);

test('after a failure without effect another size may be tried; the attempts have a growing delay', async () => {
  const driver = driverWithVolume();
  driver.beforeCall = () => {
    throw new CsiStatusError('Internal', 'broken');
  };
  await using fixture = await start(driver);
  await requestSize(fixture, '3Gi');
  await fixture.settle(60_000);
  expect(await state(fixture)).toMatchObject({
    allocated: '3Gi',
    status: 'ControllerResizeInProgress',
    conditions: ['Resizing', 'ControllerResizeError'],
  });
  const attempts = driver.callsOf(method).length;
  expect(attempts).toBeGreaterThanOrEqual(4);
  expect(attempts).toBeLessThanOrEqual(7);
  driver.beforeCall = undefined;
  await requestSize(fixture, '2Gi');
  await fixture.settle();
  expect(sizesAsked(driver).slice(attempts)).toEqual([2n]);
  expect(await state(fixture)).toMatchObject({ volume: '2Gi', allocated: '2Gi' });
});

test.each<GrpcErrorCode>(['DeadlineExceeded', 'Unavailable', 'ResourceExhausted', 'Aborted'])(
  'after %s the same size is repeated, whatever the claim requests meanwhile',
  async (code) => {
    const driver = driverWithVolume();
    let failures = 3;
    // The reply is lost: the volume has grown.
    driver.afterCall = () => {
      if (failures-- > 0) throw new CsiStatusError(code, 'lost');
    };
    await using fixture = await start(driver);
    await requestSize(fixture, '5Gi');
    await fixture.settle();
    await requestSize(fixture, '3Gi');
    await fixture.settle(30_000);
    expect(new Set(sizesAsked(driver))).toEqual(new Set([5n]));
    expect(await state(fixture)).toMatchObject({
      volume: '5Gi',
      allocated: '5Gi',
      status: 'NodeResizePending',
    });
  },
);

test('a missing Secret is not the end: the size is tried again', async () => {
  const driver = driverWithVolume();
  const controllerExpandSecretRef = { namespace: 'default', name: 's' };
  await using fixture = await start(driver, { csi: { controllerExpandSecretRef } });
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect(driver.callsOf(method)).toEqual([]);
  expect((await fixture.eventLines()).join()).toContain('secrets "s" not found');
  await fixture.cluster.resource(secrets).create({ metadata: { namespace: 'default', name: 's' } });
  await fixture.settle(10_000);
  expect(await state(fixture)).toMatchObject({ volume: '3Gi' });
});

test('a driver that cannot expand volumes in use is asked again when no pod uses the volume', async () => {
  const driver = driverWithVolume();
  let isAttached = true;
  driver.beforeCall = () => {
    if (isAttached) throw new CsiStatusError('FailedPrecondition', 'the volume is in use');
  };
  await using fixture = await start(driver);
  await makePod(fixture, 'web', { claims: ['data'] });
  await requestSize(fixture, '3Gi');
  await fixture.settle(10 * 60_000);
  expect(driver.callsOf(method)).toHaveLength(1);
  expect(await fixture.eventLines()).toContain(
    `VolumeResizeFailed data: Unable to expand default/data because CSI driver ${driverName} only supports offline expansion and volume is currently in-use`,
  );
  isAttached = false;
  await fixture.cluster
    .resource(pods)
    .delete({ namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 });
  await fixture.settle(10);
  expect(await state(fixture)).toMatchObject({ volume: '3Gi', status: 'NodeResizePending' });
});

test('a driver that hangs delays only its own claim, and a restarted process repeats the call', async () => {
  const driver = driverWithVolume();
  const csiDrivers = await JoiningDrivers.of(driver);
  const expander = expanderController({ csiDrivers });
  await using fixture = await VirtualTimeCluster.start();
  await makeCsiClaim(fixture);
  const first = fixture.run([expander]);
  driver.afterCall = () => new Promise(() => {});
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect(await state(fixture)).toMatchObject({ volume: '1Gi', status: 'ControllerResizeInProgress' });
  void first.close();
  driver.afterCall = undefined;
  await requestSize(fixture, '2Gi');
  fixture.run([expander]);
  await fixture.settle();
  // The process that died may have expanded it.
  expect(sizesAsked(driver)).toEqual([3n, 3n]);
  expect(await state(fixture)).toMatchObject({ volume: '3Gi', status: 'NodeResizePending' });
});

test.each([true, false])(
  'crashing after any write does not change the final state (node acts: %s)',
  async (expandsOnNode) => {
    const driver = driverWithVolume({ expandsOnNode });
    const csiDrivers = await JoiningDrivers.of(driver);
    const places = await crashControllersAtEveryWrite({
      controllers: [expanderController({ csiDrivers })],
      prepare: async (fixture) => {
        await makeCsiClaim(fixture);
        await requestSize(fixture, '3Gi');
      },
      resources: [persistentVolumeClaims, persistentVolumes],
    });
    // The claim's start, the volume, the claim's end, and two Events.
    expect(places).toBe(5);
  },
);

test('a claim that is deleted during an expansion leaves no trace', async () => {
  const driver = driverWithVolume();
  driver.beforeCall = () => {
    throw new CsiStatusError('Internal', 'broken');
  };
  await using fixture = await start(driver);
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  await fixture.cluster.resource(persistentVolumeClaims).delete(claimKey);
  const calls = driver.callsOf(method).length;
  const body = { metadata: { finalizers: null } };
  await fixture.cluster.resource(persistentVolumeClaims).patch(claimKey, { type: 'merge', body });
  await fixture.settle(10 * 60_000);
  expect(driver.callsOf(method).length).toBeLessThanOrEqual(calls + 1);
});
