import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { textResponse } from '../../../io/http/full-response.ts';
import { makeCertificate } from '../../../io/tls/certificate.ts';
import { realClock } from '../../../runtime/clock.ts';
import { newMetrics } from '../metrics.ts';
import type { OutgoingResponse, RequestHandler } from './http-exchange.ts';
import { HttpServer } from './http-server.ts';

const credentials = makeCertificate(realClock.nowMs());
const opened: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

describe('a server', () => {
  test('reports an exception of a handler and keeps running', async () => {
    const { server, errors } = await serve(async ({ path }) => {
      if (path === '/crash') throw new Error('broken');
      return textResponse(200, 'ok');
    });
    expect(await exchange(server, 'GET /crash HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('');
    expect(await exchange(server, 'GET /fine HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 200 /,
    );
    expect(errors).toEqual([new Error('broken')]);
  });

  test('does not respond to plain HTTP', async () => {
    const { server } = await serve(async () => textResponse(200, 'ok'));
    expect(await exchange(server, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  });

  test('rejects headers that are too long', async () => {
    let calls = 0;
    const { server } = await serve(async () => {
      calls += 1;
      return textResponse(200, 'ok');
    });
    const head = `GET / HTTP/1.1\r\nHost: x\r\nPadding: ${'x'.repeat(70_000)}\r\n\r\n`;
    // Whether the response arrives depends on how much the client was still sending.
    expect(await exchange(server, head)).toMatch(/^(?:HTTP\/1.1 431 |$)/);
    expect(calls).toBe(0);
  });

  test('answers HEAD without a body', async () => {
    const { server } = await serve(async () => textResponse(200, 'twelve bytes'));
    const reply = await exchange(server, 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(reply).toContain('Content-Length: 12\r\n');
    expect(reply.endsWith('\r\n\r\n')).toBe(true);
  });

  test('does not report a client that disconnects during its body', async () => {
    const seen: string[] = [];
    const { server, errors, metrics } = await serve(async (request) => {
      await request.body('x').catch((error: Error) => {
        seen.push(error.name);
        throw error;
      });
      return textResponse(200, 'ok');
    });
    const socket = await secured(server);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    await expect.poll(() => metrics.inFlight).toBe(1);
    socket.destroy();
    await expect.poll(() => seen).toEqual(['ClientGone']);
    await expect.poll(() => metrics.inFlight).toBe(0);
    expect(errors).toEqual([]);
  });

  test('tells a handler when no client waits for its result any more', async () => {
    const seen: string[] = [];
    const { server, errors, metrics } = await serve(async ({ path, closed }) => {
      if (path === '/fine') {
        closed.addEventListener('abort', () => seen.push('fine'));
        return textResponse(200, 'ok');
      }
      await new Promise((resolve) => closed.addEventListener('abort', resolve));
      seen.push((closed.reason as Error).name);
      throw closed.reason;
    });
    expect(await exchange(server, 'GET /fine HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 200 /,
    );
    const socket = await secured(server);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => metrics.inFlight).toBe(1);
    socket.destroy();
    await expect.poll(() => seen).toEqual(['ClientGone']);
    expect(errors).toEqual([]);
  });

  test('limits the number of connections', async () => {
    const { server, metrics } = await serve(async () => textResponse(200, 'ok'), 2);
    const sockets = [await secured(server), await secured(server)];
    const third = connectPlain(server.address.port, '127.0.0.1');
    await closedOf(third);
    expect(metrics.connectionsRefused).toBe(1);
    for (const socket of sockets) socket.destroy();
  });

  test('sends a large response no faster than the client reads', async () => {
    const piece = Buffer.alloc(100_000, 0x61);
    const body = Array.from({ length: 300 }, () => piece);
    const { server } = await serve(async () => ({ status: 200, headers: {}, body }));
    const reply = await exchange(server, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const [head = ''] = reply.split('\r\n\r\n', 1);
    expect(head).toContain('Content-Length: 30000000');
    expect(reply.length - head.length - 4).toBe(30_000_000);
  });
});

describe('closing', () => {
  test('waits for requests in flight, accepts no new ones and asks clients to close', async () => {
    let release = () => {};
    const { server, metrics } = await serve(
      () =>
        new Promise<OutgoingResponse>((resolve) => {
          release = () => resolve(textResponse(200, 'late'));
        }),
    );
    const reply = exchange(server, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => metrics.inFlight).toBe(1);
    const closing = server.close();
    const refused = connectPlain(server.address.port, '127.0.0.1');
    await closedOf(refused);
    release();
    expect(await reply).toContain('late');
    await closing;
  });

  test('does not wait for idle connections', async () => {
    const { server } = await serve(async () => textResponse(200, 'ok'));
    const socket = await secured(server);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await server.close();
    await closedOf(socket);
  });

  test('closes connections that do not finish', async () => {
    const { server, metrics } = await serve(() => new Promise<OutgoingResponse>(() => {}));
    const reply = exchange(server, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => metrics.inFlight).toBe(1);
    await server.close();
    expect(await reply).toBe('');
  });

  test('ends streams gracefully', async () => {
    const { server } = await serve(async () => ({
      status: 200,
      headers: {},
      stream: (sink) => ({
        drained() {},
        closed() {},
        finish() {
          sink.write(Buffer.from('farewell'));
          sink.end();
        },
      }),
    }));
    const reply = exchange(server, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const socket = await secured(server);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await server.close();
    expect(await reply).toMatch(/\r\n8\r\nfarewell\r\n0\r\n\r\n$/);
  });
});

async function serve(handler: RequestHandler, connectionsMax?: number) {
  const errors: unknown[] = [];
  const metrics = newMetrics();
  const server = await HttpServer.listen({
    credentials,
    host: '127.0.0.1',
    port: 0,
    handler,
    clock: realClock,
    metrics,
    onError: (error) => errors.push(error),
    ...(connectionsMax === undefined ? {} : { connectionsMax }),
  });
  opened.push(server);
  return { server, errors, metrics };
}

async function secured(server: HttpServer): Promise<TLSSocket> {
  const { port } = server.address;
  const socket = connect({ host: '127.0.0.1', port, ca: credentials.certificate });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  return socket;
}

/** Sends `text` verbatim and returns everything received. */
async function exchange(server: HttpServer, text: string): Promise<string> {
  const socket = await secured(server);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(text);
  await closedOf(socket);
  return Buffer.concat(chunks).toString('latin1');
}

function closedOf(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
}
