import { mkdtemp, open, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { replicas } from '../../../kube/stowage/replica.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { systemIds } from '../../../runtime/ids.ts';
import { ContentsHash, emptyContents } from '../files/contents-hash.ts';
import { DataFolder } from '../files/data-folder.ts';
import { type DataIdentity, parseIdentity } from '../files/data-identity.ts';
import { type HostFiles, hostFiles } from '../files/host-files.ts';
import { AgentFixture } from '../testing/agent-fixture.ts';
import { ReplicaChecksums } from './replica-checksums.ts';

const mebibyte = 2 ** 20;

/** A volume with one replica on node n1, and the path of its data. */
async function startWithReplica(): Promise<{ fixture: AgentFixture; name: string; path: string }> {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: 2 * mebibyte, numberOfReplicas: 1 });
  const [replica] = await fixture.untilRunning('v', 1);
  const name = replica?.metadata?.name ?? '';
  return { fixture, name, path: join(fixture.diskPath('n1'), 'replicas', name, 'data.img') };
}

async function identityOf(path: string): Promise<DataIdentity> {
  return parseIdentity(await readFile(path.replace('data.img', 'replica.json'), 'utf8'));
}

async function contentsAt(path: string): Promise<string> {
  const hash = new ContentsHash();
  hash.add(await readFile(path));
  return hash.digest();
}

/** Whether what is recorded is the checksum of the file as it is, and says so. */
async function isRecorded(path: string): Promise<boolean> {
  const { contentsSHA512, contentsBytes, contentsModifiedNs } = await identityOf(path);
  await using file = await open(path);
  const { size, mtimeNs } = await file.stat({ bigint: true });
  if (contentsBytes !== Number(size) || contentsModifiedNs !== String(mtimeNs)) return false;
  expect(contentsSHA512).toBe(await contentsAt(path));
  return true;
}

async function write(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'r+' });
}

/** Changes the data as a broken disk does: the file looks as if nothing had been written to it. */
async function damage(path: string): Promise<void> {
  const { contentsModifiedNs = '' } = await identityOf(path);
  await write(path, 'damaged');
  const seconds = Math.round(Number(contentsModifiedNs) / 1e6) / 1000;
  await utimes(path, seconds, seconds);
}

async function restart(fixture: AgentFixture): Promise<void> {
  await fixture.stop();
  fixture.runAgents(['n1']);
}

test('the checksum of a new replica is recorded with it, and that of one that is lengthened follows', async () => {
  const { fixture, path } = await startWithReplica();
  expect(await isRecorded(path)).toBe(true);
  expect((await identityOf(path)).contentsSHA512).toBe(emptyContents);
  await write(path, 'data');
  const body = { spec: { size: 3 * mebibyte } };
  await fixture.cluster.resource(diskVolumes).patch({ name: 'v' }, { type: 'merge', body });
  await fixture.until(() => isRecorded(path));
  expect(await identityOf(path)).toMatchObject({ size: 3 * mebibyte, contentsBytes: 3 * mebibyte });
});

test('data that was written is not damaged: its checksum is taken when the replica is found', async () => {
  const { fixture, path } = await startWithReplica();
  await fixture.stop();
  await write(path, 'data');
  expect(await isRecorded(path)).toBe(false);
  fixture.runAgents(['n1']);
  await fixture.until(() => isRecorded(path));
  await fixture.untilRunning('v', 1);
  // Found again, it is compared and stays as it is.
  const before = await identityOf(path);
  await restart(fixture);
  await fixture.settle(5_000);
  expect(await identityOf(path)).toEqual(before);
  expect((await fixture.replicasOf('v'))[0]?.status).toMatchObject({ currentState: 'running' });
});

