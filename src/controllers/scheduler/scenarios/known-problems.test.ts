/**
 * Problems that other schedulers and storage drivers have had, one scenario each. Those with partial failures are in
 * `known-problems-failures.test.ts`. Scenarios that cannot be tested yet, and what is missing for them:
 *
 * | scenario                                             | missing                                                        |
 * | ---------------------------------------------------- | -------------------------------------------------------------- |
 * | S10 a thin pool that may be overcommitted            | an overcommit ratio; published capacity is used as it is       |
 * | S11 restore from a snapshot whose source is on a node | snapshots; no provisioner here supports a data source         |
 * | S12 expansion beyond the space of a node             | expansions in the ledger; the driver decides alone             |
 * | S13 a node that is permanently gone                  | a policy that releases its claims; that they wait is tested    |
 * | S14 a node name reused with new disks                | a node identity beyond the name; released volumes are safe     |
 * | S17 an autoscaler asks about a future node           | the capacity of a node template                                |
 * | S18 the scheduler is down                            | a report on the pod; that nothing is lost is tested            |
 * | S20 a gang of pods                                   | gang scheduling; a pod with several claims is all or nothing   |
 */
import { expect, test } from 'vitest';
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { namespace, SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { startWithDriver } from './testing/driver-fixture.ts';
import {
  countPlaced,
  numbered,
  patchCapacity,
  publishCapacity,
  schedulingAttempts,
  trackedClass,
} from './testing/fixtures.ts';

const tracked = { storageClassName: 'tracked' };

async function askAtOnce(fixture: SchedulerFixture, names: readonly string[], size: string): Promise<void> {
  for (const name of names) await fixture.claim(name, size, tracked);
  for (const name of names) await fixture.pod(name, [name]);
}

test('S1: five pods of 3 GiB and one node of 10: three run, two wait for capacity', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: { n1: '10Gi' } });
  await using _ = fixture;
  const five = numbered('p', 5);
  await askAtOnce(fixture, five, '3Gi');
  await fixture.settle(60_000);
  expect(await countPlaced(fixture, five)).toBe(3);
  expect(driver).toMatchObject({ refusals: 0, createdCount: 3 });
  const waiting = (await Promise.all(five.map((name) => fixture.place(name)))).filter(
    (place) => place !== 'n1',
  );
  for (const place of waiting) {
    expect(place).toMatch(/^0\/1 nodes are available: 1 node\(s\) did not have enough free storage\. /);
    // The figure that falls by the bytes of the three volumes frees nothing, so the message stays.
    expect(place).toContain('(needs 3Gi, has 10Gi, of which 9Gi is promised to other volumes)');
  }
});

test('S2: four pods of 6 GiB and three nodes of 20: all run, none is retried', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: { n1: '20Gi', n2: '20Gi', n3: '20Gi' } });
  await using _ = fixture;
  const four = numbered('p', 4);
  await askAtOnce(fixture, four, '6Gi');
  await fixture.settle(5_000);
  expect(await countPlaced(fixture, four)).toBe(4);
  expect(driver.refusals).toBe(0);
  expect(schedulingAttempts(fixture)).toBe(4);
});

test('S3: two claims that fit alone but not together: the node is refused, no volume is provisioned', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: { n1: '10Gi', n2: '10Gi' } });
  await using _ = fixture;
  for (const name of ['a', 'b']) await fixture.claim(name, '6Gi', tracked);
  await fixture.pod('web', ['a', 'b']);
  await fixture.settle(60_000);
  expect(await fixture.place('web')).toContain('2 node(s) did not have enough free storage');
  expect(driver).toMatchObject({ refusals: 0, createdCount: 0 });
});

test('S8: the smaller of two volumes that fit is taken, although it is on another node', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'] });
  await fixture.disk('ten', '10Gi', 'n1');
  await fixture.disk('two', '2Gi', 'n2');
  await fixture.claim('data', '1Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.summary()).toContain('claim data has two');
});

