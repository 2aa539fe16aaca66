import { createHash, randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type BackingImageSpec, backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { diskAgentFinalizer } from '../../../kube/stowage/replica.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { lineLog } from '../../../runtime/log.ts';
import { AgentFixture } from '../testing/agent-fixture.ts';
import { FileServer } from '../testing/file-server.ts';

const mebibyte = 2 ** 20;
const data = randomBytes(3 * mebibyte);
const checksum = createHash('sha512').update(data).digest('hex');

function downloadOf(url: string, more: Partial<BackingImageSpec> = {}): BackingImageSpec {
  return { source: { download: { url } }, expectedSize: data.length, checksum, ...more };
}

test('an image is downloaded, checked and recorded', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({ data });
  await fixture.addImage('i', downloadOf(server.url));
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
  const { metadata, status } = await fixture.image('i');
  expect(status?.size).toBe(data.length);
  expect(metadata?.finalizers).toContain(diskAgentFinalizer);
  const identity = JSON.parse(String(await fixture.read('n1', 'images/i/image.json')));
  expect(identity).toEqual({ name: 'i', uid: metadata?.uid, size: data.length, sha512: checksum });
  expect(await readdir(join(fixture.diskPath('n1'), 'images/i'))).toEqual(['data.img', 'image.json']);
});

test('a download that breaks off is continued where it ended', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({ data, breaks: [mebibyte, mebibyte] });
  await fixture.addImage('i', downloadOf(server.url));
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
  expect(server.ranges).toHaveLength(3);
  expect(server.ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range))).toBe(true);
});

test('a file that changed during the download is fetched again from the beginning', async () => {
  const fixture = await AgentFixture.start('n1');
  const other = randomBytes(2 * mebibyte);
  const server = await FileServer.start({ data: other, breaks: [mebibyte] });
  await fixture.addImage('i', downloadOf(server.url));
  await fixture.until(async () => server.ranges.length === 1);
  server.data = data;
  server.etag = '"2"';
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
});

test('a download is continued after a restart of the agent', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({ data, breaks: [2 * mebibyte, 0] });
  await fixture.addImage('i', downloadOf(server.url));
  await fixture.until(async () => (await fixture.copy('i', 'n1')).includes('tries again'));
  await fixture.stop();
  fixture.runAgents(['n1']);
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(server.ranges.at(-1)).toMatch(/^bytes=[1-9]\d*-$/);
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
});

test.each([
  [
    'another checksum',
    { checksum: 'a'.repeat(128) },
    /the data has the SHA-512 [0-9a-f]{128}, and spec.checksum/,
  ],
  [
    'more bytes than were granted',
    { expectedSize: mebibyte },
    /has 3145728 bytes, and at most 1048576 may be used/,
  ],
] as const)('%s makes the copy fail, and its data is not kept', async (_name, more, message) => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({ data });
  await fixture.addImage('i', downloadOf(server.url, more));
  await fixture.until(async () => fixture.failures.length > 0);
  expect(fixture.failures[0]).toMatch(message);
  expect(await fixture.fileSize('n1', 'images/i/data.img')).toBeUndefined();
  await fixture.settle();
  const events = (await fixture.environment.eventLines()).filter((line) => line.startsWith('CopyFailed i:'));
  expect(events[0]).toMatch(message);
  expect(events[0]).toMatch(/; it is not tried again on this disk$/);
});

test('a download without a stated length stops at the grant', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({
    data,
    answer: (_request, response) => {
      response.writeHead(200);
      response.write(data, () => response.end(data));
      return true;
    },
  });
  await fixture.addImage('i', downloadOf(server.url, { checksum: undefined as never }));
  await fixture.until(async () => fixture.failures.length > 0);
  expect(fixture.failures[0]).toContain('has more than 3145728 bytes');
});

test('without spec.expectedSize the length of the source is read, granted, and then the image is downloaded', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  const server = await FileServer.start({ data });
  await fixture.addImage('i', { source: { download: { url: server.url } }, checksum });
  await fixture.until(async () => (await fixture.image('i')).status?.size !== undefined);
  const { spec, status } = await fixture.image('i');
  expect([status?.sourceSize, status?.size]).toEqual([data.length, data.length]);
  // The bytes were granted before they were there: otherwise the verdict would have the reason Adopted.
  const [name = ''] = Object.keys(spec?.diskFileSpecMap ?? {});
  const schedule = await fixture.cluster.resource(diskSchedules).get({ name });
  const verdict = { state: 'scheduled', scheduledSize: data.length, observedSize: data.length };
  expect(schedule.status?.backingImages?.i).toEqual(verdict);
  expect(server.ranges).toHaveLength(2);
});

test('an image of a volume without spec.expectedSize gets the size of the volume', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addVolume('v', { size: 2 * mebibyte, numberOfReplicas: 1 });
  await fixture.untilRunning('v', 1);
  await fixture.addImage('i', { source: { volume: { name: 'v' } } });
  await fixture.untilCopy('i', 'n1', 'ready');
  expect((await fixture.image('i')).status).toMatchObject({ sourceSize: 2 * mebibyte, size: 2 * mebibyte });
});

