import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { failNext } from '../../cluster/testing/fault-hooks.ts';
import { readBlockDevices } from '../../drives/devices/block-device.ts';
import { deviceId } from '../../drives/devices/device-id.ts';
import { deviceListFile, parseDeviceList } from '../../drives/devices/device-list-file.ts';
import { SystemCommandError } from '../../drives/devices/system-commands.ts';
import { DeviceTree, type FakeDevice } from '../../drives/devices/testing/device-tree.ts';
import { DrivesFixture } from '../../drives/testing/drives-fixture.ts';
import { failure } from '../../kube/api-error.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { listedDevices } from './init.ts';
import { type InitDevicesOptions, type InitResult, initDevices, planDevices } from './init-devices.ts';

interface InitSetup {
  readonly isForced?: boolean;
  readonly nodeName?: string;
  readonly seed?: string;
}

/** A machine with devices, and the cluster that it belongs to. */
async function machine(devices: Readonly<Record<string, FakeDevice>>) {
  const tree = await DeviceTree.create(devices);
  const fixture = await DrivesFixture.start();
  const optionsFor = (cluster: Cluster, setup: InitSetup): InitDevicesOptions => ({
    cluster,
    sources: tree.sources,
    requireUnused: async () => {},
    ids: idsFrom(seededRandom(setup.seed ?? 'init')),
    isForced: setup.isForced ?? false,
    onProgress: () => {},
    nodeName: setup.nodeName ?? 'n1',
    tier: 'Hot',
    labels: { rack: 'r1' },
  });
  const init = async (setup: InitSetup = {}, cluster: Cluster = fixture.cluster) => {
    const options = optionsFor(cluster, setup);
    return await initDevices(await planDevices(await readBlockDevices(tree.sources), options), options);
  };
  return { tree, fixture, init, optionsFor };
}

const one = { sdb: { majorMinor: '8:16' } };

test('an empty device is formatted, marked and registered', async () => {
  const { tree, fixture, init } = await machine(one);
  const [result] = await init();
  const { uuid, label } = tree.filesystemOf('sdb')!;
  expect(result).toEqual({
    device: tree.path('dev/sdb'),
    result: 'formatted',
    drive: `n1-${uuid!.slice(0, 8)}`,
  });
  expect(label).toBe('stowage');
  expect(await fixture.all()).toMatchObject([
    {
      metadata: { name: `n1-${uuid!.slice(0, 8)}`, labels: { rack: 'r1' } },
      spec: { nodeName: 'n1', filesystemUUID: uuid, filesystemType: 'xfs', accessTier: 'Hot' },
    },
  ]);
  expect(tree.calls.some((call) => call.startsWith('wipefs'))).toBe(false);
  expect(tree.calls.find((call) => call.startsWith('mkfs.xfs'))).toBe(
    `mkfs.xfs -q -L stowage -m uuid=${uuid} /dev/sdb`,
  );
  expect(await init({ seed: 'again' })).toMatchObject([{ result: 'already registered' }]);
});

test('what carries data is refused, and erased only by force', async () => {
  const { tree, init } = await machine({
    sdb: { majorMinor: '8:16', filesystem: { type: 'ext4' } },
    sdc: { majorMinor: '8:32', mountPoint: '/mnt', filesystem: { type: 'ext4' } },
    sdd: { majorMinor: '8:48', filesystem: { type: 'xfs', uuid: 'x', label: 'photos' } },
  });
  await tree.put('sdd', 'holiday.jpg', 'data');
  const texts = (results: readonly InitResult[]) =>
    results.map(({ result, error }) => `${result} ${error ?? ''}`);
  expect(texts(await init())).toEqual([
    expect.stringMatching(/^refused .*sdb carries data of ext4; --force erases it$/),
    expect.stringMatching(/^refused .*sdc is mounted at \/mnt$/),
    expect.stringMatching(/^refused .*sdd carries data of xfs; --force erases it$/),
  ]);
  expect(tree.calls.filter((call) => /^(mkfs|wipefs)/.test(call))).toEqual([]);
  expect(texts(await init({ isForced: true }))).toEqual([
    'formatted ',
    expect.stringMatching(/^refused .*sdc is mounted at \/mnt$/),
    'formatted ',
  ]);
});

test('a drive of an existing object is never formatted, not even by force', async () => {
  const { tree, fixture, init } = await machine({
    sdb: { majorMinor: '8:16', filesystem: { type: 'xfs', uuid: '11111111-0000-4000-8000-000000000001' } },
  });
  await fixture.drive('n2-11111111', 2 ** 30, {
    node: 'n2',
    spec: { filesystemUUID: '11111111-0000-4000-8000-000000000001' },
  });
  const [result] = await init({ isForced: true });
  expect(result).toMatchObject({
    result: 'refused',
    error: expect.stringContaining('is the drive n2-11111111'),
  });
  expect(tree.calls.some((call) => call.startsWith('mkfs'))).toBe(false);
});

