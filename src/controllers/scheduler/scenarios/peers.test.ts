/**
 * What went wrong for others, each as a scenario of its own. Those that need more than one node's scheduler are in
 * `peers-failures.test.ts`. What can't be told yet, and what is missing for it:
 *
 * | scenario                                             | missing                                                        |
 * | ---------------------------------------------------- | -------------------------------------------------------------- |
 * | S10 a thin pool that may be promised twice over      | a ratio for pools; what a driver publishes is taken as it is   |
 * | S11 restore from a snapshot whose source is on a node | snapshots; no provisioner of ours takes a data source         |
 * | S12 expansion beyond the space of a node             | room for expansions in the ledger; the driver decides alone    |
 * | S13 a node that is gone for good                     | a policy that gives its claims up; that they wait is shown     |
 * | S14 a node's name used again with new disks          | an identity of nodes beyond the name; released volumes are safe |
 * | S17 an autoscaler asks about a node to be            | a template's capacity                                          |
 * | S18 our service is down                              | nobody says so on the pod; that nothing is lost is shown       |
 * | S20 a gang of pods                                   | gangs; a pod with several claims is all or nothing             |
 */
import { expect, test } from 'vitest';
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { namespace, SchedulerWorld } from '../testing/scheduler-world.ts';
import { startCrowd } from './testing/crowd.ts';
import { attempts, changeRoom, numbered, placed, room, trackedClass } from './testing/furniture.ts';

const tracked = { storageClassName: 'tracked' };

async function askAtOnce(world: SchedulerWorld, names: readonly string[], size: string): Promise<void> {
  for (const name of names) await world.claim(name, size, tracked);
  for (const name of names) await world.pod(name, [name]);
}

test('S1: five pods of 3 GiB and one node of 10: three run, two wait for room', async () => {
  const { world, driver } = await startCrowd({ nodes: { n1: '10Gi' } });
  await using _ = world;
  const five = numbered('p', 5);
  await askAtOnce(world, five, '3Gi');
  await world.settle(60_000);
  expect(await placed(world, five)).toBe(3);
  expect(driver).toMatchObject({ refusals: 0, made: 3 });
  const waiting = (await Promise.all(five.map((name) => world.place(name)))).filter(
    (place) => place !== 'n1',
  );
  for (const place of waiting) {
    expect(place).toMatch(/^0\/1 nodes are available: 1 node\(s\) did not have enough free storage\. /);
    expect(place).toContain('(needs 3Gi, has 1Gi)');
  }
});

test('S2: four pods of 6 GiB and three nodes of 20: all run, none is tried twice', async () => {
  const { world, driver } = await startCrowd({ nodes: { n1: '20Gi', n2: '20Gi', n3: '20Gi' } });
  await using _ = world;
  const four = numbered('p', 4);
  await askAtOnce(world, four, '6Gi');
  await world.settle(5_000);
  expect(await placed(world, four)).toBe(4);
  expect(driver.refusals).toBe(0);
  expect(attempts(world)).toBe(4);
});

test('S3: two claims that fit alone and not together: the node is refused, nothing is made', async () => {
  const { world, driver } = await startCrowd({ nodes: { n1: '10Gi', n2: '10Gi' } });
  await using _ = world;
  for (const name of ['a', 'b']) await world.claim(name, '6Gi', tracked);
  await world.pod('web', ['a', 'b']);
  await world.settle(60_000);
  expect(await world.place('web')).toContain('2 node(s) did not have enough free storage');
  expect(driver).toMatchObject({ refusals: 0, made: 0 });
});

test('S8: the smaller of two volumes that fit, though it is on another node', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2'] });
  await world.disk('ten', '10Gi', 'n1');
  await world.disk('two', '2Gi', 'n2');
  await world.claim('data', '1Gi');
  await world.pod('web', ['data']);
  await world.settle();
  expect(await world.lines()).toContain('claim data has two');
});

