import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { FullResponse } from '../../../io/http/full-response.ts';
import { newMetrics } from '../metrics.ts';
import type { IncomingRequest } from './http-exchange.ts';
import { Pipelines } from './pipelines.ts';
import { ResponseWriter } from './response-writer.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

type Serve = (message: IncomingMessage, response: ServerResponse) => void;

async function listen(serve: Serve): Promise<number> {
  const server = createServer(serve);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
}

function get(port: number, headers: Record<string, string> = {}) {
  return new Promise<{ bytes: Buffer; encoding: string | undefined }>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        resolve({ bytes: Buffer.concat(chunks), encoding: response.headers['content-encoding'] });
      });
    });
    sent.on('error', reject).end();
  });
}

function requestOf({ method, headers }: IncomingMessage): IncomingRequest {
  return { method, headers } as IncomingRequest;
}

const gzip = { 'accept-encoding': 'gzip' };

describe('a large response', () => {
  const document = Buffer.alloc(1_000_000, 'document ');
  const items = Array.from({ length: 50_000 }, (_, index) => Buffer.from(`item ${index},`));

  test.each<[string, Omit<FullResponse, 'status' | 'headers'>]>([
    ['of many items', { body: items }],
    ['of one part', { body: [document] }],
    ['of a shared document', { body: [document], isShared: true }],
  ])('%s arrives whole, compressed and not', async (_what, part) => {
    const writer = new ResponseWriter({ metrics: newMetrics() });
    const full = { status: 200, headers: {}, ...part };
    const port = await listen((message, response) => void writer.send(requestOf(message), full, response));
    const whole = Buffer.concat([...full.body]);
    expect((await get(port)).bytes.equals(whole)).toBe(true);
    const { bytes, encoding } = await get(port, gzip);
    expect(encoding).toBe('gzip');
    expect(gunzipSync(bytes).equals(whole)).toBe(true);
  });

  test('that many clients request is compressed once', async () => {
    const writer = new ResponseWriter({ metrics: newMetrics() });
    const full = { status: 200, headers: {}, body: [document], isShared: true };
    const port = await listen((message, response) => void writer.send(requestOf(message), full, response));
    await Promise.all(Array.from({ length: 20 }, () => get(port, gzip)));
    expect(writer.documentsCompressed).toBe(1);
  });

  test('beyond the limit of compressions is sent as it is', async () => {
    const writer = new ResponseWriter({ metrics: newMetrics(), compressionsMax: 0 });
    const full = { status: 200, headers: {}, body: items };
    const port = await listen((message, response) => void writer.send(requestOf(message), full, response));
    expect((await get(port, gzip)).encoding).toBeUndefined();
  });

  test.each([{}, gzip])(
    'is buffered for at most a few pieces, and cut if the client does not read: %j',
    async (headers) => {
      const writer = new ResponseWriter({ metrics: newMetrics(), stalledMaxMs: 200 });
      // Random bytes do not compress.
      const noise = randomBytes(500_000);
      const body = Array.from({ length: 200 }, () => noise);
      const open = new Promise<ServerResponse>((resolve) => {
        void listen((message, response) => {
          response.on('error', () => {});
          void writer.send(requestOf(message), { status: 200, headers: {}, body }, response);
          resolve(response);
        }).then(async (port) => {
          const socket = await dial(port);
          socket.pause();
          const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
          socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
        });
      });
      const response = await open;
      let mostBuffered = 0;
      const sample = setInterval(() => (mostBuffered = Math.max(mostBuffered, response.writableLength)), 5);
      await new Promise<void>((resolve) => response.once('close', resolve));
      clearInterval(sample);
      expect(response.writableFinished).toBe(false);
      expect(mostBuffered).toBeLessThan(1_000_000);
    },
  );
});

describe('a response that is made while it is sent', () => {
  const noise = randomBytes(64 * 1024);

  async function* pieces(count: number, onPiece: (made: number) => void = () => {}) {
    for (let made = 1; made <= count; made += 1) {
      onPiece(made);
      yield noise;
    }
  }

  test.each([{}, gzip])('arrives whole: %j', async (headers: Record<string, string>) => {
    const writer = new ResponseWriter({ metrics: newMetrics() });
    const port = await listen((message, response) => {
      const generated = { status: 200, headers: {}, pieces: pieces(20) };
      void writer.sendGenerated(requestOf(message), generated, response);
    });
    const { bytes, encoding } = await get(port, headers);
    expect(encoding).toBe(headers['accept-encoding']);
    const body = encoding === undefined ? bytes : gunzipSync(bytes);
    expect(body.equals(Buffer.concat(Array.from({ length: 20 }, () => noise)))).toBe(true);
  });

  test.each([{}, gzip])('is made no faster than the client reads, and ends with it: %j', async (headers) => {
    const writer = new ResponseWriter({ metrics: newMetrics(), stalledMaxMs: 200 });
    let most = 0;
    const closed = new Promise<void>((resolve) => {
      void listen((message, response) => {
        const endless = pieces(1_000_000, (made) => (most = made));
        response.on('error', () => {}).once('close', resolve);
        void writer.sendGenerated(
          requestOf(message),
          { status: 200, headers: {}, pieces: endless },
          response,
        );
      }).then(async (port) => {
        const socket = await dial(port);
        socket.pause();
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
      });
    });
    await closed;
    // What the sockets of both sides buffer, and little more.
    expect(most).toBeLessThan(300);
    const then = most;
    await get(await listen((_message, response) => response.end()));
    expect(most).toBeLessThanOrEqual(then + 2);
  });

  test.each([{}, gzip])(
    'that fails is reported, and the client sees that it is incomplete: %j',
    async (headers) => {
      const writer = new ResponseWriter({ metrics: newMetrics() });
      const failures: unknown[] = [];
      const port = await listen((message, response) => {
        const failing = pieces(20, (made) => {
          if (made === 10) throw new Error('broken');
        });
        writer
          .sendGenerated(requestOf(message), { status: 200, headers: {}, pieces: failing }, response)
          .catch((error) => {
            failures.push(error);
            response.destroy();
          });
      });
      await expect(get(port, headers)).rejects.toThrow();
      expect(failures).toEqual([new Error('broken')]);
    },
  );
});

describe('pipelined requests', () => {
  test('are served one at a time, in order', async () => {
    let [active, mostActive, served] = [0, 0, 0];
    const pipelines = new Pipelines((message, response) => {
      active += 1;
      mostActive = Math.max(mostActive, active);
      setImmediate(() => {
        active -= 1;
        served += 1;
        response.end(message.url);
      });
    });
    const port = await listen((message, response) => pipelines.add(message, response));
    const socket = await dial(port);
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    for (let index = 0; index < 50; index++) socket.write(`GET /n${index}; HTTP/1.1\r\nHost: x\r\n\r\n`);
    await expect.poll(() => served).toBe(50);
    await expect.poll(() => text).toContain('/n49;');
    expect(mostActive).toBe(1);
    expect(text.match(/\/n\d+;/g)).toEqual(Array.from({ length: 50 }, (_, index) => `/n${index};`));
  });

  test('in very large numbers end the connection, and only one is served', async () => {
    let served = 0;
    const pipelines = new Pipelines(() => (served += 1));
    const port = await listen((message, response) => pipelines.add(message, response));
    const socket = await dial(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5_000));
    await closed;
    expect(served).toBe(1);
  });
});