test.each(['mkfs.xfs', 'mount', 'umount'])(
  'init that stops at %s is finished by the next one',
  async (program) => {
    const { tree, fixture, init } = await machine(one);
    tree.intercept = (called) => (called === program ? Promise.reject(new Error('killed')) : undefined);
    await expect(init()).rejects.toThrow('killed');
    tree.intercept = () => undefined;
    expect(await init({ seed: 'second' })).toMatchObject([{ drive: expect.stringMatching(/^n1-/) }]);
    const [drive, ...others] = await fixture.all();
    expect(others).toEqual([]);
    expect(drive?.spec?.filesystemUUID).toBe(tree.filesystemOf('sdb')?.uuid);
  },
);

test('a formatted drive that could not be registered is registered by the next call, and keeps its UUID', async () => {
  const { tree, fixture, init } = await machine(one);
  const unavailable = failure(503, 'ServiceUnavailable', 'no leader');
  const cluster = new InterceptedCluster(fixture.cluster, failNext('create', unavailable));
  expect(await init({}, cluster)).toMatchObject([
    { result: 'failed', error: expect.stringContaining('run the command again') },
  ]);
  const uuid = tree.filesystemOf('sdb')?.uuid;
  expect(await init({ seed: 'second' })).toMatchObject([{ result: 'registered' }]);
  expect((await fixture.all())[0]?.spec?.filesystemUUID).toBe(uuid);
  expect(tree.calls.filter((call) => call.startsWith('mkfs'))).toHaveLength(1);
});

test('a drive of Stowage without an object is registered only if it is empty and of this node', async () => {
  const { tree, fixture, init } = await machine(one);
  await init();
  const [drive] = await fixture.all();
  await fixture.cluster.resource(drives).delete({ name: drive!.metadata!.name! });
  expect(await init({ nodeName: 'n2' })).toMatchObject([
    { result: 'refused', error: expect.stringContaining('was formatted for node n1, not n2') },
  ]);
  await tree.put('sdb', 'volumes/pvc-1/file', 'data');
  expect(await init()).toMatchObject([
    {
      result: 'refused',
      error: expect.stringContaining('has data of the volumes pvc-1, and no Drive object'),
    },
  ]);
  expect(tree.calls.filter((call) => call.startsWith('mkfs'))).toHaveLength(1);
});

test('a device that changes between the question and the answer is not formatted', async () => {
  const { tree, fixture, optionsFor } = await machine(one);
  const options = optionsFor(fixture.cluster, {});
  const planned = await planDevices(await readBlockDevices(tree.sources), options);
  await tree.add('sdb', { majorMinor: '8:16', filesystem: { type: 'ext4', uuid: 'new' } });
  expect(await initDevices(planned, options)).toMatchObject([
    { result: 'failed', error: expect.stringContaining('has changed meanwhile') },
  ]);
});

test('a failed program is a result of its device, and the others go on', async () => {
  const { tree, init } = await machine({ ...one, sdc: { majorMinor: '8:32' } });
  let calls = 0;
  tree.intercept = (program) =>
    program === 'mkfs.xfs' && ++calls === 1
      ? Promise.resolve({ status: 1, stdout: '', stderr: 'mkfs.xfs: pwrite failed: Input/output error\n' })
      : undefined;
  const [failed, done] = await init();
  expect(failed?.error).toBe('mkfs.xfs failed with status 1: mkfs.xfs: pwrite failed: Input/output error');
  expect(done?.result).toBe('formatted');
  tree.intercept = (program) =>
    program === 'mkfs.xfs' ? Promise.reject(new SystemCommandError('mkfs.xfs is not installed')) : undefined;
  expect((await init())[0]?.error).toContain('mkfs.xfs is not installed');
});

test('the file of discover selects devices, and refuses those that changed', async () => {
  const { tree } = await machine({ ...one, sdc: { majorMinor: '8:32' } });
  const devices = await readBlockDevices(tree.sources);
  const text = deviceListFile('n1', devices);
  const named = (file: string, node = 'n1') => listedDevices('f', parseDeviceList(file), node, devices);
  expect(named(text).map(({ name }) => name)).toEqual(['sdb', 'sdc']);
  const onlyOne = text.replace('select: yes', 'select: "no"');
  expect(named(onlyOne).map(({ name }) => name)).toEqual(['sdc']);
  expect(() => named(text.replace(deviceId(devices[1]!), '8:32$0'))).toThrow(
    'f: device sdc has changed since',
  );
  expect(() => named(text, 'n2')).toThrow('f: nodes: does not have node n2, but n1');
  expect(() => named(text.replaceAll('select: yes', 'select: no'))).toThrow('is selected');
  expect(() => parseDeviceList('version: v9')).toThrow('version: must be v1');
  expect(() => parseDeviceList(text.replace('select: yes', 'select: perhaps'))).toThrow(
    'nodes[0].drives[0].select: must be "yes" or "no"',
  );
  expect(() => parseDeviceList('a: [')).toThrow('yaml: ');
});
