import { expect, onTestFinished, test } from 'vitest';
import { WatchGate } from '../../cluster/testing/fault-hooks.ts';
import { nodes } from '../../kube/resources.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { callOptions, DrivesFixture, onNode, volumeOf } from '../testing/drives-fixture.ts';
import { DriveCache } from './drive-cache.ts';

test('a process that leads again has one cache: a stopped one leaves no watch behind', async () => {
  const { clock, cluster } = await DrivesFixture.start();
  const random = seededRandom('cache');
  const supervisor = new Supervisor({ clock, random, onCrash: ({ error }) => expect.fail(String(error)) });
  onTestFinished(async () => void (await supervisor.close()));
  for (let term = 0; term < 3; term += 1) {
    const cache = new DriveCache({ cluster, clock, random, supervisor, onError: () => {} });
    expect(await cache.synced(callOptions.signal)).toBe(true);
    await cache.stop();
    expect(supervisor.status().tasks).toEqual([]);
  }
});

test('a call that waits for the watch ends with Aborted when the cache is stopped', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10);
  const { driver, cluster, cache } = await fixture.controller();
  const gate = new WatchGate(drives);
  cluster.addHooks(gate);
  gate.hold();
  const call = driver.call('CreateVolume', volumeOf('v', 1), callOptions);
  const failure = call.catch((error: unknown) => error);
  while (!(await fixture.placements()).has('v')) await new Promise((resolve) => setImmediate(resolve));
  const stopped = cache.stop();
  expect(await failure).toMatchObject({ code: 'Aborted' });
  gate.release();
  await stopped;
});

test('a drive whose Node does not exist gets no volumes, and each change of that is reported', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10, { node: 'n1' });
  await fixture.drive('b', 10, { node: 'n2' });
  const nodeClient = fixture.cluster.resource(nodes);
  await nodeClient.create({ metadata: { name: 'n1' } });
  const { driver, cache } = await fixture.controller({ readsNodes: true });
  const reported: unknown[] = [];
  cache.onCapacityChange((segments) => reported.push(segments));
  const freeBytes = async () => Number((await driver.call('GetCapacity', {}, callOptions)).availableCapacity);
  expect(await freeBytes()).toBe(10);
  await expect(driver.call('CreateVolume', volumeOf('v', 1, onNode('n2')), callOptions)).rejects.toThrow(
    'drive b is on a node that does not exist',
  );
  await nodeClient.create({ metadata: { name: 'n2' } });
  while ((await freeBytes()) !== 20) await new Promise((resolve) => setImmediate(resolve));
  await nodeClient.delete({ name: 'n1' });
  while ((await freeBytes()) !== 10) await new Promise((resolve) => setImmediate(resolve));
  expect(reported).toEqual([{ 'stowage.dev/node': 'n2' }, { 'stowage.dev/node': 'n1' }]);
});

test('reports changes of capacity with the segments that reach the drive, and none that change nothing or that it wrote', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('a', 10, { node: 'n1', status: { topology: { zone: 'z1' } } });
  const { driver, cache } = await fixture.controller();
  const reported: unknown[] = [];
  cache.onCapacityChange((segments) => reported.push(segments));
  const after = async (change: () => Promise<unknown>) => {
    reported.length = 0;
    await change();
    const { metadata } = await fixture.get('a');
    await cache.delivered('a', metadata?.resourceVersion ?? '', callOptions.signal);
    return [...reported];
  };
  const here = { 'stowage.dev/node': 'n1', zone: 'z1' };
  const there = { 'stowage.dev/node': 'n1', zone: 'z2' };
  expect(await after(() => fixture.merge('a', { spec: { unschedulable: true } }))).toEqual([here]);
  expect(await after(() => fixture.merge('a', { metadata: { annotations: { note: 'x' } } }))).toEqual([]);
  expect(await after(() => fixture.merge('a', { spec: { unschedulable: false } }))).toEqual([here]);
  expect(await after(() => fixture.merge('a', { status: { topology: { zone: 'z2' } } }, 'status'))).toEqual([
    here,
    there,
  ]);
  const written = { spec: { volumes: [{ name: 'foreign', sizeBytes: 1 }] } };
  expect(await after(() => fixture.merge('a', written))).toEqual([there]);
  await after(() => driver.call('CreateVolume', volumeOf('v', 1), callOptions));
  expect((await fixture.get('a')).spec?.volumes).toHaveLength(2);
});
