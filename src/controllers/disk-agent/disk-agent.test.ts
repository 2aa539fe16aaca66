import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getCondition } from '../../kube/conditions.ts';
import { leases, nodes } from '../../kube/resources.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { diskAgentFinalizer, replicas } from '../../kube/stowage/replica.ts';
import { forceRemovalKey, storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { emptyContents } from './files/contents-hash.ts';
import { AgentFixture } from './testing/agent-fixture.ts';

const mebibyte = 2 ** 20;

test('a new disk gets a UUID, and its StorageNode figures', async () => {
  const fixture = await AgentFixture.start('n1');
  const { status } = await fixture.node('n1');
  const disk = status?.diskStatus?.default;
  const { diskUUID } = JSON.parse(String(await fixture.read('n1', 'stowage-disk.json')));
  expect(disk?.diskUUID).toBe(diskUUID);
  expect(disk?.storageMaximum).toBeGreaterThan(0);
  expect(disk?.storageAvailable).toBeLessThanOrEqual(disk?.storageMaximum ?? 0);
  expect(await fixture.diskReady('n1')).toBe('True DiskAnswers');
  expect(status?.upload).toMatchObject({ url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/) });
});

test('a status that has not changed is not written again', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.settle(5_000);
  const before = await fixture.node('n1');
  // The free bytes of the machine may change: what counts is that equal figures cause no write.
  await fixture.settle(65_000);
  const after = await fixture.node('n1');
  if (after.metadata?.resourceVersion !== before.metadata?.resourceVersion)
    expect(after.status).not.toEqual(before.status);
});

test('region and zone come from the Node', async () => {
  const fixture = await AgentFixture.start('n1');
  const labels = { 'topology.kubernetes.io/zone': 'z1', 'topology.kubernetes.io/region': 'r1' };
  await fixture.cluster
    .resource(nodes)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels } });
  await fixture.until(async () => (await fixture.node('n1')).status?.zone === 'z1');
  expect((await fixture.node('n1')).status?.region).toBe('r1');
});

test('an existing StorageNode is not changed', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.stop();
  await mkdir(join(fixture.root, 'other'));
  const spec = { disks: { mine: { path: join(fixture.root, 'other') } } };
  const body = { apiVersion: 'stowage.dev/v1alpha1', kind: 'StorageNode', metadata: { name: 'n2' }, spec };
  await fixture.cluster.resource(storageNodes).create(body);
  await mkdir(fixture.diskPath('n2'));
  fixture.runAgents(['n2']);
  await fixture.until(async () => (await fixture.diskUUID('n2', 'mine')) !== undefined);
  expect(Object.keys((await fixture.node('n2')).spec?.disks ?? {})).toEqual(['mine']);
});

test('replicas are sparse files of the granted size, and their identity is beside them', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  await fixture.addVolume('v', { size: 64 * mebibyte, numberOfReplicas: 2 });
  const made = await fixture.untilRunning('v', 2);
  for (const { metadata, spec, status } of made) {
    const name = metadata?.name ?? '';
    const [bytes, occupied] = (await fixture.fileSize(spec?.nodeID ?? '', `replicas/${name}/data.img`)) ?? [];
    expect([bytes, occupied]).toEqual([64 * mebibyte, 0]);
    expect(status).toMatchObject({ size: 64 * mebibyte, healthyAt: expect.any(String) });
    expect(metadata?.finalizers).toContain(diskAgentFinalizer);
    const identity = JSON.parse(
      String(await fixture.read(spec?.nodeID ?? '', `replicas/${name}/replica.json`)),
    );
    expect(identity).toEqual({
      name,
      uid: metadata?.uid,
      volume: 'v',
      size: 64 * mebibyte,
      contentsSHA512: emptyContents,
      contentsBytes: 64 * mebibyte,
      contentsModifiedNs: expect.stringMatching(/^\d+$/),
    });
  }
});

