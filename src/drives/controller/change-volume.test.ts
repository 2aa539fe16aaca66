import { describe, expect, test } from 'vitest';
import {
  type ControllerUnderTest,
  callOptions,
  DrivesFixture,
  mountOnce,
  volumeOf,
} from '../testing/drives-fixture.ts';

const gib = 2 ** 30;

async function withVolume(name: string, sizeBytes: number, setup = {}) {
  const fixture = await DrivesFixture.start();
  await fixture.drive('d', 10 * gib, setup);
  const controller = await fixture.controller();
  await controller.driver.call('CreateVolume', volumeOf(name, sizeBytes), callOptions);
  return { fixture, controller, ...calls(controller) };
}

function calls({ driver }: ControllerUnderTest) {
  return {
    remove: (volumeId: string) => driver.call('DeleteVolume', { volumeId }, callOptions),
    expand: (volumeId: string, requiredBytes: number, limitBytes = 0) =>
      driver.call(
        'ControllerExpandVolume',
        { volumeId, capacityRange: { requiredBytes: BigInt(requiredBytes), limitBytes: BigInt(limitBytes) } },
        callOptions,
      ),
  };
}

describe('DeleteVolume', () => {
  test('frees the bytes at once on a drive without node service, and takes the finalizer with the last entry', async () => {
    const { fixture, remove } = await withVolume('v', gib);
    await remove('v');
    const { metadata, spec } = await fixture.get('d');
    expect([spec?.volumes, metadata?.finalizers ?? []]).toEqual([[], []]);
    await remove('v');
    await remove('never-existed');
  });

  test('only marks the entry where a node service has the drive mounted: its bytes are free when the data is gone', async () => {
    const mounted = { status: { conditions: [{ type: 'Mounted', status: 'True' as const }] } };
    const { fixture, controller, remove } = await withVolume('v', gib, mounted);
    await remove('v');
    await remove('v');
    expect((await fixture.get('d')).spec?.volumes).toEqual([
      { name: 'v', sizeBytes: gib, state: 'Releasing' },
    ]);
    const { driver } = controller;
    expect((await driver.call('GetCapacity', {}, callOptions)).availableCapacity).toBe(9n * BigInt(gib));
    expect((await driver.call('ListVolumes', {}, callOptions)).entries).toEqual([]);
    await expect(driver.call('CreateVolume', volumeOf('v', gib), callOptions)).rejects.toThrow(
      'Aborted: volume v is being deleted on drive d; repeat the call when its data is gone',
    );
  });

  test('leaves the data alone if a node service mounts the drive between decision and write', async () => {
    const { fixture, controller, remove } = await withVolume('v', gib);
    let isMounted = false;
    controller.cluster.addHooks({
      before: async ({ verb }) => {
        if (verb !== 'patch' || isMounted) return;
        isMounted = true;
        await fixture.merge('d', { status: { conditions: [{ type: 'Mounted', status: 'True' }] } }, 'status');
      },
    });
    await remove('v');
    expect((await fixture.get('d')).spec?.volumes?.[0]?.state).toBe('Releasing');
  });
});

describe('ControllerExpandVolume', () => {
  test('sets the size, and repeating it changes nothing', async () => {
    const { fixture, expand } = await withVolume('v', gib);
    for (let repeat = 0; repeat < 3; repeat += 1)
      expect(await expand('v', 3 * gib)).toMatchObject({
        capacityBytes: BigInt(3 * gib),
        nodeExpansionRequired: true,
      });
    expect((await expand('v', 2 * gib)).capacityBytes).toBe(BigInt(3 * gib));
    expect((await fixture.get('d')).spec?.volumes?.[0]?.sizeBytes).toBe(3 * gib);
  });

  test('works on a cordoned drive, and not on a lost one', async () => {
    const { fixture, controller, expand } = await withVolume('v', gib);
    const seen = async (state: unknown) => {
      while (controller.cache.index.get('d')?.record.exclusion !== state)
        await new Promise((resolve) => setImmediate(resolve));
    };
    await fixture.merge('d', { spec: { unschedulable: true } });
    await seen('Cordoned');
    await expand('v', 2 * gib);
    await fixture.merge('d', { status: { state: 'Lost' } }, 'status');
    await seen('Lost');
    await expect(expand('v', 3 * gib)).rejects.toThrow(
      'FailedPrecondition: volume v cannot grow: drive d is lost: no device has its filesystem',
    );
  });

  test('is refused while a volume is moved and has an entry on both drives', async () => {
    const { fixture, controller, expand } = await withVolume('v', gib);
    await fixture.drive('e', 10 * gib, { spec: { volumes: [{ name: 'v', sizeBytes: gib }] } });
    await fixture.merge('d', { status: { state: 'Repairing' } }, 'status');
    while (
      controller.cache.index.get('d')?.record.exclusion !== 'Repairing' ||
      !controller.cache.index.get('e')
    )
      await new Promise((resolve) => setImmediate(resolve));
    // The order of the entries is that of the moved volume: its second move has begun.
    await fixture.merge('d', { spec: { volumes: [] } });
    while (controller.cache.index.drivesOf('v').includes('d'))
      await new Promise((resolve) => setImmediate(resolve));
    await fixture.merge('d', { spec: { volumes: [{ name: 'v', sizeBytes: gib }] } });
    while (!controller.cache.index.drivesOf('v').includes('d'))
      await new Promise((resolve) => setImmediate(resolve));
    await expect(expand('v', 2 * gib)).rejects.toThrow('it is being moved from drive d');
  });

  test.each([
    ['w', gib, 0, 'NotFound: there is no volume w'],
    [
      'v',
      11 * gib,
      0,
      'OutOfRange: volume v needs 10Gi more, and drive d has 9Gi free; a volume stays on its drive',
    ],
    ['v', 0, 1, `OutOfRange: volume v would have ${gib} bytes, above the limit of 1; a volume never shrinks`],
  ])('of %s to %d bytes with the limit %d is refused', async (name, bytes, limit, message) => {
    const { expand } = await withVolume('v', gib);
    await expect(expand(name, bytes, limit)).rejects.toThrow(message);
  });
});

