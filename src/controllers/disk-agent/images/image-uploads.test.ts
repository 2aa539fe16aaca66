import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { AgentFixture } from '../testing/agent-fixture.ts';
import { callAgent, sha256Hex, type UploadCall, type UploadReply } from '../testing/upload-client.ts';

const kibibyte = 1024;
const data = randomBytes(300 * kibibyte);
const checksum = createHash('sha512').update(data).digest('hex');
const token = 'a-secret-of-the-client';
const path = '/images/i/data';

interface Uploading {
  readonly fixture: AgentFixture;
  /** Sends a request while time passes. */
  readonly send: (call: Partial<UploadCall>) => Promise<UploadReply | undefined>;
}

/** An image that waits for its upload. */
async function uploading(more: { readonly checksum?: string } = { checksum }): Promise<Uploading> {
  const fixture = await AgentFixture.start('n1');
  await fixture.addImage('i', {
    source: { upload: { tokenSHA256: sha256Hex(token) } },
    expectedSize: data.length,
    ...more,
  });
  await fixture.untilCopy('i', 'n1', 'starting');
  await fixture.until(async () => (await fixture.fileSize('n1', 'images/i/image.json')) !== undefined);
  const url = (await fixture.node('n1')).status?.upload?.url ?? '';
  const send = async (call: Partial<UploadCall>) => {
    let reply: UploadReply | undefined;
    let isDone = false;
    void callAgent(url, { method: 'PUT', path, token, ...call }).then((received) => {
      reply = received;
      isDone = true;
    });
    await fixture.until(async () => isDone);
    return reply;
  };
  return { fixture, send };
}

function part(start: number, end: number, total = data.length): Partial<UploadCall> {
  const headers = { 'content-range': `bytes ${start}-${end - 1}/${total}` };
  return { headers, body: data.subarray(start, end) };
}

test('an image is sent as a whole, checked, and ready', async () => {
  const { fixture, send } = await uploading();
  expect((await send({ body: data }))?.status).toBe(201);
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
  const head = await send({ method: 'HEAD' });
  expect([head?.status, head?.headers['upload-offset'], head?.headers['upload-complete']]).toEqual([
    200,
    String(data.length),
    '?1',
  ]);
  // A client that did not receive the answer may send it again.
  expect((await send({ body: data }))?.status).toBe(200);
});

test('an upload is sent in parts, and HEAD says where to go on', async () => {
  const { fixture, send } = await uploading();
  expect((await send({ method: 'HEAD' }))?.headers['upload-offset']).toBe('0');
  const first = await send(part(0, 100 * kibibyte));
  expect([first?.status, first?.headers['upload-offset']]).toEqual([202, String(100 * kibibyte)]);
  const head = await send({ method: 'HEAD' });
  expect([head?.headers['upload-offset'], head?.headers['content-length']]).toEqual([
    String(100 * kibibyte),
    String(100 * kibibyte),
  ]);
  expect((await send(part(100 * kibibyte, data.length)))?.status).toBe(201);
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
});

test('an upload that breaks off is continued, also after a restart of the agent', async () => {
  const { fixture, send } = await uploading();
  expect(await send({ body: data, breakAfter: 200 * kibibyte })).toBeUndefined();
  await fixture.until(async () => Number((await send({ method: 'HEAD' }))?.headers['upload-offset']) > 0);
  await fixture.stop();
  fixture.runAgents(['n1']);
  let url = '';
  await fixture.until(async () => {
    const before = url;
    url = (await fixture.node('n1')).status?.upload?.url ?? '';
    return (
      before !== '' && before === url && (await callAgent(url, { method: 'HEAD', path, token })) !== undefined
    );
  });
  const head = await callAgent(url, { method: 'HEAD', path, token });
  const start = Number(head?.headers['upload-offset']);
  expect(start).toBeGreaterThan(0);
  let reply: UploadReply | undefined;
  void callAgent(url, { method: 'PUT', path, token, ...part(start, data.length) }).then((received) => {
    reply = received;
  });
  await fixture.until(async () => reply !== undefined);
  expect(reply?.status).toBe(201);
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
});

