/** The end-to-end tests that the design proposal for topology-aware volumes lists, with StatefulSets and their controller. */
import { expect, test } from 'vitest';
import { SchedulerFixture } from '../testing/scheduler-fixture.ts';
import {
  countPlaced,
  createStatefulSet,
  numbered,
  onOneNode,
  onSeparateNodes,
  placeOf,
  places,
  schedulingAttempts,
  zonalDriver,
} from './testing/fixtures.ts';

const beside = ['pv-binder', 'provisioner', 'protection', 'node-agent', 'statefulset'];
const helpless = 'preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.';
const web = numbered('web-', 3);

async function startFixture(nodes = ['n1', 'n2', 'n3']): Promise<SchedulerFixture> {
  return await SchedulerFixture.start({ nodes, otherControllers: beside });
}

test('three replicas with anti-affinity get the local volumes of three nodes', async () => {
  await using fixture = await startFixture();
  for (const node of ['n1', 'n2', 'n3']) await fixture.disk(`disk-${node}`, '10Gi', node);
  await createStatefulSet(fixture, { replicas: 3, claims: { data: '5Gi' }, pod: onSeparateNodes });
  await fixture.settle();
  expect((await places(fixture, web)).toSorted()).toEqual(['n1', 'n2', 'n3']);
  expect(schedulingAttempts(fixture)).toBe(3);
});

test('three replicas with anti-affinity and volumes on two nodes: the third waits, and reports why', async () => {
  await using fixture = await startFixture();
  for (const node of ['n1', 'n2'])
    for (const disk of ['a', 'b']) await fixture.disk(`${disk}-${node}`, '10Gi', node);
  await createStatefulSet(fixture, { replicas: 3, claims: { data: '5Gi' }, pod: onSeparateNodes });
  await fixture.settle();
  const waiting = (await places(fixture, web)).filter((place) => !/^n\d$/.test(place));
  expect(waiting).toEqual([
    "0/3 nodes are available: 1 node(s) didn't find available persistent volumes to bind, " +
      "2 node(s) didn't match pod anti-affinity rules. " +
      'preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, ' +
      '2 No preemption victims found for incoming pod.',
  ]);
  await fixture.disk('late', '10Gi', 'n3');
  await fixture.settle();
  expect((await places(fixture, web)).toSorted()).toEqual(['n1', 'n2', 'n3']);
});

test('replicas with affinity share the node that has several volumes', async () => {
  await using fixture = await startFixture();
  for (const disk of ['a', 'b', 'c']) await fixture.disk(disk, '10Gi', 'n2');
  await createStatefulSet(fixture, { replicas: 3, claims: { data: '5Gi' }, pod: onOneNode });
  await fixture.settle();
  expect(await places(fixture, web)).toEqual(['n2', 'n2', 'n2']);
});

test('replicas with affinity and one volume on each node: one runs, the others report why not', async () => {
  await using fixture = await startFixture();
  for (const node of ['n1', 'n2', 'n3']) await fixture.disk(`disk-${node}`, '10Gi', node);
  await createStatefulSet(fixture, { replicas: 3, claims: { data: '5Gi' }, pod: onOneNode });
  await fixture.settle();
  const found = (await places(fixture, web)).toSorted();
  expect(found[2]).toMatch(/^n\d$/);
  expect(found[0]).toBe(
    "0/3 nodes are available: 1 node(s) didn't find available persistent volumes to bind, " +
      `2 node(s) didn't match pod affinity rules. ${helpless}`,
  );
  // No volume was claimed for those that could not run.
  expect((await fixture.summary()).filter((line) => line.endsWith('Available to no claim'))).toHaveLength(2);
});

test('all claims of a replica find volumes on the node that has enough of them', async () => {
  await using fixture = await startFixture();
  await fixture.disk('n1-a', '10Gi', 'n1');
  await fixture.disk('n2-a', '10Gi', 'n2');
  for (const disk of ['n3-a', 'n3-b', 'n3-c']) await fixture.disk(disk, '10Gi', 'n3');
  await createStatefulSet(fixture, { replicas: 1, claims: { data: '5Gi', log: '1Gi', tmp: '2Gi' } });
  await fixture.settle();
  expect(await fixture.place('web-0')).toBe('n3');
});

test('claims of a replica whose volumes are on different nodes stay unbound', async () => {
  await using fixture = await startFixture();
  for (const node of ['n1', 'n2', 'n3']) await fixture.disk(`disk-${node}`, '10Gi', node);
  await createStatefulSet(fixture, { replicas: 1, claims: { data: '5Gi', log: '1Gi' } });
  await fixture.settle();
  expect(await placeOf(fixture, 'web-0')).toBe(
    `0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. ${helpless}`,
  );
  expect((await fixture.summary()).filter((line) => line.endsWith('Available to no claim'))).toHaveLength(3);
  await fixture.disk('second', '1Gi', 'n2');
  await fixture.settle();
  expect(await fixture.place('web-0')).toBe('n2');
});

test('volumes are provisioned if the existing ones do not fit', async () => {
  await using fixture = await startFixture([]);
  const zones = { n1: 'a', n2: 'b', n3: 'c' };
  for (const [name, zone] of Object.entries(zones))
    await fixture.node(name, { labels: { 'topology.kubernetes.io/zone': zone } });
  await fixture.storageClass('zonal', { provisioner: zonalDriver });
  await fixture.disk('small', '1Gi', 'n1', { storageClassName: 'zonal' });
  await fixture.disk('fits', '6Gi', 'n2', { storageClassName: 'zonal' });
  await createStatefulSet(fixture, {
    replicas: 3,
    claims: { data: '5Gi' },
    className: 'zonal',
    pod: onSeparateNodes,
  });
  await fixture.settle();
  expect(await countPlaced(fixture, web)).toBe(3);
  const lines = await fixture.summary();
  expect(lines).toContain('disk small Available to no claim');
  // Volumes of an administrator are used before new ones are provisioned.
  expect(lines).toContainEqual(expect.stringMatching(/^disk fits Bound to data-web-\d$/));
  expect(lines.filter((line) => /^disk pvc-\S+ Bound/.test(line))).toHaveLength(2);
});

test('re-created replicas return to the nodes of their volumes', async () => {
  await using fixture = await startFixture();
  for (const node of ['n1', 'n2', 'n3']) await fixture.disk(`disk-${node}`, '10Gi', node);
  await createStatefulSet(fixture, { replicas: 2, claims: { data: '5Gi' }, pod: onSeparateNodes });
  await fixture.settle();
  const before = await places(fixture, ['web-0', 'web-1']);
  for (const name of ['web-0', 'web-1']) await fixture.deletePod(name);
  await fixture.settle(5_000);
  expect(await places(fixture, ['web-0', 'web-1'])).toEqual(before);
});