test('a file grows with its volume, and is removed with its replica', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: 8 * mebibyte, numberOfReplicas: 1 });
  const [replica] = await fixture.untilRunning('v', 1);
  const path = `replicas/${replica?.metadata?.name}/data.img`;
  await writeFile(join(fixture.diskPath('n1'), path), 'data', { flag: 'r+' });
  await fixture.cluster
    .resource(diskVolumes)
    .patch({ name: 'v' }, { type: 'merge', body: { spec: { size: 16 * mebibyte } } });
  await fixture.until(async () => (await fixture.fileSize('n1', path))?.[0] === 16 * mebibyte);
  expect(String((await fixture.read('n1', path)).subarray(0, 4))).toBe('data');
  await fixture.cluster.resource(diskVolumes).delete({ name: 'v' });
  for (const { metadata } of await fixture.replicasOf('v'))
    await fixture.cluster.resource(replicas).delete({ name: metadata?.name ?? '' });
  await fixture.until(async () => (await fixture.replicasOf('v')).length === 0);
  expect(await readdir(join(fixture.diskPath('n1'), 'replicas'))).toEqual([]);
  const { items } = await fixture.cluster.resource(diskSchedules).list();
  expect(items[0]?.spec?.replicas ?? {}).toEqual({});
});

test('after a restart a file is adopted with its data', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  const [replica] = await fixture.untilRunning('v', 1);
  const path = `replicas/${replica?.metadata?.name}/data.img`;
  await writeFile(join(fixture.diskPath('n1'), path), 'kept', { flag: 'r+' });
  await fixture.stop();
  fixture.runAgents(['n1']);
  await fixture.settle(5_000);
  expect(String((await fixture.read('n1', path)).subarray(0, 4))).toBe('kept');
  const [after] = await fixture.untilRunning('v', 1);
  expect(after?.status?.healthyAt).toBe(replica?.status?.healthyAt);
});

test('the data of another replica is neither used nor removed', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  const [replica] = await fixture.untilRunning('v', 1);
  const name = replica?.metadata?.name ?? '';
  await fixture.stop();
  const file = join(fixture.diskPath('n1'), `replicas/${name}/replica.json`);
  await writeFile(file, JSON.stringify({ name, uid: 'another', volume: 'v', size: mebibyte }));
  fixture.runAgents(['n1']);
  await fixture.until(async () => (await fixture.replicasOf('v'))[0]?.status?.currentState === 'error');
  const [failed] = await fixture.replicasOf('v');
  expect(failed?.status?.message).toContain('has the data of replica another');
  await fixture.cluster.resource(replicas).delete({ name });
  await fixture.settle(5_000);
  expect(await readdir(join(fixture.diskPath('n1'), 'replicas', name))).toEqual(['data.img', 'replica.json']);
});

test('a healthy replica whose file is gone has failed; no empty file takes its place', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  const [replica] = await fixture.untilRunning('v', 1);
  await fixture.stop();
  await rm(join(fixture.diskPath('n1'), `replicas/${replica?.metadata?.name}`), { recursive: true });
  fixture.runAgents(['n1']);
  await fixture.until(async () => (await fixture.replicasOf('v'))[0]?.status?.failedAt !== undefined);
  expect(await readdir(join(fixture.diskPath('n1'), 'replicas'))).toEqual([]);
});

test('a replica whose disk is away fails after a minute, is not deleted, and comes back', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  await fixture.untilRunning('v', 1);
  const figures = (await fixture.node('n1')).status?.diskStatus?.default;
  await rename(fixture.diskPath('n1'), `${fixture.diskPath('n1')}-away`);
  await fixture.until(async () => (await fixture.diskReady('n1')) === 'False PathMissing');
  expect((await fixture.replicasOf('v'))[0]?.status?.failedAt).toBeUndefined();
  const { conditions: _, ...kept } = (await fixture.node('n1')).status?.diskStatus?.default ?? {};
  const { conditions: __, ...before } = figures ?? {};
  expect(kept).toEqual(before);
  await fixture.until(async () => (await fixture.replicasOf('v'))[0]?.status?.failedAt !== undefined);
  await rename(`${fixture.diskPath('n1')}-away`, fixture.diskPath('n1'));
  const [back] = await fixture.untilRunning('v', 1);
  expect(back?.status?.failedAt).toBeUndefined();
});