test('parts of zeros count', async () => {
  const { send } = await uploading({});
  const zeros = Buffer.alloc(100 * kibibyte);
  const range = (start: number) => ({
    headers: { 'content-range': `bytes ${start}-${start + zeros.length - 1}/${data.length}` },
    body: zeros,
  });
  expect((await send(range(0)))?.headers['upload-offset']).toBe(String(zeros.length));
  expect((await send(range(zeros.length)))?.headers['upload-offset']).toBe(String(2 * zeros.length));
});

test('an upload with another checksum is refused, discarded, and can be repeated', async () => {
  const { fixture, send } = await uploading();
  const wrong = Buffer.from(data);
  wrong[5] = (wrong[5] ?? 0) ^ 1;
  const reply = await send({ body: wrong });
  expect([reply?.status, reply?.body]).toEqual([422, expect.stringContaining('spec.checksum')]);
  expect(await fixture.copy('i', 'n1')).toMatch(/^starting the upload was refused: the data has the SHA-512/);
  expect((await send({ method: 'HEAD' }))?.headers['upload-offset']).toBe('0');
  expect((await send({ body: data }))?.status).toBe(201);
  await fixture.untilCopy('i', 'n1', 'ready');
});

test('what an attacker sends is refused, and changes nothing', async () => {
  const { fixture, send } = await uploading();
  const outside = async () => (await readdir(fixture.root, { recursive: true })).sort();
  const before = await outside();
  const attacks: readonly (readonly [number | undefined, Partial<UploadCall>])[] = [
    // Tokens
    [401, { token: undefined as never, body: data }],
    [401, { token: undefined as never, headers: { authorization: 'Basic dXNlcjpwYXNz' }, body: data }],
    [403, { token: 'wrong', body: data }],
    [403, { token: sha256Hex(token), body: data }],
    [403, { token, path: '/images/unknown/data', body: data }],
    [403, { token: 'wrong', method: 'HEAD' }],
    [403, { token, method: 'GET' }],
    [401, { token: 'x'.repeat(5000), body: data }],
    // Paths
    [404, { path: '/images/../i/data', body: data }],
    [404, { path: '/images/..%2f..%2fetc/data', body: data }],
    [404, { path: '/images/%2e%2e/data', body: data }],
    [404, { path: '/images/i/data/../../x', body: data }],
    [404, { path: '/images/I/data', body: data }],
    [404, { path: `/images/${'a'.repeat(300)}/data`, body: data }],
    [404, { path: '/images/i/data?x=1', body: data }],
    [404, { path: '/', method: 'GET' }],
    [403, { path: '/replicas/i/data', method: 'GET' }],
    // Methods
    [405, { method: 'POST', body: data }],
    [405, { method: 'DELETE' }],
    [405, { path: '/replicas/i/data', body: data }],
    // Sizes
    [400, { body: Buffer.alloc(0) }],
    [413, { body: Buffer.concat([data, Buffer.from('x')]) }],
    [413, part(0, 10, 2 ** 52)],
    [400, part(0, 10, 5)],
    [400, { headers: { 'content-range': 'bytes 0-9/*' }, body: data.subarray(0, 10) }],
    [400, { headers: { 'content-range': 'bytes -5-9/10' }, body: data.subarray(0, 10) }],
    [400, { headers: { 'content-range': 'bytes 0-9/99999999999999999999' }, body: data.subarray(0, 10) }],
    [400, { headers: { 'content-range': `bytes 0-99/${data.length}` }, body: data.subarray(0, 10) }],
    [409, part(10, 20)],
    [411, { headers: { 'transfer-encoding': 'chunked' }, body: undefined as never }],
  ];
  for (const [status, attack] of attacks) {
    const reply = await send(attack);
    expect(reply?.status, JSON.stringify({ ...attack, body: attack.body?.length })).toBe(status);
    expect(reply?.body ?? '').not.toContain(fixture.root);
  }
  expect(await outside()).toEqual(before);
  expect((await send({ method: 'HEAD' }))?.headers['upload-offset']).toBe('0');
});

