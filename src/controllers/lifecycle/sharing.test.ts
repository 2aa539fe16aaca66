import { expect, test } from 'vitest';
import { isReason } from '../../kube/api-error.ts';
import { persistentVolumeClaims } from '../../kube/resources.ts';
import { noProvisioner } from '../../kube/well-known.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { Life, namespace } from './testing/life.ts';

const waiting = classOf({ metadata: { name: 'local' }, provisioner: noProvisioner });
const classes = [
  waiting,
  { ...waiting, metadata: { name: 'soon' }, volumeBindingMode: 'Immediate' as const },
];

async function startWith(className: string): Promise<Life> {
  const life = await Life.start({ classes });
  for (const name of ['one', 'two']) {
    await life.makeClaim(name, className);
    await life.makePod(`web-${name}`, [name]);
  }
  await life.settle();
  await life.makeLocalVolume('disk', 'a1', className);
  return life;
}

async function boundClaims(life: Life): Promise<readonly string[]> {
  const { items } = await life.cluster.resource(persistentVolumeClaims).list({ namespace });
  return items.map(({ spec, status }) => `${status?.phase} ${spec?.volumeName ?? '-'}`).sort();
}

test('of two claims that the binder may give one volume, one gets it and the other waits', async () => {
  await using life = await startWith('soon');
  await life.settle();
  expect(await boundClaims(life)).toEqual(['Bound disk', 'Pending -']);
  await life.settle(3_600_000);
  expect(await boundClaims(life)).toEqual(['Bound disk', 'Pending -']);
});

test('of two schedulers that reserve one volume at once, one is refused, and its claim waits', async () => {
  await using life = await startWith('local');
  await life.settle();
  const outcomes = await Promise.allSettled(['one', 'two'].map((claim) => life.reserve('disk', claim)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(failures.map((error) => isReason(error, 'Conflict'))).toEqual([true]);
  await life.settle();
  expect(await boundClaims(life)).toEqual(['Bound disk', 'Pending -']);
});

test('the one who waited gets the volume when the winner is gone and somebody has cleared it', async () => {
  await using life = await startWith('soon');
  await life.settle();
  const winner = (await life.volume('disk')).spec?.claimRef?.name ?? '';
  await life.deletePod(`web-${winner}`);
  await life.deleteClaim(winner);
  await life.settle();
  expect((await life.volume('disk')).status?.phase).toBe('Released');
  expect(await boundClaims(life)).toEqual(['Pending -']);
  await life.patchVolume('disk', { spec: { claimRef: null } });
  await life.settle();
  expect(await boundClaims(life)).toEqual(['Bound disk']);
});

test('a pod whose claim lost does not run, the other one does', async () => {
  await using life = await startWith('soon');
  await life.settle();
  const winner = (await life.volume('disk')).spec?.claimRef?.name ?? '';
  const loser = winner === 'one' ? 'two' : 'one';
  for (const name of ['one', 'two']) await life.bindPod(`web-${name}`, 'a1');
  await life.settle();
  const lines = await life.lines();
  expect(lines).toContain(`pod web-${winner} Running on a1`);
  expect(lines).toContain(`pod web-${loser} Pending on a1`);
  expect((await life.toldOf(`web-${loser}`)).join()).toMatch(/PVC is not bound/);
  expect(await life.mark(loser)).toBeUndefined();
});

test('two pods of one claim run together on one node; from another node the volume is out of reach', async () => {
  await using life = await Life.start();
  await life.makeClaim();
  for (const name of ['one', 'two', 'three']) await life.makePod(name, ['data']);
  await life.selectNode('data', 'a1');
  await life.settle();
  await life.bindPod('one', 'a1');
  await life.settle();
  await life.bindPod('two', 'a1');
  await life.bindPod('three', 'a2');
  await life.settle();
  const lines = (await life.lines()).filter((line) => line.startsWith('pod'));
  expect(lines).toEqual(['pod one Running on a1', 'pod three Pending on a2', 'pod two Running on a1']);
  expect((await life.toldOf('three')).join()).toMatch(
    /Multi-Attach error .*already used by pod\(s\) one, two/,
  );
  for (const name of ['one', 'two']) await life.deletePod(name);
  await life.settle();
  expect(await life.lines()).toContain('pod three Running on a2');
});
