import { expect, test } from 'vitest';
import { isReason } from '../../kube/api-error.ts';
import { persistentVolumeClaims } from '../../kube/resources.ts';
import { noProvisioner } from '../../kube/well-known.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { LifecycleFixture, namespace } from './testing/lifecycle-fixture.ts';

const waiting = classOf({ metadata: { name: 'local' }, provisioner: noProvisioner });
const classes = [
  waiting,
  { ...waiting, metadata: { name: 'soon' }, volumeBindingMode: 'Immediate' as const },
];

async function startWith(className: string): Promise<LifecycleFixture> {
  const fixture = await LifecycleFixture.start({ classes });
  for (const name of ['one', 'two']) {
    await fixture.makeClaim(name, className);
    await fixture.makePod(`web-${name}`, [name]);
  }
  await fixture.settle();
  await fixture.makeLocalVolume('disk', 'a1', className);
  return fixture;
}

async function boundClaims(fixture: LifecycleFixture): Promise<readonly string[]> {
  const { items } = await fixture.cluster.resource(persistentVolumeClaims).list({ namespace });
  return items.map(({ spec, status }) => `${status?.phase} ${spec?.volumeName ?? '-'}`).sort();
}

test('of two claims that suit one volume, the binder gives it to one and the other waits', async () => {
  await using fixture = await startWith('soon');
  await fixture.settle();
  expect(await boundClaims(fixture)).toEqual(['Bound disk', 'Pending -']);
  await fixture.settle(3_600_000);
  expect(await boundClaims(fixture)).toEqual(['Bound disk', 'Pending -']);
});

test('of two schedulers that reserve one volume at once, one is refused, and its claim waits', async () => {
  await using fixture = await startWith('local');
  await fixture.settle();
  const outcomes = await Promise.allSettled(['one', 'two'].map((claim) => fixture.reserve('disk', claim)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(failures.map((error) => isReason(error, 'Conflict'))).toEqual([true]);
  await fixture.settle();
  expect(await boundClaims(fixture)).toEqual(['Bound disk', 'Pending -']);
});

test('the waiting claim gets the volume when the winner is gone and an administrator has cleared it', async () => {
  await using fixture = await startWith('soon');
  await fixture.settle();
  const winner = (await fixture.volume('disk')).spec?.claimRef?.name ?? '';
  await fixture.deletePod(`web-${winner}`);
  await fixture.deleteClaim(winner);
  await fixture.settle();
  expect((await fixture.volume('disk')).status?.phase).toBe('Released');
  expect(await boundClaims(fixture)).toEqual(['Pending -']);
  await fixture.patchVolume('disk', { spec: { claimRef: null } });
  await fixture.settle();
  expect(await boundClaims(fixture)).toEqual(['Bound disk']);
});

test('a pod whose claim lost does not run, the other one does', async () => {
  await using fixture = await startWith('soon');
  fixture.virtualTime.versions.isPaused = true;
  await fixture.settle();
  const winner = (await fixture.volume('disk')).spec?.claimRef?.name ?? '';
  const loser = winner === 'one' ? 'two' : 'one';
  for (const name of ['one', 'two']) await fixture.bindPod(`web-${name}`, 'a1');
  await fixture.settle();
  const lines = await fixture.lines();
  expect(lines).toContain(`pod web-${winner} Running on a1`);
  expect(lines).toContain(`pod web-${loser} Pending on a1`);
  expect((await fixture.eventsOf(`web-${loser}`)).join()).toMatch(/PVC is not bound/);
  expect(await fixture.mark(loser)).toBeUndefined();
});

test('two pods of one claim run together on one node; on another node the pod cannot reach the volume', async () => {
  await using fixture = await LifecycleFixture.start();
  await fixture.makeClaim();
  for (const name of ['one', 'two', 'three']) await fixture.makePod(name, ['data']);
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  await fixture.bindPod('one', 'a1');
  await fixture.settle();
  await fixture.bindPod('two', 'a1');
  await fixture.bindPod('three', 'a2');
  await fixture.settle();
  const lines = (await fixture.lines()).filter((line) => line.startsWith('pod'));
  expect(lines).toEqual(['pod one Running on a1', 'pod three Pending on a2', 'pod two Running on a1']);
  expect((await fixture.eventsOf('three')).join()).toMatch(
    /Multi-Attach error .*already used by pod\(s\) one, two/,
  );
  for (const name of ['one', 'two']) await fixture.deletePod(name);
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod three Running on a2');
});
