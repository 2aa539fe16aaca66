import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ApiClient } from './api-client.ts';
import { callStowage, StowageProcess, temporaryFolder } from './stowage-process.ts';

/** A file system of that size, which only root can create; undefined for other users. */
function smallDisk(kibibytes: number): string | undefined {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

// The first is too small to start, the second too small for the writes.
test.for([100, 300])('a full disk of %i KiB is reported with a remedy', async (kibibytes, { skip }) => {
  const disk = smallDisk(kibibytes);
  if (disk === undefined) return skip('only root can make such a disk');
  const data = join(disk, 'data');
  const { status, stderr } = await callStowage('up', '--demo', '--data', data, '--port', '0');
  expect([status, stderr.trimEnd().split('\n').at(-1)]).toEqual([
    1,
    expect.stringMatching(/^stowage: the d.* full; .*choose another with --data$/),
  ]);
});

test('a server whose disk becomes full refuses to store, deletes, and continues when there is space', async ({
  skip,
}) => {
  const disk = smallDisk(8192);
  if (disk === undefined) return skip('only root can make such a disk');
  const stowage = await StowageProcess.up(join(disk, 'data'), '--controllers', 'none');
  const client = new ApiClient(stowage.access);
  const path = '/api/v1/namespaces/default/configmaps';
  const create = (name: string) =>
    client.call('POST', path, { body: { metadata: { name }, data: { text: 'x'.repeat(100_000) } } });
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize));
  const names = Array.from({ length: 20 }, (_, index) => `object-${index}`);
  const statuses: number[] = [];
  // Concurrent writes fail together; LMDB itself must not notice.
  for (let round = 0; round < 10; round += 1) {
    const replies = await Promise.all(names.map((name) => create(`${name}-${round}`)));
    statuses.push(...replies.map(({ status }) => status));
  }
  expect(new Set(statuses)).toEqual(new Set([201, 507]));
  const stored = (await client.call('GET', path)).body.items?.at(0)?.metadata.name ?? '';
  expect(await client.call('DELETE', `${path}/${stored}`)).toMatchObject({ status: 200 });
  rmSync(join(disk, 'ballast'));
  expect(await create('afterwards')).toMatchObject({ status: 201 });
  client.close();
  expect(await stowage.stop()).toEqual({ status: 0, signal: null });
});

test('a full disk does not keep a server with data from starting: it serves, refuses to store, and recovers', async ({
  skip,
}) => {
  const disk = smallDisk(8192);
  if (disk === undefined) return skip('only root can make such a disk');
  const data = join(disk, 'data');
  const first = await StowageProcess.up(data, '--controllers', 'none');
  const { url } = first.access;
  await first.stop();
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize));

  // The address of before, so that the kubeconfig of before is right.
  const second = await StowageProcess.up(data, '--controllers', 'none', '--port', new URL(url).port);
  const client = new ApiClient(second.access);
  const maps = '/api/v1/namespaces/default/configmaps';
  const create = () =>
    client.call('POST', maps, {
      body: { metadata: { generateName: 'a-' }, data: { text: 'x'.repeat(500_000) } },
    });
  expect(await client.call('GET', '/api/v1/namespaces/default')).toMatchObject({ status: 200 });
  const refused = [await create(), await create(), await create()].find(({ status }) => status !== 201);
  expect(refused).toMatchObject({ status: 507 });

  rmSync(join(disk, 'ballast'));
  expect(await create()).toMatchObject({ status: 201 });
  client.close();
  expect(await second.stop()).toEqual({ status: 0, signal: null });
});

test('a kubeconfig that finds no space is written when there is some', async ({ skip }) => {
  const disk = smallDisk(8192);
  if (disk === undefined) return skip('only root can make such a disk');
  const data = join(disk, 'data');
  await (await StowageProcess.up(data, '--controllers', 'none')).stop();
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize));
  const kubeconfig = join(disk, 'another');
  const stowage = await StowageProcess.up(data, '--controllers', 'none', '--kubeconfig', kubeconfig);
  expect(stowage.stderr).toContain(`cannot write the kubeconfig ${kubeconfig}: the disk is full`);
  expect(readdirSync(disk).sort()).toEqual(['ballast', 'data']);
  rmSync(join(disk, 'ballast'));
  await expect.poll(() => existsSync(kubeconfig), { timeout: 30_000 }).toBe(true);
  const client = new ApiClient(stowage.access);
  expect(await client.call('GET', '/api/v1/namespaces/default')).toMatchObject({ status: 200 });
  client.close();
  expect(await stowage.stop()).toEqual({ status: 0, signal: null });
});
