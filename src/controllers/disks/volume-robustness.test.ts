import { expect, test } from 'vitest';
import { replicas } from '../../kube/stowage/replica.ts';
import { acceptDataLossKey, type DiskVolumeStatus, diskVolumes } from '../../kube/stowage/volume.ts';
import { DisksFixture } from './testing/disks-fixture.ts';

const graceMs = 5 * 60_000;

async function healthyVolume(...limits: readonly number[]): Promise<DisksFixture> {
  const fixture = await DisksFixture.start(...limits);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
  await fixture.setHealthy('v-r0');
  await fixture.setHealthy('v-r1');
  return fixture;
}

async function statusOf({ environment }: DisksFixture): Promise<DiskVolumeStatus | undefined> {
  return (await environment.cluster.resource(diskVolumes).get({ name: 'v' })).status;
}

async function diskOf(fixture: DisksFixture, name: string): Promise<number> {
  const line = (await fixture.replicas()).find((each) => each.startsWith(name));
  return Number(line!.split(' ')[1]);
}

test('the robustness of a volume follows its replicas and their disks, with Events', async () => {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
  expect(await statusOf(fixture)).toMatchObject({ state: 'creating', robustness: 'unknown' });
  await fixture.setHealthy('v-r0');
  expect(await statusOf(fixture)).toMatchObject({ state: 'detached', robustness: 'degraded' });
  await fixture.setHealthy('v-r1');
  expect(await statusOf(fixture)).toMatchObject({ state: 'detached', robustness: 'healthy' });
  await fixture.setReady(1, false);
  expect(await statusOf(fixture)).toMatchObject({ robustness: 'degraded' });
  await fixture.setReady(2, false);
  expect(await statusOf(fixture)).toMatchObject({ robustness: 'faulted', faultedAt: expect.any(String) });
  await fixture.setReady(1, true);
  await fixture.setReady(2, true);
  expect(await statusOf(fixture)).toMatchObject({ robustness: 'healthy' });
  expect((await statusOf(fixture))?.faultedAt).toBeUndefined();
  const reasons = (await fixture.eventLines(/^Volume/)).map((line) => line.split(' ')[0]);
  expect(new Set(reasons)).toEqual(new Set(['VolumeHealthy', 'VolumeDegraded', 'VolumeFaulted']));
});

test('a replica that can not be reached is replaced after the grace time, and removed when the new one is healthy', async () => {
  const fixture = await healthyVolume(100, 100, 100);
  const away = await diskOf(fixture, 'v-r0');
  await fixture.setReady(away, false);
  await fixture.settle(graceMs - 60_000);
  expect((await fixture.replicas()).length).toBe(2);
  await fixture.settle(90_000);
  const names = (await fixture.replicas()).map((line) => line.split(' ')[0]);
  expect(names).toEqual(['v-r0', 'v-r1', 'v-r2']);
  expect(await statusOf(fixture)).toMatchObject({ robustness: 'degraded' });
  await fixture.setHealthy('v-r2');
  await fixture.settle(90_000);
  expect((await fixture.replicas()).map((line) => line.split(' ')[0])).toEqual(['v-r1', 'v-r2']);
  expect(await statusOf(fixture)).toMatchObject({ robustness: 'healthy' });
});

test('a volume whose only replica was deleted is faulted, until a user gives its data up', async () => {
  const fixture = await DisksFixture.start(100);
  const { cluster } = fixture.environment;
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
  await fixture.setHealthy('v-r0');
  await cluster.resource(replicas).delete({ name: 'v-r0' });
  await fixture.settle(graceMs);
  expect(await fixture.replicas()).toEqual([]);
  const status = await statusOf(fixture);
  expect(status).toMatchObject({ robustness: 'faulted' });
  const command = `kubectl annotate --overwrite volumes.stowage.dev v ${acceptDataLossKey}=${status?.faultedAt}`;
  expect((await fixture.allocation('v'))[1]).toMatch(/^False DataLost: /);
  expect((await fixture.allocation('v'))[1]).toContain(command);
  const annotate = async (value: string | undefined) => {
    const body = { metadata: { annotations: { [acceptDataLossKey]: value ?? '' } } };
    await cluster.resource(diskVolumes).patch({ name: 'v' }, { type: 'merge', body });
    await fixture.settle(10_000);
  };
  await annotate('2001-01-01T00:00:00Z');
  expect(await fixture.replicas()).toEqual([]);
  await annotate(status?.faultedAt);
  expect(await fixture.places('v')).toEqual(['1 10 running']);
  expect(await statusOf(fixture)).toMatchObject({ robustness: 'unknown' });
  const [name] = (await fixture.replicas())[0]!.split(' ');
  await fixture.setHealthy(name!);
  expect(await statusOf(fixture)).toMatchObject({ robustness: 'healthy' });
  expect((await statusOf(fixture))?.faultedAt).toBeUndefined();
});
