import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { realClock } from '../../../runtime/clock.ts';
import { systemIds } from '../../../runtime/ids.ts';
import { DataFolder } from '../files/data-folder.ts';
import { hostFiles } from '../files/host-files.ts';
import { forbiddenAnswer, type ReadableData } from './agent-answer.ts';
import { AgentServer } from './agent-server.ts';
import { agentSource } from './agent-source.ts';
import { bearerTokenIn, hasTokenHash, tokenHash } from './bearer-token.ts';
import type { ByteStream } from './byte-source.ts';
import { parseContentRange } from './content-range.ts';

const signal = new AbortController().signal;
const text = 'all of the data';

/** A server with one folder; returns its address and what it was asked for. */
async function serve(more: Partial<ReadableData> = {}) {
  const diskPath = await mkdtemp(join(tmpdir(), 'agent-server-'));
  onTestFinished(() => rm(diskPath, { recursive: true }));
  const folder = new DataFolder(hostFiles(systemIds), { diskPath, kind: 'BackingImage', name: 'i' });
  await folder.identify({ name: 'i', uid: 'u' });
  await writeFile(folder.dataPath, text);
  const tokens: string[] = [];
  const server = await AgentServer.start({
    host: '127.0.0.1',
    port: 0,
    advertisedHost: '127.0.0.1',
    served: {
      read: async (_kind, _name, token) => {
        tokens.push(token);
        if (token !== 'right') return forbiddenAnswer;
        return { folder, bytes: text.length, occupiedBytes: 4096, sha512: 'abc', ...more };
      },
      uploadState: async () => undefined,
      upload: async () => forbiddenAnswer,
    },
    clock: realClock,
    onError: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { address: server.address, tokens };
}

async function readAll({ chunks }: ByteStream): Promise<string> {
  let all = '';
  for await (const chunk of chunks) all += String(Buffer.from(chunk));
  return all;
}

test('an agent reads the data of another one, from any point', async () => {
  const { address } = await serve();
  const source = agentSource({ ...address, path: '/images/i/data', token: 'right', clock: realClock });
  const whole = await source.open({ offset: 0, validator: undefined }, signal);
  expect([whole.startsAt, whole.totalBytes, whole.sha512, await readAll(whole)]).toEqual([
    0,
    text.length,
    'abc',
    text,
  ]);
  const rest = await source.open({ offset: 4, validator: 'abc' }, signal);
  expect([rest.startsAt, await readAll(rest)]).toEqual([4, text.slice(4)]);
  const other = await source.open({ offset: 4, validator: 'another checksum' }, signal);
  expect([other.startsAt, await readAll(other)]).toEqual([0, text]);
});

test('nothing is sent of a replica that was never written', async () => {
  const { address } = await serve({ occupiedBytes: 0, sha512: undefined });
  const source = agentSource({ ...address, path: '/replicas/i/data', token: 'right', clock: realClock });
  const stream = await source.open({ offset: 0, validator: undefined }, signal);
  expect([stream.totalBytes, await readAll(stream)]).toEqual([0, '']);
});

test('a token is not sent to a server with another certificate', async () => {
  const { address, tokens } = await serve();
  const certificateSHA256 = '0'.repeat(64);
  const source = agentSource({
    ...address,
    certificateSHA256,
    path: '/images/i/data',
    token: 'right',
    clock: realClock,
  });
  await expect(source.open({ offset: 0, validator: undefined }, signal)).rejects.toThrow(
    'another certificate',
  );
  expect(tokens).toEqual([]);
});

test('a wrong token, and an agent that is gone, are errors that pass', async () => {
  const { address } = await serve();
  const open = (url: string) =>
    agentSource({ ...address, url, path: '/images/i/data', token: 'wrong', clock: realClock }).open(
      { offset: 0, validator: undefined },
      signal,
    );
  await expect(open(address.url)).rejects.toMatchObject({
    isPermanent: false,
    message: expect.stringContaining('status 403'),
  });
  await expect(open('https://127.0.0.1:1')).rejects.toMatchObject({ isPermanent: false });
});

/** Connects and sends nothing. */
async function connectIdle(port: number, localAddress = '127.0.0.1'): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
}

test.each([
  ['of one address', 400, 1],
  ['of many addresses', 4, 100],
])('idle connections %s do not keep an agent with a token out', async (_, count, addresses) => {
  const { address } = await serve();
  const port = Number(new URL(address.url).port);
  for (let at = 0; at < addresses; at += 1)
    await Promise.all(Array.from({ length: count }, () => connectIdle(port, `127.0.1.${at + 1}`)));
  const source = agentSource({ ...address, path: '/images/i/data', token: 'right', clock: realClock });
  expect(await readAll(await source.open({ offset: 0, validator: undefined }, signal))).toBe(text);
});

test('a connection with a valid token stays, however many others follow', async () => {
  const { address } = await serve();
  const port = Number(new URL(address.url).port);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  onTestFinished(() => agent.destroy());
  const get = async () =>
    await new Promise<boolean>((resolve, reject) => {
      const headers = { authorization: 'Bearer right' };
      const sent = request(`${address.url}/images/i/data`, { agent, headers }, (response) => {
        response.resume().once('end', () => resolve(sent.reusedSocket));
      });
      sent.once('error', reject).end();
    });
  expect(await get()).toBe(false);
  await Promise.all(Array.from({ length: 100 }, () => connectIdle(port)));
  expect(await get()).toBe(true);
});

test('a port that is taken is an error with a remedy', async () => {
  const { address } = await serve();
  const port = Number(new URL(address.url).port);
  const served = {
    read: async () => forbiddenAnswer,
    uploadState: async () => undefined,
    upload: async () => forbiddenAnswer,
  };
  const again = AgentServer.start({
    host: '127.0.0.1',
    port,
    advertisedHost: '127.0.0.1',
    served,
    clock: realClock,
    onError: () => {},
  });
  await expect(again).rejects.toThrow('choose another with --disk-agent-address');
});

test.each([
  ['bytes 0-9/10', { start: 0, endExclusive: 10, totalBytes: 10 }],
  ['bytes 5-5/10', { start: 5, endExclusive: 6, totalBytes: 10 }],
  ['bytes 5-4/10', undefined],
  ['bytes 0-10/10', undefined],
  ['bytes 0-9/*', undefined],
  ['bytes 0-9/9007199254740993', undefined],
  ['items 0-9/10', undefined],
  [' bytes 0-9/10', undefined],
  [undefined, undefined],
])('Content-Range %s', (header, expected) => {
  expect(parseContentRange(header)).toEqual(expected);
});

test('tokens are compared by their hash', () => {
  const hash = tokenHash('secret');
  expect(hasTokenHash('secret', [undefined, 'x', hash])).toBe(true);
  expect(hasTokenHash('Secret', [hash])).toBe(false);
  expect(hasTokenHash(hash, [hash])).toBe(false);
  expect(hasTokenHash('secret', [])).toBe(false);
  // The hash of no token is not a token.
  expect(hasTokenHash(undefined, [tokenHash('')])).toBe(false);
  expect([
    bearerTokenIn('Bearer a.b-c'),
    bearerTokenIn('Bearer '),
    bearerTokenIn('Bearer a b'),
    bearerTokenIn(undefined),
  ]).toEqual(['a.b-c', undefined, undefined, undefined]);
});
