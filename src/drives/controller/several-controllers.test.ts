import { describe, expect, test } from 'vitest';
import { CrashAfterWrites, WatchGate } from '../../cluster/testing/fault-hooks.ts';
import { expired } from '../../kube/api-error.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { type ControllerUnderTest, callOptions, DrivesFixture, volumeOf } from '../testing/drives-fixture.ts';

const create = ({ driver }: ControllerUnderTest, ...args: Parameters<typeof volumeOf>) =>
  driver.call('CreateVolume', volumeOf(...args), callOptions);

/** Retries as a provisioner does. */
async function createUntilCertain(controller: ControllerUnderTest, name: string, bytes: number) {
  for (;;) {
    try {
      return await create(controller, name, bytes);
    } catch (error) {
      if (!/Aborted|Unavailable/.test(String(error))) throw error;
    }
  }
}

/** The number of concurrent calls, more than there are drives: if all calls were concurrent, most of the work would be conflicts. */
async function inParallel<T>(calls: readonly (() => Promise<T>)[], width: number): Promise<readonly T[]> {
  const results: T[] = [];
  const waiting = calls.values();
  const worker = async () => {
    for (const call of waiting) results.push(await call());
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

/** Two controllers that both believe to lead, whose watches the test can hold back. */
async function twoLeaders() {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10, { node: 'n1' });
  await fixture.drive('b', 10, { node: 'n2' });
  const first = await fixture.controller();
  const second = await fixture.controller();
  const gates = [first, second].map(({ cluster }) => {
    const gate = new WatchGate(drives);
    cluster.addHooks(gate);
    return gate;
  });
  const on = (drive: string) => ({ parameters: { 'stowage.dev/drive': drive } });
  return { fixture, first, second, gates, on };
}

async function settled(predicate: () => Promise<boolean>): Promise<void> {
  while (!(await predicate())) await new Promise((resolve) => setImmediate(resolve));
}

describe('two controllers that both believe to lead', () => {
  test('decide alike which drive has the volume, and the later entry is withdrawn', async () => {
    const { fixture, first, second, gates, on } = await twoLeaders();
    for (const gate of gates) gate.hold();
    const calls = [create(first, 'v', 6, on('a')), create(second, 'v', 6, on('b'))];
    await settled(async () => (await fixture.placements()).get('v')?.length === 2);
    for (const gate of gates) gate.release();
    const [one, other] = await Promise.all(calls);
    expect(one).toEqual(other);
    const drive = one?.volume?.volumeContext['stowage.dev/drive'];
    await settled(async () => (await fixture.placements()).get('v')?.length === 1);
    expect((await fixture.placements()).get('v')).toEqual([drive]);
  });

  test('do not answer before the watch has delivered the entry', async () => {
    const { fixture, first, gates, on } = await twoLeaders();
    gates[0]?.hold();
    let isAnswered = false;
    const call = create(first, 'v', 6, on('a')).finally(() => {
      isAnswered = true;
    });
    await settled(async () => (await fixture.placements()).has('v'));
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    gates[0]?.release();
    await call;
  });

  test('answer Aborted if a list came in between; then the drive of the PersistentVolume stays', async () => {
    const { fixture, first, second, on } = await twoLeaders();
    let isDropping = true;
    for (const { cluster } of [first, second])
      cluster.addHooks({ onWatchEvent: () => (isDropping ? 'drop' : undefined) });
    const calls = [create(first, 'v', 6, on('a')), create(second, 'v', 6, on('b'))];
    const results = Promise.allSettled(calls);
    await settled(async () => (await fixture.placements()).get('v')?.length === 2);
    isDropping = false;
    for (const { cluster } of [first, second]) cluster.endWatches({ error: expired('too old') });
    await fixture.clock.advance(1_000);
    for (const result of await results)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'Aborted' } });
    await expect(create(first, 'v', 6)).rejects.toThrow(
      /entries on the drives .* one of them will be withdrawn/,
    );
    await fixture.cluster.resource(persistentVolumes).create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'v' },
      spec: {
        capacity: { storage: '6' },
        accessModes: ['ReadWriteOnce'],
        csi: {
          driver: 'drives.stowage.dev',
          volumeHandle: 'v',
          volumeAttributes: { 'stowage.dev/drive': 'b' },
        },
      },
    });
    const { volume } = await create(first, 'v', 6);
    expect(volume?.volumeContext['stowage.dev/drive']).toBe('b');
    expect((await fixture.placements()).get('v')).toEqual(['b']);
  });

  test('withdraw one of two entries in unknown order if no PersistentVolume appears for as long as a Lease lasts', async () => {
    const fixture = await DrivesFixture.start();
    for (const name of ['a', 'b']) {
      await fixture.drive(name, 10);
      await fixture.merge(name, { spec: { volumes: [{ name: 'v', sizeBytes: 6 }] } });
    }
    const controller = await fixture.controller();
    await expect(create(controller, 'v', 6)).rejects.toMatchObject({ code: 'Aborted' });
    await fixture.clock.advance(16_000);
    const { volume } = await create(controller, 'v', 6);
    expect(volume?.volumeContext['stowage.dev/drive']).toBe('a');
    expect((await fixture.placements()).get('v')).toEqual(['a']);
  });

  test('delete every entry of a name', async () => {
    const fixture = await DrivesFixture.start();
    for (const name of ['a', 'b']) {
      await fixture.drive(name, 10);
      await fixture.merge(name, { spec: { volumes: [{ name: 'v', sizeBytes: 6 }] } });
    }
    const controller = await fixture.controller();
    await controller.driver.call('DeleteVolume', { volumeId: 'v' }, callOptions);
    expect((await fixture.placements()).size).toBe(0);
  });
});