test('a server that does not report a length gets no disk, and the condition names spec.expectedSize', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({
    data,
    answer: (_request, response) => {
      response.writeHead(200);
      response.write(data.subarray(0, 10), () => response.end(data.subarray(10)));
      return true;
    },
  });
  await fixture.addImage('i', { source: { download: { url: server.url } } });
  await fixture.until(async () => fixture.failures.length > 0);
  const problem = 'the server does not report the length of the data; set spec.expectedSize';
  expect(fixture.failures[0]).toBe(problem);
  await fixture.settle();
  const { conditions = [] } = (await fixture.image('i')).status ?? {};
  const allocation = conditions.find(({ type }) => type === 'DiskAllocation');
  expect([allocation?.status, allocation?.reason]).toEqual(['False', 'SizeUnknown']);
  expect(allocation?.message).toContain(problem);
  expect(await fixture.fileSize('n1', 'images/i/data.img.part')).toBeUndefined();
  // The remedy takes effect without the delay of the failure.
  const body = { spec: { expectedSize: data.length } };
  await fixture.cluster.resource(backingImages).patch({ name: 'i' }, { type: 'merge', body });
  await fixture.settle(5_000);
  expect(await fixture.copy('i', 'n1')).toBe('ready');
});

test('a source that has grown since its length was read ends the copy with an error', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({
    data,
    answer: (_request, response) => {
      if (server.ranges.push('') > 1) return false;
      response.writeHead(200, { 'content-length': mebibyte }).end(data.subarray(0, mebibyte));
      return true;
    },
  });
  await fixture.addImage('i', { source: { download: { url: server.url } } });
  await fixture.until(async () => fixture.failures.length > 0);
  expect(fixture.failures[0]).toBe(
    'the data has 3145728 bytes, and at most 1048576 may be used: the disk has granted no more; raise spec.expectedSize',
  );
  expect(await fixture.fileSize('n1', 'images/i/data.img')).toBeUndefined();
});

test.each([
  ['status 404', (url: string) => url, 404, {}, 'answered with status 404'],
  ['endless redirects', (url: string) => url, 302, { location: '/image' }, 'more than 5 redirects'],
  ['a redirect to a file', (url: string) => url, 302, { location: 'file:///etc/passwd' }, 'less safe'],
] as const)('%s makes the copy fail', async (_name, urlOf, status, headers, message) => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({
    data,
    answer: (_request, response) => {
      response.writeHead(status, headers).end();
      return true;
    },
  });
  await fixture.addImage('i', downloadOf(urlOf(server.url)));
  await fixture.until(async () => fixture.failures.length > 0);
  expect(fixture.failures[0]).toContain(message);
});

test('credentials of a URL are not sent to another host, and appear in no message', async () => {
  const fixture = await AgentFixture.start('n1');
  const target = await FileServer.start({ data });
  let authorization: string | undefined;
  const server = await FileServer.start({
    data,
    answer: (request, response) => {
      authorization = request.headers.authorization;
      response.writeHead(302, { location: target.url }).end();
      return true;
    },
  });
  await fixture.addImage('i', downloadOf(server.url.replace('http://', 'http://user:secret@')));
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(authorization).toBe(`Basic ${Buffer.from('user:secret').toString('base64')}`);
  expect(target.headers.map((headers) => headers.authorization)).toEqual([undefined]);
  expect(JSON.stringify((await fixture.image('i')).status)).not.toContain('secret');
});

test('further copies come from an agent that has one', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  const server = await FileServer.start({ data });
  await fixture.addImage('i', downloadOf(server.url, { minNumberOfCopies: 2 }));
  await fixture.untilCopy('i', 'n1', 'ready');
  await fixture.untilCopy('i', 'n2', 'ready');
  expect(server.ranges).toHaveLength(1);
  for (const node of ['n1', 'n2'])
    expect(data.equals(await fixture.read(node, 'images/i/data.img'))).toBe(true);
});