test('a token reads an image only if it is that of a copy on a disk that should have one', async () => {
  const { fixture, send } = await uploading();
  expect((await send({ body: data }))?.status).toBe(201);
  await fixture.untilCopy('i', 'n1', 'ready');
  const read = async (uuid: string) => {
    const secret = `token-of-${uuid}`;
    const entry = { state: 'starting', transferTokenSHA256: sha256Hex(secret) };
    const body = { status: { diskFileStatusMap: { [uuid]: entry } } };
    const client = fixture.cluster.resource(backingImages);
    await client.patch({ name: 'i' }, { type: 'merge', body }, { subresource: 'status' });
    return (await send({ method: 'GET', token: secret }))?.status;
  };
  expect(await read('00000000-0000-4000-8000-00000000dead')).toBe(403);
  expect(await read((await fixture.diskUUID('n1')) ?? '')).toBe(200);
});

/** An upload that has sent its first bytes, and no more. */
async function startSlowUpload(fixture: AgentFixture): Promise<ClientRequest> {
  const { hostname, port } = new URL((await fixture.node('n1')).status?.upload?.url ?? '');
  const headers = { authorization: `Bearer ${token}`, 'content-length': data.length };
  const slow = request({
    hostname,
    port,
    path,
    method: 'PUT',
    headers,
    rejectUnauthorized: false,
    agent: false,
  });
  slow.on('error', () => {});
  slow.write(data.subarray(0, 100));
  await fixture.until(async () => (await fixture.fileSize('n1', 'images/i/data.img.part')) !== undefined);
  return slow;
}

test('of two uploads at once, the second is refused', async () => {
  const { fixture, send } = await uploading();
  const slow = await startSlowUpload(fixture);
  const reply = await send({ body: data });
  expect([reply?.status, reply?.body]).toEqual([409, expect.stringContaining('another upload of i')]);
  slow.destroy();
  await fixture.until(async () => (await send({ body: data }))?.status === 201);
  await fixture.untilCopy('i', 'n1', 'ready');
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
});

test('an upload ends when its image is deleted, and leaves nothing', async () => {
  const { fixture } = await uploading();
  const slow = await startSlowUpload(fixture);
  const client = fixture.cluster.resource(backingImages);
  await client.delete({ name: 'i' });
  await fixture.until(async () => (await undefinedIfNotFound(client.get({ name: 'i' }))) === undefined);
  slow.destroy();
  await fixture.settle(5_000);
  expect(await readdir(join(fixture.diskPath('n1'), 'images'))).toEqual([]);
});

test('an image that is not uploaded, or is being deleted, takes no upload', async () => {
  const { fixture, send } = await uploading();
  const client = fixture.cluster.resource(backingImages);
  await fixture.addImage('d', { source: { download: { url: 'http://127.0.0.1:9/' } }, expectedSize: 1 });
  expect((await send({ path: '/images/d/data', body: data }))?.status).toBe(403);
  const finalizers = [...((await fixture.image('i')).metadata?.finalizers ?? []), 'example.com/kept'];
  await client.patch({ name: 'i' }, { type: 'merge', body: { metadata: { finalizers } } });
  await client.delete({ name: 'i' });
  expect((await send({ body: data }))?.status).toBe(409);
  await client.patch({ name: 'i' }, { type: 'merge', body: { metadata: { finalizers: null } } });
});

test('a connection without TLS is closed', async () => {
  const { fixture } = await uploading();
  const { port } = new URL((await fixture.node('n1')).status?.upload?.url ?? '');
  const answer = await new Promise<string>((resolve) => {
    const socket = connectTcp(Number(port), '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\n\r\n`));
    let received = '';
    socket.on('data', (chunk) => {
      received += String(chunk);
    });
    socket.on('close', () => resolve(received));
    socket.on('error', () => {});
  });
  expect(answer).not.toContain('HTTP/1.1 200');
});
