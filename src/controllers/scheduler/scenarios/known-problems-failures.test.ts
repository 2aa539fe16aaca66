/** Problems that other schedulers have had after partial failures, one scenario each. */
import { expect, test } from 'vitest';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { failWith, onlyFor } from '../../../cluster/testing/fault-hooks.ts';
import { nodes, persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { schedulerController } from '../scheduler.ts';
import { namespace, SchedulerFixture, schedulingControllers } from '../testing/scheduler-fixture.ts';
import { startWithDriver } from './testing/driver-fixture.ts';
import { countPlaced, numbered, zonalDriver } from './testing/fixtures.ts';

const tracked = { storageClassName: 'tracked' };

async function selectedNode(fixture: SchedulerFixture, name: string): Promise<string | undefined> {
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name });
  return claim.metadata?.annotations?.[annotations.selectedNode];
}

async function countVolumes(fixture: SchedulerFixture): Promise<number> {
  return (await fixture.cluster.resource(persistentVolumes).list()).items.length;
}

test('S4: the second of two volumes cannot be claimed: other pods are not delayed, and the pod follows the first volume', async () => {
  const environment = await VirtualTimeCluster.start();
  await using fixture = new SchedulerFixture(environment);
  await fixture.seed(['n1', 'n2']);
  const failing = new InterceptedCluster(fixture.cluster);
  const [scheduler, ...others] = schedulingControllers({});
  environment.run([scheduler!], failing);
  environment.run(others);
  for (const [disk, node] of [
    ['a1', 'n1'],
    ['a2', 'n1'],
    ['b1', 'n2'],
  ] as const)
    await fixture.disk(disk, '5Gi', node);
  for (const name of ['x', 'y', 'z']) await fixture.claim(name, '5Gi');
  await fixture.settle();
  const isAffected = ({ verb, resource, name }: ClusterCall) =>
    verb === 'patch' && resource.plural === 'persistentvolumes' && name === 'a2';
  const repair = failing.addHooks(onlyFor(isAffected, { before: failWith(new Error('connection reset')) }));
  await fixture.pod('a', ['x', 'y']);
  await fixture.pod('b', ['z']);
  await fixture.settle(700);
  expect(await fixture.place('b')).toMatch(/^n\d$/);
  // The first volume was bound before its claimRef could be withdrawn: an event reports it, and it is not lost.
  expect(await fixture.summary()).toEqual(
    expect.arrayContaining(['claim x has a1', 'claim y has nothing', 'disk a2 Available to no claim']),
  );
  expect(await fixture.eventsOf('a')).toContainEqual(
    expect.stringMatching(/^VolumesKept: claim default\/x stays bound to volume a1/),
  );
  repair();
  await fixture.settle(20_000);
  expect(await fixture.place('a')).toBe('n1');
});

test('S5: a volume that is created after the timeout is used, and the pod runs', async () => {
  const { fixture, driver } = await startWithDriver(
    { nodes: { n1: '10Gi', n2: '10Gi' }, createMs: 20_000 },
    {},
  );
  await using _ = fixture;
  await fixture.stopControllers();
  fixture.startControllers({
    otherControllers: ['pv-binder'],
    extraControllers: driver.controllers,
    scheduler: { bindTimeoutMs: 5_000 },
  });
  await fixture.claim('data', '5Gi', tracked);
  await fixture.pod('web', ['data']);
  await fixture.settle(6_000);
  expect(await fixture.place('web')).toBe('binding volumes: context deadline exceeded');
  await fixture.settle(60_000);
  expect(await fixture.place('web')).toMatch(/^n\d$/);
  expect(driver).toMatchObject({ refusals: 0, createdCount: 1, volumeCount: 1 });
  expect(await countVolumes(fixture)).toBe(1);
});

test('S6: the node is deleted after it was selected: the selection is cleared, and the pod goes elsewhere', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: [], otherControllers: ['pv-binder'] });
  for (const name of ['n1', 'n2']) await fixture.node(name, { labels: { [labels.zone]: name } });
  await fixture.storageClass('zonal', { provisioner: zonalDriver });
  await fixture.claim('data', '5Gi', { storageClassName: 'zonal' });
  await fixture.pod('web', ['data']);
  await fixture.settle();
  const first = await selectedNode(fixture, 'data');
  expect(first).toMatch(/^n\d$/);
  await fixture.cluster.resource(nodes).delete({ name: first! });
  await fixture.settle(5_000);
  expect(await fixture.place('web')).toContain("didn't find available persistent volumes to bind");
  const provisioner = schedulingControllers({ otherControllers: ['provisioner'] }).slice(1);
  fixture.environment.run(provisioner);
  await fixture.settle(30_000);
  expect(await fixture.place('web')).toBe(first === 'n1' ? 'n2' : 'n1');
});

test('S7: the claim is deleted while its volume is being provisioned: no volume is left over', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: { n1: '10Gi' }, createMs: 10_000 });
  await using _ = fixture;
  await fixture.claim('data', '8Gi', tracked);
  await fixture.pod('web', ['data']);
  await fixture.settle(2_000);
  await fixture.deletePod('web');
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
  await fixture.settle(60_000);
  expect(driver).toMatchObject({ createdCount: 1, volumeCount: 0 });
  expect(await countVolumes(fixture)).toBe(0);
  // Its capacity is free again, at the latest when the driver has published it.
  await fixture.claim('next', '8Gi', tracked);
  await fixture.pod('next', ['next']);
  await fixture.settle(160_000);
  expect(await fixture.place('next')).toBe('n1');
});

test('S15: after a crash between selecting the node and binding the pod, the next scheduler completes the placement, once', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: { n1: '5Gi', n2: '5Gi' }, createMs: 5_000 });
  await using _ = fixture;
  await fixture.claim('data', '5Gi', tracked);
  await fixture.pod('web', ['data']);
  await fixture.settle(1_000);
  const first = await selectedNode(fixture, 'data');
  await fixture.stopControllers();
  fixture.startControllers({ otherControllers: ['pv-binder'], extraControllers: driver.controllers });
  await fixture.settle(20_000);
  expect(await fixture.place('web')).toBe(first);
  expect(driver).toMatchObject({ refusals: 0, createdCount: 1, volumeCount: 1 });
});

test('S15: two schedulers at the same time give no volume twice, and miss no pod', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2', 'n3', 'n4'] });
  fixture.environment.run([schedulerController()]);
  const pods = numbered('p', 12);
  for (const [position, name] of pods.entries())
    await fixture.disk(`d-${name}`, '5Gi', `n${(position % 4) + 1}`);
  for (const name of pods) await fixture.claim(name, '5Gi');
  for (const name of pods) await fixture.pod(name, [name]);
  await fixture.settle(120_000);
  expect(await countPlaced(fixture, pods)).toBe(12);
  const owners = (await fixture.summary())
    .filter((line) => line.startsWith('claim'))
    .map((line) => line.split(' ')[3]);
  expect(new Set(owners).size).toBe(12);
});

test('S18: pods that were created while no scheduler ran are placed when one starts', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1'] });
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.stopControllers();
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle(60_000);
  expect(await fixture.place('web')).toBe('pending');
  fixture.startControllers();
  await fixture.settle();
  expect(await fixture.place('web')).toBe('n1');
});