test('zeros occupy no space', async () => {
  const fixture = await AgentFixture.start('n1');
  const sparse = Buffer.concat([Buffer.alloc(8 * mebibyte), Buffer.from('end'), Buffer.alloc(mebibyte)]);
  const server = await FileServer.start({ data: sparse });
  const sha512 = createHash('sha512').update(sparse).digest('hex');
  await fixture.addImage('i', downloadOf(server.url, { expectedSize: sparse.length, checksum: sha512 }));
  await fixture.untilCopy('i', 'n1', 'ready');
  const [bytes = 0, occupied = 0] = (await fixture.fileSize('n1', 'images/i/data.img')) ?? [];
  expect(bytes).toBe(sparse.length);
  expect(occupied).toBeLessThan(mebibyte);
  expect(sparse.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
});

test('a volume begins with its image, and an image with a volume', async () => {
  const fixture = await AgentFixture.start('n1');
  const server = await FileServer.start({ data });
  await fixture.addImage('i', downloadOf(server.url));
  await fixture.addVolume('v', { size: 4 * mebibyte, numberOfReplicas: 1, backingImage: 'i' });
  const [replica] = await fixture.untilRunning('v', 1);
  const path = `replicas/${replica?.metadata?.name}/data.img`;
  const begun = await fixture.read('n1', path);
  expect(begun.length).toBe(4 * mebibyte);
  expect(data.equals(begun.subarray(0, data.length))).toBe(true);
  await writeFile(join(fixture.diskPath('n1'), path), 'changed', { flag: 'r+' });
  await fixture.addImage('j', { source: { volume: { name: 'v' } }, expectedSize: 4 * mebibyte });
  await fixture.untilCopy('j', 'n1', 'ready');
  const copied = await fixture.read('n1', 'images/j/data.img');
  expect(copied.equals(await fixture.read('n1', path))).toBe(true);
});

test('an image on another node than an unwritten volume has the size of the volume', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  await fixture.addVolume('v', { size: 2 * mebibyte, numberOfReplicas: 1 });
  const [replica] = await fixture.untilRunning('v', 1);
  const other = replica?.spec?.nodeID === 'n1' ? 'n2' : 'n1';
  await fixture.cluster
    .resource(storageNodes)
    .patch({ name: other }, { type: 'merge', body: { spec: { tags: ['other'] } } });
  const spec = { source: { volume: { name: 'v' } }, nodeSelector: ['other'] };
  await fixture.addImage('i', { ...spec, expectedSize: 2 * mebibyte });
  await fixture.untilCopy('i', other, 'ready');
  const copied = await fixture.read(other, 'images/i/data.img');
  expect(copied.equals(Buffer.alloc(2 * mebibyte))).toBe(true);

  await fixture.addImage('too-long', { ...spec, expectedSize: mebibyte });
  await fixture.until(async () =>
    JSON.stringify(await fixture.image('too-long')).includes(
      'the data has 2097152 bytes, and at most 1048576 may be used',
    ),
  );
});

test('an image of a volume that does not exist yet waits for it', async () => {
  const fixture = await AgentFixture.start('n1');
  await fixture.addImage('i', { source: { volume: { name: 'v' } }, expectedSize: mebibyte });
  await fixture.until(async () =>
    JSON.stringify(await fixture.image('i')).includes('waits for Volume v, which does not exist'),
  );
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  await fixture.untilCopy('i', 'n1', 'ready');
});

test('a new replica begins with the data of the others', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  await fixture.addVolume('v', { size: 2 * mebibyte, numberOfReplicas: 1 });
  const [first] = await fixture.untilRunning('v', 1);
  const path = (replica: typeof first) => `replicas/${replica?.metadata?.name}/data.img`;
  await writeFile(join(fixture.diskPath(first?.spec?.nodeID ?? ''), path(first)), 'precious', { flag: 'r+' });
  await fixture.cluster
    .resource(diskVolumes)
    .patch({ name: 'v' }, { type: 'merge', body: { spec: { numberOfReplicas: 2 } } });
  for (const replica of await fixture.untilRunning('v', 2)) {
    const content = await fixture.read(replica.spec?.nodeID ?? '', path(replica));
    expect([content.length, String(content.subarray(0, 8))]).toEqual([2 * mebibyte, 'precious']);
  }
});

test('a copy between agents that fails is logged once for its cause, and recorded as an Event', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  await fixture.addVolume('v', { size: mebibyte, numberOfReplicas: 1 });
  const [first] = await fixture.untilRunning('v', 1);
  const other = first?.spec?.nodeID === 'n1' ? 'n2' : 'n1';
  await fixture.stop();
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  fixture.environment.log = lineLog({
    level: 'warn',
    format: 'text',
    clock: fixture.environment.clock,
    write,
  });
  fixture.runAgents([other]);
  const body = { spec: { numberOfReplicas: 2 } };
  await fixture.cluster.resource(diskVolumes).patch({ name: 'v' }, { type: 'merge', body });
  await fixture.until(async () => lines.length > 0);
  // The attempts that follow have the same cause.
  await fixture.settle(30_000);
  const failure =
    /^stowage: warn: Replica v-r1: data could not be copied; it is tried again: the agent at https:\S+ can't be reached: /;
  expect(lines).toEqual([expect.stringMatching(failure)]);
  const events = (await fixture.environment.eventLines()).filter((line) => line.startsWith('CopyFailed'));
  expect(events).toEqual([expect.stringMatching(/^CopyFailed v-r1: the agent at .*; it is tried again$/)]);
  await fixture.restart(['n1', 'n2']);
  await fixture.untilRunning('v', 2);
});

test('the files of an image go with it', async () => {
  const fixture = await AgentFixture.start('n1', 'n2');
  const server = await FileServer.start({ data });
  await fixture.addImage('i', downloadOf(server.url, { minNumberOfCopies: 2 }));
  await fixture.untilCopy('i', 'n1', 'ready');
  await fixture.untilCopy('i', 'n2', 'ready');
  const client = fixture.cluster.resource(backingImages);
  await client.delete({ name: 'i' });
  await fixture.until(async () => (await undefinedIfNotFound(client.get({ name: 'i' }))) === undefined);
  for (const node of ['n1', 'n2']) expect(await readdir(join(fixture.diskPath(node), 'images'))).toEqual([]);
});