test('S9: a cordoned node gets no new pods, and keeps its own', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1'] });
  for (const disk of ['d1', 'd2']) await fixture.disk(disk, '5Gi', 'n1');
  for (const name of ['a', 'b']) await fixture.claim(name, '5Gi');
  await fixture.pod('a', ['a']);
  await fixture.settle();
  const cordon = (isOn: boolean) => ({ type: 'merge', body: { spec: { unschedulable: isOn } } }) as const;
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, cordon(true));
  await fixture.pod('b', ['b']);
  await fixture.settle();
  expect(await fixture.place('b')).toContain('1 node(s) were unschedulable');
  expect(await fixture.summary()).toEqual(expect.arrayContaining(['pod a on n1', 'claim b has nothing']));
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, cordon(false));
  await fixture.settle();
  expect(await fixture.place('b')).toBe('n1');
});

test('S9: a volume that is being deleted gets no claim', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1'] });
  await fixture.disk('old', '5Gi', 'n1');
  const volumes = fixture.cluster.resource(persistentVolumes);
  await volumes.patch(
    { name: 'old' },
    { type: 'merge', body: { metadata: { finalizers: ['example.com/keep'] } } },
  );
  await volumes.delete({ name: 'old' });
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.place('web')).toContain("1 node(s) didn't find available persistent volumes to bind");
});

test('S13: a pod whose local volume was on a node that is gone reports it', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'] });
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
  await fixture.settle(2_000);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.place('web')).toContain("1 node(s) didn't match PersistentVolume's node affinity");
});

test('S14: released volumes of a node that was replaced are not matched', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1'] });
  await fixture.disk('old', '5Gi', 'n1');
  await fixture.claim('first', '5Gi');
  await fixture.pod('web', ['first']);
  await fixture.settle();
  await fixture.deletePod('web');
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'first' });
  await fixture.settle(3_000);
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await fixture.node('n1');
  await fixture.claim('second', '5Gi');
  await fixture.pod('next', ['second']);
  await fixture.settle();
  expect(await fixture.summary()).toContain('disk old Released to first');
  expect(await fixture.place('next')).toContain("1 node(s) didn't find available persistent volumes to bind");
});

test('S16: volumes that were created by other means count as soon as the driver publishes its capacity', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1'] });
  await trackedClass(fixture);
  await publishCapacity(fixture, 'n1', '10Gi');
  await patchCapacity(fixture, 'n1', { capacity: '4Gi' });
  await askAtOnce(fixture, ['web'], '5Gi');
  await fixture.settle();
  expect(await fixture.place('web')).toContain('1 node(s) did not have enough free storage');
});

test('S19: of two claims that fit one volume, the one that fits no other gets it', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: ['n1'] });
  const volumes = fixture.cluster.resource(persistentVolumes);
  await fixture.disk('ssd', '2Gi', 'n1');
  await volumes.patch({ name: 'ssd' }, { type: 'merge', body: { metadata: { labels: { kind: 'ssd' } } } });
  await fixture.disk('hdd', '3Gi', 'n1');
  await fixture.claim('a', '1Gi');
  await fixture.claim('b', '2Gi', { selector: { matchLabels: { kind: 'ssd' } } });
  await fixture.pod('web', ['a', 'b']);
  await fixture.settle();
  expect(await fixture.summary()).toEqual(expect.arrayContaining(['claim a has hdd', 'claim b has ssd']));
});

test('S20: a pod with volumes for all but one of its claims takes none, and another pod may have them', async () => {
  await using fixture = await SchedulerFixture.start({ nodes: [] });
  await fixture.node('n1', { labels: { [labels.zone]: 'a' } });
  for (const disk of ['d1', 'd2']) await fixture.disk(disk, '5Gi', 'n1');
  const claims = ['x', 'y', 'z'];
  for (const name of [...claims, 'v', 'w']) await fixture.claim(name, '5Gi');
  await fixture.pod('greedy', claims);
  await fixture.pod('modest', ['v', 'w']);
  await fixture.settle();
  expect(await fixture.place('modest')).toBe('n1');
  expect(await fixture.place('greedy')).toContain(
    "1 node(s) didn't find available persistent volumes to bind",
  );
});
