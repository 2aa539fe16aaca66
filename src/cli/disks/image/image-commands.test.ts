import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { VirtualTimeCluster } from '../../../controllers/testing/virtual-time-cluster.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { createBackingImage, createFromVolume } from './create.ts';
import { deleteUnusedImage } from './delete.ts';
import { checksumIn, durationIn, placementIn, requireImageName, sizeIn, urlIn } from './image-flags.ts';
import { readLocalImage } from './local-image.ts';
import { UploadTokens } from './upload-token.ts';

async function clusterWithKinds(): Promise<VirtualTimeCluster> {
  const environment = await VirtualTimeCluster.start();
  onTestFinished(() => environment[Symbol.asyncDispose]());
  await environment.installOwnKinds();
  return environment;
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'stowage-image-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

test('an image is created once; its name is not taken from another one', async () => {
  const { cluster } = await clusterWithKinds();
  const spec = { source: { download: { url: 'https://example.com/a' } }, ...placementIn({ copies: '2' }) };
  await createBackingImage(cluster, 'a', spec);
  expect((await cluster.resource(backingImages).get({ name: 'a' })).spec).toMatchObject({
    ...spec,
    minNumberOfCopies: 2,
  });
  await expect(createBackingImage(cluster, 'a', spec)).rejects.toThrow(
    'image a exists already; choose another name, or delete it with stowage disks image delete a',
  );
});

test('an image of a volume reserves the size of the volume, which must have data', async () => {
  const { cluster } = await clusterWithKinds();
  await expect(createFromVolume(cluster, 'a', 'v', {})).rejects.toThrow(
    'there is no Volume v; stowage disks',
  );
  const client = cluster.resource(diskVolumes);
  const identity = { apiVersion: 'stowage.dev/v1alpha1', kind: 'Volume', metadata: { name: 'v' } };
  const volume = await client.create({ ...identity, spec: { size: 100 } });
  await expect(createFromVolume(cluster, 'a', 'v', {})).rejects.toThrow('Volume v has no data yet');
  await client.update({ ...volume, status: { size: 100 } }, { subresource: 'status' });
  const { spec } = await createFromVolume(cluster, 'a', 'volume/v', { diskSelector: ['ssd'] });
  expect(spec).toMatchObject({ source: { volume: { name: 'v' } }, expectedSize: 100, diskSelector: ['ssd'] });
});

test('an image that volumes begin with is not deleted', async () => {
  const { cluster } = await clusterWithKinds();
  await createBackingImage(cluster, 'a', { source: { download: { url: 'https://example.com/a' } } });
  const client = cluster.resource(diskVolumes);
  const identity = { apiVersion: 'stowage.dev/v1alpha1', kind: 'Volume', metadata: { name: 'v' } };
  await client.create({ ...identity, spec: { size: 100, backingImage: 'a' } });
  await expect(deleteUnusedImage(cluster, 'a')).rejects.toThrow(
    'image a is used by the volumes v; delete them first',
  );
  await client.delete({ name: 'v' });
  await deleteUnusedImage(cluster, 'a');
  await expect(deleteUnusedImage(cluster, 'a')).rejects.toThrow(
    'there is no image a; stowage disks image list',
  );
});

test.each([
  [() => requireImageName('Ubuntu'), /^image "Ubuntu": /],
  [() => requireImageName('../a'), /^image "\.\.\/a": /],
  [() => placementIn({ copies: '0' }), '--copies: "0" must be a number from 1 to 100'],
  [() => placementIn({ copies: '101' }), '--copies: "101" must be a number from 1 to 100'],
  [() => placementIn({ copies: '1e2' }), '--copies: "1e2" must be a number'],
  [() => checksumIn('abc'), '--checksum: must be SHA-512'],
  [() => checksumIn('A'.repeat(128)), '--checksum: must be SHA-512'],
  [() => urlIn('file:///etc/passwd'), '--url: "file:///etc/passwd" must begin with http:// or https://'],
  [() => urlIn('example.com'), '--url: "example.com" must begin'],
  [() => sizeIn('0'), '--expected-size: "0" must be a quantity above 0'],
  [() => sizeIn('-1Gi'), '--expected-size: "-1Gi" must be'],
  [() => sizeIn('many'), '--expected-size: "many" must be'],
  [() => durationIn('--timeout', '5', 1), '--timeout: "5" must be a duration'],
  [() => durationIn('--timeout', '-5s', 1), '--timeout: "-5s" must be a duration'],
])('bad flags are refused before anything is written: %#', (call, message) => {
  expect(call).toThrow(message);
});

test('good flags are read', () => {
  expect(sizeIn('3Gi')).toBe(3 * 2 ** 30);
  expect(durationIn('--timeout', '90s', 1)).toBe(90_000);
  expect(checksumIn('a'.repeat(128))).toBe('a'.repeat(128));
  expect(placementIn({})).toEqual({});
});

test('a file is hashed as sha512sum does; folders, empty and missing files are refused', async () => {
  const at = await folder();
  const path = join(at, 'image');
  await writeFile(path, 'abc');
  expect(await readLocalImage(path, () => {})).toEqual({
    path,
    sizeBytes: 3,
    checksum:
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
  });
  await writeFile(path, '');
  await expect(readLocalImage(path, () => {})).rejects.toThrow('is empty; an image has at least one byte');
  await expect(readLocalImage(at, () => {})).rejects.toThrow('is not a regular file');
  await expect(readLocalImage(join(at, 'missing'), () => {})).rejects.toThrow(
    /missing: it, or its directory, does not exist/,
  );
});

test('the token of an upload is found again by its hash, and only its owner can read it', async () => {
  const at = join(await folder(), 'state');
  const tokens = new UploadTokens(at);
  const { token, hash } = await tokens.add();
  expect(await tokens.find(hash)).toBe(token);
  expect((await stat(join(at, hash))).mode & 0o077).toBe(0);
  expect(await tokens.find('../../etc/passwd')).toBeUndefined();
  expect(await tokens.find('0'.repeat(64))).toBeUndefined();
  await writeFile(join(at, hash), `${await readFile(join(at, hash), 'utf8')}x`);
  expect(await tokens.find(hash)).toBeUndefined();
  await tokens.delete(hash);
  expect(await readdir(at)).toEqual([]);
});
