/** The end-to-end list of the design proposal for topology-aware volumes, with StatefulSets that a controller runs. */
import { expect, test } from 'vitest';
import { SchedulerWorld } from '../testing/scheduler-world.ts';
import {
  apart,
  attempts,
  makeSet,
  numbered,
  placed,
  placeOf,
  places,
  together,
  zonalDriver,
} from './testing/furniture.ts';

const beside = ['pv-binder', 'provisioner', 'protection', 'node-agent', 'statefulset'];
const helpless = 'preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.';
const web = numbered('web-', 3);

async function startWorld(nodes = ['n1', 'n2', 'n3']): Promise<SchedulerWorld> {
  return await SchedulerWorld.start({ nodes, beside });
}

test('three replicas that keep apart get the local volumes of three nodes', async () => {
  await using world = await startWorld();
  for (const node of ['n1', 'n2', 'n3']) await world.disk(`disk-${node}`, '10Gi', node);
  await makeSet(world, { replicas: 3, claims: { data: '5Gi' }, pod: apart });
  await world.settle();
  expect((await places(world, web)).toSorted()).toEqual(['n1', 'n2', 'n3']);
  expect(attempts(world)).toBe(3);
});

test('three replicas that keep apart with volumes on two nodes: the third waits, and says for what', async () => {
  await using world = await startWorld();
  for (const node of ['n1', 'n2'])
    for (const disk of ['a', 'b']) await world.disk(`${disk}-${node}`, '10Gi', node);
  await makeSet(world, { replicas: 3, claims: { data: '5Gi' }, pod: apart });
  await world.settle();
  const waiting = (await places(world, web)).filter((place) => !/^n\d$/.test(place));
  expect(waiting).toEqual([
    "0/3 nodes are available: 1 node(s) didn't find available persistent volumes to bind, " +
      "2 node(s) didn't match pod anti-affinity rules. " +
      'preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, ' +
      '2 No preemption victims found for incoming pod.',
  ]);
  await world.disk('late', '10Gi', 'n3');
  await world.settle();
  expect((await places(world, web)).toSorted()).toEqual(['n1', 'n2', 'n3']);
});

test('replicas that stay together share the node that has several volumes', async () => {
  await using world = await startWorld();
  for (const disk of ['a', 'b', 'c']) await world.disk(disk, '10Gi', 'n2');
  await makeSet(world, { replicas: 3, claims: { data: '5Gi' }, pod: together });
  await world.settle();
  expect(await places(world, web)).toEqual(['n2', 'n2', 'n2']);
});

test('replicas that stay together with one volume on each node: one runs, the others say why not', async () => {
  await using world = await startWorld();
  for (const node of ['n1', 'n2', 'n3']) await world.disk(`disk-${node}`, '10Gi', node);
  await makeSet(world, { replicas: 3, claims: { data: '5Gi' }, pod: together });
  await world.settle();
  const found = (await places(world, web)).toSorted();
  expect(found[2]).toMatch(/^n\d$/);
  expect(found[0]).toBe(
    "0/3 nodes are available: 1 node(s) didn't find available persistent volumes to bind, " +
      `2 node(s) didn't match pod affinity rules. ${helpless}`,
  );
  // Nothing was taken for those that could not run.
  expect((await world.lines()).filter((line) => line.endsWith('Available to nobody'))).toHaveLength(2);
});

test('all claims of a replica find volumes on the node that has enough of them', async () => {
  await using world = await startWorld();
  await world.disk('n1-a', '10Gi', 'n1');
  await world.disk('n2-a', '10Gi', 'n2');
  for (const disk of ['n3-a', 'n3-b', 'n3-c']) await world.disk(disk, '10Gi', 'n3');
  await makeSet(world, { replicas: 1, claims: { data: '5Gi', log: '1Gi', tmp: '2Gi' } });
  await world.settle();
  expect(await world.place('web-0')).toBe('n3');
});

test('claims of a replica whose volumes are on different nodes are left alone', async () => {
  await using world = await startWorld();
  for (const node of ['n1', 'n2', 'n3']) await world.disk(`disk-${node}`, '10Gi', node);
  await makeSet(world, { replicas: 1, claims: { data: '5Gi', log: '1Gi' } });
  await world.settle();
  expect(await placeOf(world, 'web-0')).toBe(
    `0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. ${helpless}`,
  );
  expect((await world.lines()).filter((line) => line.endsWith('Available to nobody'))).toHaveLength(3);
  await world.disk('second', '1Gi', 'n2');
  await world.settle();
  expect(await world.place('web-0')).toBe('n2');
});

test('volumes are made where those that are there do not suit', async () => {
  await using world = await startWorld([]);
  const zones = { n1: 'a', n2: 'b', n3: 'c' };
  for (const [name, zone] of Object.entries(zones))
    await world.node(name, { labels: { 'topology.kubernetes.io/zone': zone } });
  await world.storageClass('zonal', { provisioner: zonalDriver });
  await world.disk('small', '1Gi', 'n1', { storageClassName: 'zonal' });
  await world.disk('fits', '6Gi', 'n2', { storageClassName: 'zonal' });
  await makeSet(world, { replicas: 3, claims: { data: '5Gi' }, className: 'zonal', pod: apart });
  await world.settle();
  expect(await placed(world, web)).toBe(3);
  const lines = await world.lines();
  expect(lines).toContain('disk small Available to nobody');
  // What an administrator made is taken before anything new is.
  expect(lines).toContainEqual(expect.stringMatching(/^disk fits Bound to data-web-\d$/));
  expect(lines.filter((line) => /^disk pvc-\S+ Bound/.test(line))).toHaveLength(2);
});

test('replicas that are deleted come back to where their volumes are', async () => {
  await using world = await startWorld();
  for (const node of ['n1', 'n2', 'n3']) await world.disk(`disk-${node}`, '10Gi', node);
  await makeSet(world, { replicas: 2, claims: { data: '5Gi' }, pod: apart });
  await world.settle();
  const before = await places(world, ['web-0', 'web-1']);
  for (const name of ['web-0', 'web-1']) await world.deletePod(name);
  await world.settle(5_000);
  expect(await places(world, ['web-0', 'web-1'])).toEqual(before);
});
