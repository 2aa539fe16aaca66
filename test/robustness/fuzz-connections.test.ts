import { connect as connectPlain, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/runtime/random.ts';
import { type AttackedServer, attackedServer, dial, dialOver } from './testing/attacked-server.ts';
import { expectHealthy } from './testing/expect-healthy.ts';
import { answersOf, everythingFrom, until } from './testing/raw-responses.ts';

let attacked: AttackedServer;
beforeAll(async () => {
  attacked = await attackedServer();
});
afterAll(async () => await attacked.close());

const configMaps = '/api/v1/namespaces/default/configmaps';

/** The request line and headers, without the blank line. */
function head(method: string, path: string, more: readonly string[] = []): string {
  const { host, port, token } = attacked.access;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}:${port}`,
    `Authorization: Bearer ${token}`,
    ...more,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A connection without TLS. */
function plain(): Promise<Socket> {
  const { host, port } = attacked.access;
  return new Promise((resolve, reject) => {
    const socket = connectPlain({ host, port }, () =>
      resolve(socket.off('error', reject).on('error', () => {})),
    );
    socket.once('error', reject);
  });
}

test('bytes that are not TLS end only that connection', async () => {
  const random = seededRandom('no tls');
  const junk = Array.from({ length: 60 }, () =>
    Buffer.from(Array.from({ length: 200 }, () => random.int(256))),
  );
  const openings = [
    Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
    // A handshake that announces more than it sends, an alert, and a record of the largest size.
    Buffer.from('16030100ff0100', 'hex'),
    Buffer.from('15030300020228', 'hex'),
    Buffer.concat([Buffer.from('1603034000', 'hex'), Buffer.alloc(16_384)]),
    ...junk,
  ];
  const sockets = await Promise.all(openings.map(plain));
  for (const [index, socket] of sockets.entries()) socket.resume().end(openings[index] ?? '');
  await Promise.all(sockets.map((socket) => until(socket, 'close')));
  await expectHealthy(attacked);
});

test.each([
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
  ['HTTP/0.9', 'GET /\r\n\r\n'],
  ['a version that does not exist', 'GET / HTTP/9.9\r\n\r\n'],
  ['a method that does not exist', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
  ['a line without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
  ['a bare line feed in a header', 'GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
  ['a chunk of no size', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ['a coding that does not exist', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: nonsense\r\n\r\n'],
  ['more headers than fit', `GET / HTTP/1.1\r\nHost: x\r\n${'X-A: b\r\n'.repeat(20_000)}\r\n`],
  ['one header that does not fit', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`],
])('%s is rejected by HTTP, and the connection ends', async (_what, text) => {
  const socket = await attacked.dial();
  socket.write(text, 'latin1');
  const answers = answersOf(await everythingFrom(socket));
  for (const { status } of answers) expect([400, 401, 404, 405, 431, 501, 505]).toContain(status);
  await expectHealthy(attacked);
});

test('an upgrade to another protocol is ignored, and the request is answered', async () => {
  const socket = await attacked.dial();
  socket.write(
    head('GET', '/version', [
      'Connection: Upgrade, close',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
    ]),
  );
  expect(answersOf(await everythingFrom(socket)).map(({ status }) => status)).toEqual([200]);
  const tunnel = await attacked.dial();
  tunnel.write(head('CONNECT', 'elsewhere.example:443'));
  for (const { status } of answersOf(await everythingFrom(tunnel)))
    expect(status).toBeGreaterThanOrEqual(400);
  await expectHealthy(attacked);
});

test('pipelined requests are answered in order, also if they arrive in pieces', async () => {
  const random = seededRandom('pieces');
  const names = Array.from({ length: 30 }, (_, index) => `piped-${index}`);
  const bodies = names.map((name) => JSON.stringify({ metadata: { name } }));
  const posts = bodies.map(
    (body) =>
      head('POST', configMaps, ['Content-Type: application/json', `Content-Length: ${body.length}`]) + body,
  );
  const gets = names.map((name) => head('GET', `${configMaps}/${name}`));
  const all = posts.join('') + gets.join('') + head('GET', '/version', ['Connection: close']);
  const socket = await attacked.dial();
  for (let at = 0; at < all.length; ) {
    const size = 1 + random.int(700);
    socket.write(all.slice(at, at + size));
    at += size;
    if (random.int(4) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const answers = answersOf(await everythingFrom(socket));
  const expected = [...names.map(() => 201), ...names.map(() => 200), 200];
  expect(answers.map(({ status }) => status)).toEqual(expected);
  expect(answers.slice(30, 60).map(({ body }) => JSON.parse(body).metadata.name)).toEqual(names);
});

test('incomplete bodies and connections that break at any byte leave no state behind', async () => {
  const body = JSON.stringify({ metadata: { name: 'broken' }, data: { x: 'y'.repeat(3_000) } });
  const requests = [
    head('POST', configMaps, ['Content-Type: application/json', `Content-Length: ${body.length}`]) + body,
    `${head('POST', configMaps, ['Content-Type: application/json', 'Transfer-Encoding: chunked'])}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    head('GET', `${configMaps}?watch=1`),
    head('GET', '/openapi/v3/api/v1'),
    head('PATCH', `${configMaps}/x`, [
      'Content-Type: application/merge-patch+json',
      'Content-Length: 1000',
      'Expect: 100-continue',
    ]),
    head('GET', '/version') + head('GET', configMaps),
  ];
  const cutShort = fc.record({
    request: fc.constantFrom(...requests),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    isReset: fc.boolean(),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(cutShort, { minLength: 5, maxLength: 10 }), async (cuts) => {
      await Promise.all(
        cuts.map(async ({ request, share, isReset, waits }) => {
          const { socket, wire } = await dialOver(attacked.access);
          socket.resume().write(request.slice(0, Math.floor(share * request.length)));
          if (waits) await new Promise((resolve) => setTimeout(resolve, 5));
          if (isReset) wire.resetAndDestroy();
          else socket.destroy();
        }),
      );
      expect(attacked.bugs).toEqual([]);
    }),
    { numRuns: 20 },
  );
  await attacked.call('DELETE', `${configMaps}/broken`);
  await expectHealthy(attacked);
});

test('while some clients send slowly and 2,000 connections are idle, other clients get responses', async () => {
  const idle = await gathered(1_500, plain);
  const connected = await gathered(500, () => dial(attacked.access));
  const slow = await gathered(50, () => dial(attacked.access));
  for (const socket of slow) socket.write(head('POST', configMaps, ['Content-Length: 100']).slice(0, -6));
  for (let round = 0; round < 20; round += 1) {
    for (const socket of slow) socket.write('a');
    expect((await attacked.call('GET', '/version')).status).toBe(200);
  }
  await expectHealthy(attacked);
  expect(connected.filter((socket) => socket.destroyed)).toEqual([]);
  for (const socket of [...idle, ...connected, ...slow]) socket.destroy();
  await expectHealthy(attacked);
});

/** Opens a few at a time: handshakes are expensive for both sides, and both sides are this process. */
async function gathered<T>(count: number, open: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  while (all.length < count) all.push(...(await Promise.all(Array.from({ length: 50 }, open))));
  return all;
}