test('ListVolumes returns pages that neither repeat nor leave out a volume; ControllerGetVolume names the drive', async () => {
  const { controller, remove } = await withVolume('v0', 1);
  const { driver, services } = controller;
  for (const name of ['v1', 'v2', 'v3', 'v4'])
    await driver.call('CreateVolume', volumeOf(name, 1), callOptions);
  const page = async (startingToken: string) => {
    const reply = await driver.call('ListVolumes', { maxEntries: 2, startingToken }, callOptions);
    return { names: reply.entries.map(({ volume }) => volume?.volumeId), nextToken: reply.nextToken };
  };
  const first = await page('');
  expect(first.names).toEqual(['v0', 'v1']);
  await remove('v1');
  const second = await page(first.nextToken);
  expect(second.names).toEqual(['v2', 'v3']);
  const last = await page(second.nextToken);
  expect(last).toEqual({ names: ['v4'], nextToken: '' });
  await expect(page('invalid-token')).rejects.toMatchObject({ code: 'Aborted' });

  const get = services.controller?.controllerGetVolume;
  const got = await get?.({ $typeName: 'csi.v1.ControllerGetVolumeRequest', volumeId: 'v4' }, callOptions);
  expect(got?.volume).toMatchObject({ volumeId: 'v4', volumeContext: { 'stowage.dev/drive': 'd' } });
});

test('ValidateVolumeCapabilities confirms what is supported, and says what is not', async () => {
  const { controller } = await withVolume('v', 1);
  const validate = (volumeId: string, ...volumeCapabilities: readonly object[]) =>
    controller.driver.call(
      'ValidateVolumeCapabilities',
      { volumeId, volumeCapabilities: volumeCapabilities as never },
      callOptions,
    );
  const confirmed = await validate('v', mountOnce);
  expect(confirmed.confirmed?.volumeCapabilities).toHaveLength(1);
  const block = { accessType: { case: 'block', value: {} }, accessMode: { mode: 1 } };
  expect(await validate('v', block)).toMatchObject({ message: expect.stringContaining('not block devices') });
  await expect(validate('w', mountOnce)).rejects.toMatchObject({ code: 'NotFound' });
});

test('GetCapacity answers by class parameters and segment: the sum, and the largest drive as the maximum', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10, {
    node: 'n1',
    spec: { accessTier: 'Hot' },
    status: { topology: { zone: 'z' } },
  });
  await fixture.drive('b', 7, { node: 'n1', labels: { rack: 'r1' }, status: { topology: { zone: 'z' } } });
  await fixture.drive('c', 100, { node: 'n2', spec: { unschedulable: true } });
  const { driver } = await fixture.controller();
  const room = async (request: object) => {
    const reply = await driver.call('GetCapacity', request, callOptions);
    return [reply.availableCapacity, reply.maximumVolumeSize];
  };
  expect(await room({})).toEqual([17n, 10n]);
  expect(await room({ parameters: { accessTier: 'Hot' } })).toEqual([10n, 10n]);
  expect(await room({ parameters: { driveLabels: 'rack=r1' } })).toEqual([7n, 7n]);
  const segments = { 'stowage.dev/node': 'n1', zone: 'z' };
  expect(await room({ accessibleTopology: { segments } })).toEqual([17n, 10n]);
  expect(await room({ accessibleTopology: { segments: { 'stowage.dev/node': 'n2' } } })).toEqual([0n, 0n]);
  const block = { accessType: { case: 'block', value: {} }, accessMode: { mode: 1 } };
  expect(await room({ volumeCapabilities: [block] })).toEqual([0n, 0n]);
  await expect(room({ parameters: { tier: 'Hot' } })).rejects.toMatchObject({ code: 'InvalidArgument' });
});