test('a replica whose disk is away is deleted only when the disk is given up', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  const [replica] = await fixture.untilRunning('v', 1);
  const name = replica?.metadata?.name ?? '';
  await rename(fixture.diskPath('n1'), `${fixture.diskPath('n1')}-away`);
  await fixture.until(async () => (await fixture.diskReady('n1')) === 'False PathMissing');
  await fixture.cluster.resource(diskVolumes).delete({ name: 'v' });
  await fixture.cluster.resource(replicas).delete({ name });
  await fixture.until(async () => (await fixture.replicasOf('v'))[0]?.status?.message !== undefined);
  expect((await fixture.replicasOf('v'))[0]?.status?.message).toContain(
    'annotate StorageNode n1 with stowage.dev/force-removal=true',
  );
  const body = { metadata: { annotations: { [forceRemovalKey]: 'true' } } };
  await fixture.cluster.resource(storageNodes).patch({ name: 'n1' }, { type: 'merge', body });
  await fixture.until(async () => (await fixture.replicasOf('v')).length === 0);
  const away = join(`${fixture.diskPath('n1')}-away`, 'replicas', name);
  expect(await readdir(away)).toEqual(['data.img', 'replica.json']);
});

test('an evicted replica takes its data along', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  const [old] = await fixture.untilRunning('v', 1);
  const from = old?.spec?.nodeID ?? '';
  const to = from === 'n1' ? 'n2' : 'n1';
  await writeFile(join(fixture.diskPath(from), `replicas/${old?.metadata?.name}/data.img`), 'moved', {
    flag: 'r+',
  });
  const body = { spec: { evictionRequested: true } };
  await fixture.cluster.resource(storageNodes).patch({ name: from }, { type: 'merge', body });
  await fixture.until(async () => {
    const found = await fixture.replicasOf('v');
    return found.length === 1 && found[0]?.spec?.nodeID === to && found[0].status?.currentState === 'running';
  });
  const [moved] = await fixture.replicasOf('v');
  const content = await fixture.read(to, `replicas/${moved?.metadata?.name}/data.img`);
  expect([content.length, String(content.subarray(0, 5))]).toEqual([mebibyte, 'moved']);
  expect(await readdir(join(fixture.diskPath(from), 'replicas'))).toEqual([]);
});

test('a mount point without its disk is not used as a new disk', async () => {
  const fixture = await AgentFixture.start('n1');
  const uuid = await fixture.diskUUID('n1');
  await rename(fixture.diskPath('n1'), `${fixture.diskPath('n1')}-away`);
  await mkdir(fixture.diskPath('n1'));
  await fixture.until(async () => (await fixture.diskReady('n1')) === 'False IdentityMissing');
  expect(await readdir(fixture.diskPath('n1'))).toEqual([]);
  await writeFile(
    join(fixture.diskPath('n1'), 'stowage-disk.json'),
    JSON.stringify({ diskUUID: '11111111-2222-4333-8444-555555555555' }),
  );
  await fixture.until(async () => (await fixture.diskReady('n1')) === 'False DiskUUIDChanged');
  expect(await fixture.diskUUID('n1')).toBe(uuid);
});

test('a disk that does not answer keeps its figures', async () => {
  const fixture = await AgentFixture.start('n1');
  const uuid = await fixture.diskUUID('n1');
  fixture.files.hanging.add(fixture.diskPath('n1'));
  await fixture.until(async () => (await fixture.diskReady('n1')) === 'False NotAnswering');
  expect(await fixture.diskUUID('n1')).toBe(uuid);
});