test('1,000 claims over 100 drives from 8 controllers: no drive above its capacity, no volume on two drives', async () => {
  const fixture = await DrivesFixture.start();
  for (let at = 0; at < 100; at += 1) await fixture.drive(`d${at}`, 12, { node: `n${at % 10}` });
  const controllers = await Promise.all(Array.from({ length: 8 }, () => fixture.controller()));
  let patches = 0;
  for (const { cluster } of controllers)
    cluster.addHooks({
      before: ({ verb }) => {
        if (verb === 'patch') patches += 1;
      },
    });
  // Two controllers get the calls for every tenth name at the same time.
  const calls = Array.from({ length: 1_000 }, (_, at) => `v${at}`).flatMap((name, at) => {
    const asked = at % 10 === 0 ? [at, at + 1] : [at];
    return asked.map((one) => () => createUntilCertain(controllers[one % 8]!, name, 1));
  });
  const answers = await inParallel(calls, 8 * 4);
  expect(patches).toBeGreaterThan(1_100);
  const placements = await fixture.placements();
  expect(placements.size).toBe(1_000);
  for (const { volume } of answers)
    expect(placements.get(volume?.volumeId ?? '')).toEqual([volume?.volumeContext['stowage.dev/drive']]);
  await settled(async () => fixture.versions.length >= 1_200);
  fixture.expectNoOverdraft();
  for (const { errors } of controllers) expect(errors).toEqual([]);
});

describe('a crash', () => {
  test.each([1, 2, 3, 4, 5, 6])('after write %i loses and leaks nothing', async (writes) => {
    const fixture = await DrivesFixture.start();
    for (const name of ['a', 'b']) await fixture.drive(name, 10, { status: mounted(name === 'a') });
    const lifecycle = async (controller: ControllerUnderTest) => {
      for (const name of ['v', 'w']) {
        await create(controller, name, 4);
        const range = { capacityRange: { requiredBytes: 5n } };
        await controller.driver.call('ControllerExpandVolume', { volumeId: name, ...range }, callOptions);
        await controller.driver.call('DeleteVolume', { volumeId: name }, callOptions);
      }
    };
    const before = await fixture.controller();
    const crash = new CrashAfterWrites(writes);
    before.cluster.addHooks(crash);
    await expect(lifecycle(before)).rejects.toThrow();
    expect(crash.hasCrashed).toBe(true);
    await before.stop();
    // The caller repeats everything with a new process; its next calls delete and expand volumes that no longer exist.
    const after = await fixture.controller();
    for (const name of ['v', 'w']) {
      const state = () => after.cache.index.drivesOf(name).map((drive) => after.cache.index.get(drive));
      const isReleasing = state().some((drive) =>
        drive?.record.volumes.some((entry) => entry.name === name && entry.state === 'Releasing'),
      );
      if (!isReleasing) await createAnySize(after, name);
      await after.driver.call('DeleteVolume', { volumeId: name }, callOptions);
    }
    for (const { spec } of await fixture.all())
      for (const { state } of spec?.volumes ?? []) expect(state).toBe('Releasing');
    expect((await fixture.get('b')).spec?.volumes ?? []).toEqual([]);
    fixture.expectNoOverdraft();
  });
});

/** The repeated call of a provisioner; the volume may have grown already. */
async function createAnySize(controller: ControllerUnderTest, name: string): Promise<void> {
  const capacityRange = { requiredBytes: 4n, limitBytes: 5n };
  await create(controller, name, 4, { capacityRange });
}

/** A drive that a node service has mounted: the node service deletes the data. */
function mounted(isMounted: boolean) {
  const condition = { type: 'Mounted', status: 'True' as const };
  return isMounted ? { conditions: [condition] } : {};
}