test('S9: a cordoned node gets nothing new, and keeps what it has', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1'] });
  for (const disk of ['d1', 'd2']) await world.disk(disk, '5Gi', 'n1');
  for (const name of ['a', 'b']) await world.claim(name, '5Gi');
  await world.pod('a', ['a']);
  await world.settle();
  const cordon = (isOn: boolean) => ({ type: 'merge', body: { spec: { unschedulable: isOn } } }) as const;
  await world.cluster.resource(nodes).patch({ name: 'n1' }, cordon(true));
  await world.pod('b', ['b']);
  await world.settle();
  expect(await world.place('b')).toContain('1 node(s) were unschedulable');
  expect(await world.lines()).toEqual(expect.arrayContaining(['pod a on n1', 'claim b has nothing']));
  await world.cluster.resource(nodes).patch({ name: 'n1' }, cordon(false));
  await world.settle();
  expect(await world.place('b')).toBe('n1');
});

test('S9: a drive that is on its way out gets nothing new', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1'] });
  await world.disk('old', '5Gi', 'n1');
  const volumes = world.cluster.resource(persistentVolumes);
  await volumes.patch(
    { name: 'old' },
    { type: 'merge', body: { metadata: { finalizers: ['example.com/keep'] } } },
  );
  await volumes.delete({ name: 'old' });
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle();
  expect(await world.place('web')).toContain("1 node(s) didn't find available persistent volumes to bind");
});

test('S13: a pod whose local volume was on a node that is gone says so', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2'] });
  await world.disk('d1', '5Gi', 'n1');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle();
  await world.cluster.resource(nodes).delete({ name: 'n1' });
  await world.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
  await world.settle(2_000);
  await world.pod('web', ['data']);
  await world.settle();
  expect(await world.place('web')).toContain("1 node(s) didn't match PersistentVolume's node affinity");
});

test("S14: volumes that a node's former self left behind are not matched", async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1'] });
  await world.disk('old', '5Gi', 'n1');
  await world.claim('first', '5Gi');
  await world.pod('web', ['first']);
  await world.settle();
  await world.deletePod('web');
  await world.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'first' });
  await world.settle(3_000);
  await world.cluster.resource(nodes).delete({ name: 'n1' });
  await world.node('n1');
  await world.claim('second', '5Gi');
  await world.pod('next', ['second']);
  await world.settle();
  expect(await world.lines()).toContain('disk old Released to first');
  expect(await world.place('next')).toContain("1 node(s) didn't find available persistent volumes to bind");
});

test('S16: what was made outside is known as soon as the driver says so', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1'] });
  await trackedClass(world);
  await room(world, 'n1', '10Gi');
  await changeRoom(world, 'n1', { capacity: '4Gi' });
  await askAtOnce(world, ['web'], '5Gi');
  await world.settle();
  expect(await world.place('web')).toContain('1 node(s) did not have enough free storage');
});

test('S19: claims that could both take one volume leave it to the one that needs it', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1'] });
  const volumes = world.cluster.resource(persistentVolumes);
  await world.disk('ssd', '2Gi', 'n1');
  await volumes.patch({ name: 'ssd' }, { type: 'merge', body: { metadata: { labels: { kind: 'ssd' } } } });
  await world.disk('hdd', '3Gi', 'n1');
  await world.claim('a', '1Gi');
  await world.claim('b', '2Gi', { selector: { matchLabels: { kind: 'ssd' } } });
  await world.pod('web', ['a', 'b']);
  await world.settle();
  expect(await world.lines()).toEqual(expect.arrayContaining(['claim a has hdd', 'claim b has ssd']));
});

test('S20: a pod with storage for all but one of its claims takes nothing, and another may have it', async () => {
  await using world = await SchedulerWorld.start({ nodes: [] });
  await world.node('n1', { labels: { [labels.zone]: 'a' } });
  for (const disk of ['d1', 'd2']) await world.disk(disk, '5Gi', 'n1');
  const claims = ['x', 'y', 'z'];
  for (const name of [...claims, 'v', 'w']) await world.claim(name, '5Gi');
  await world.pod('greedy', claims);
  await world.pod('modest', ['v', 'w']);
  await world.settle();
  expect(await world.place('modest')).toBe('n1');
  expect(await world.place('greedy')).toContain("1 node(s) didn't find available persistent volumes to bind");
});