test.each([
  ['a second disk on the same filesystem', {}, 'False DuplicateFilesystem'],
  ['a device', { diskType: 'block' as const }, 'False UnsupportedDiskType'],
  ['a path that does not exist', { path: '/nonexistent/disk' }, 'False PathMissing'],
  ['a file', { path: '/etc/hostname' }, 'False NotADirectory'],
  ['a directory that nothing can be written to', { path: '/proc' }, 'False NotWritable'],
])('%s is not ready', async (_name, fields, expected) => {
  const fixture = await AgentFixture.start('n1');
  const path = join(fixture.root, 'second');
  await mkdir(path);
  const body = { spec: { disks: { a: { path, ...fields } } } };
  await fixture.cluster.resource(storageNodes).patch({ name: 'n1' }, { type: 'merge', body });
  await fixture.until(async () => (await fixture.diskReady('n1', 'a')) !== 'undefined undefined');
  // The disk that was in use stays in use, although the other name comes first.
  expect([await fixture.diskReady('n1', 'a'), await fixture.diskReady('n1')]).toEqual([
    expected,
    'True DiskAnswers',
  ]);
  const ready = (await fixture.node('n1')).status?.conditions?.find(({ type }) => type === 'Ready');
  expect([ready?.status, ready?.reason]).toEqual(['True', 'SomeDisksNotReady']);
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  await fixture.untilRunning('v', 1);
});

test('folders without an owner are reported, and never removed', async () => {
  const fixture = await AgentFixture.start('n1');
  const path = join(fixture.diskPath('n1'), 'replicas');
  await mkdir(join(path, 'stranger'), { recursive: true });
  await writeFile(join(path, 'stranger', 'data.img'), 'precious');
  await mkdir(join(path, 'gone'));
  await writeFile(
    join(path, 'gone', 'replica.json'),
    JSON.stringify({ name: 'gone', uid: 'u', volume: 'v', size: 1 }),
  );
  await mkdir(join(path, 'Not A Name'));
  const orphaned = async () =>
    (await fixture.node('n1')).status?.diskStatus?.default?.conditions?.find(
      ({ type }) => type === 'OrphanedData',
    );
  await fixture.until(async () => (await orphaned())?.status === 'True');
  expect((await orphaned())?.message).toContain('in replicas/Not A Name, replicas/gone, replicas/stranger;');
  await fixture.settle(65_000);
  expect(await readdir(path)).toEqual(['Not A Name', 'gone', 'stranger']);
  expect(
    (await fixture.environment.eventLines()).filter((line) => line.startsWith('OrphanedData')),
  ).toHaveLength(1);
  await rm(path, { recursive: true });
  await fixture.until(async () => (await orphaned())?.status === 'False');
});

test('a node whose agent has ended is not ready within a minute, until the agent runs again', async () => {
  const fixture = await AgentFixture.start('n1');
  const ready = async () => getCondition((await fixture.node('n1')).status?.conditions, 'Ready');
  await fixture.until(async () => (await fixture.node('n1')).status?.agentLease !== undefined);
  await fixture.settle(90_000);
  expect(await ready()).toMatchObject({ status: 'True' });
  await fixture.stop();
  await fixture.settle(60_000);
  expect(await ready()).toMatchObject({
    status: 'Unknown',
    reason: 'AgentLost',
    message: expect.stringContaining('Lease kube-system/stowage-disk-heartbeat-n1'),
  });
  expect(await fixture.environment.eventLines()).toContainEqual(expect.stringContaining('AgentLost n1: '));
  fixture.runAgents(['n1']);
  await fixture.until(async () => (await ready())?.status === 'True');
});

test('clocks that differ do not matter for the heartbeat of an agent', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.until(async () => (await fixture.node('n1')).status?.agentLease !== undefined);
  await fixture.stop();
  const client = fixture.cluster.resource(leases);
  const key = { namespace: 'kube-system', name: 'stowage-disk-heartbeat-n1' };
  for (let round = 0; round < 12; round += 1) {
    const renewTime = `2001-01-01T00:00:${10 + round}.000000Z`;
    await client.patch(key, { type: 'merge', body: { spec: { renewTime } } });
    await fixture.settle(10_000);
  }
  const { status } = await fixture.node('n1');
  expect(getCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
});