test('data that nothing has written to and that is another one is reported, and stays', async () => {
  const { fixture, name, path } = await startWithReplica();
  await fixture.stop();
  await damage(path);
  fixture.runAgents(['n1']);
  await fixture.until(async () => (await fixture.replicasOf('v'))[0]?.status?.failedAt !== undefined);
  const [failed] = await fixture.replicasOf('v');
  const { contentsSHA512: recorded } = await identityOf(path);
  const found = await contentsAt(path);
  expect(failed?.status?.currentState).toBe('error');
  expect(failed?.status?.message).toBe(
    `${path} is damaged: the checksum of its contents is ${found}, and ${recorded} was recorded; nothing has written to the file since. Check the disk. If another replica of Volume v is healthy, delete Replica ${name}, and its data is copied again; to keep the data as it is, touch the file`,
  );
  await fixture.settle(130_000);
  expect((await fixture.replicasOf('v'))[0]?.status?.failedAt).toBeDefined();
  expect(String((await readFile(path)).subarray(0, 7))).toBe('damaged');
  const events = (await fixture.environment.eventLines()).filter((line) => line.startsWith('ReplicaDamaged'));
  expect(events).toHaveLength(1);

  // A user decides that the data is right.
  await utimes(path, new Date(), new Date());
  await fixture.untilRunning('v', 1);
  await fixture.until(() => isRecorded(path));
  expect((await fixture.replicasOf('v'))[0]?.status?.failedAt).toBeUndefined();
});

test('the checksum is taken when the instance is stopped and started, and not while it runs', async () => {
  const { fixture, name, path } = await startWithReplica();
  // Otherwise its controller would start it again.
  await fixture.cluster.resource(diskVolumes).delete({ name: 'v' });
  const want = async (desiredState: string) => {
    const body = { spec: { desiredState } };
    await fixture.cluster.resource(replicas).patch({ name }, { type: 'merge', body });
  };
  await write(path, 'data');
  await fixture.settle(65_000);
  expect(await isRecorded(path)).toBe(false);
  await want('stopped');
  await fixture.until(() => isRecorded(path));
  await write(path, 'more');
  await fixture.settle(65_000);
  expect(await isRecorded(path)).toBe(false);
  await want('running');
  await fixture.until(() => isRecorded(path));
});

test('a replica that was copied has its checksum from the start', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  await fixture.addVolume('v', { size: 2 * mebibyte, numberOfReplicas: 1 });
  const [old] = await fixture.untilRunning('v', 1);
  const [from, to] = old?.spec?.nodeID === 'n1' ? ['n1', 'n2'] : ['n2', 'n1'];
  await write(join(fixture.diskPath(from), 'replicas', old?.metadata?.name ?? '', 'data.img'), 'moved');
  const body = { spec: { evictionRequested: true } };
  await fixture.cluster.resource(storageNodes).patch({ name: from }, { type: 'merge', body });
  await fixture.until(async () => {
    const found = await fixture.replicasOf('v');
    return found.length === 1 && found[0]?.spec?.nodeID === to && found[0].status?.currentState === 'running';
  });
  const [moved] = await fixture.replicasOf('v');
  const path = join(fixture.diskPath(to), 'replicas', moved?.metadata?.name ?? '', 'data.img');
  expect(await isRecorded(path)).toBe(true);
  expect((await identityOf(path)).contentsSHA512).not.toBe(emptyContents);
});

test.each(['taken', 'compared'])(
  'a file that is written to while its checksum is %s is in use, and not damaged',
  async (moment) => {
    const diskPath = await mkdtemp(join(tmpdir(), 'replica-checksums-'));
    onTestFinished(() => rm(diskPath, { recursive: true }));
    let isInUse = false;
    const files = hostFiles(systemIds);
    const busy: HostFiles = {
      ...files,
      openData: async (path, isNew) => {
        const file = await files.openData(path, isNew);
        const read: typeof file.read = async (buffer, at) => {
          if (isInUse) await file.write(Buffer.from('written'), 0);
          return await file.read(buffer, at);
        };
        return { ...file, read };
      },
    };
    const folder = new DataFolder(busy, { diskPath, kind: 'Replica', name: 'r' });
    await folder.identify({ name: 'r', uid: 'u', volume: 'v', size: 100 });
    await folder.complete(100);
    const damages: string[] = [];
    const look = async () => {
      const context = { report: () => expect.unreachable() };
      const checksums = new ReplicaChecksums({ context, onDamage: (name) => damages.push(name) });
      checksums.look({ name: 'r', uid: 'u', volumeName: 'v', folder, diskUUID: 'd' });
      await expect.poll(() => checksums.isIdle).toBe(true);
    };
    if (moment === 'compared') {
      await look();
      expect(await isRecorded(folder.dataPath)).toBe(true);
    }
    isInUse = true;
    await look();
    expect([await isRecorded(folder.dataPath), damages]).toEqual([false, []]);
    isInUse = false;
    await look();
    expect([await isRecorded(folder.dataPath), damages]).toEqual([true, []]);
  },
);
