import { type ClientRequest, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { request as securedRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../kube/api-error.ts';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { type ServedCluster, serveCluster } from '../testing/served-cluster.ts';
import { BodyReceiver } from './request-body.ts';

const kib = 1024;
const limitBytes = 1000 * kib;

describe('when the memory for bodies is exhausted', () => {
  let fixture: ReceiverFixture;
  afterEach(() => fixture.close());

  test('the sender that holds the most loses a body, not the newest sender', async () => {
    fixture = await ReceiverFixture.start();
    const slow = await fixture.sendAll('greedy', 9, 100 * kib);
    const other = await fixture.send('modest', 99 * kib);
    await other.more(99 * kib);
    expect(await other.finish()).toBe('198 KiB');
    expect(fixture.refused).toBe(1);
    await expect.poll(() => outcomes(slow)).toEqual({ refused: 1, open: 8 });
  });

  test('many small bodies of one sender give way to a larger body of another', async () => {
    fixture = await ReceiverFixture.start();
    await fixture.sendAll('greedy', 90, 11 * kib);
    const other = await fixture.send('modest', 200 * kib);
    expect(await other.finish()).toBe('200 KiB');
  });

  test('the slowest body of a sender gives way', async () => {
    fixture = await ReceiverFixture.start();
    const slow = await fixture.sendAll('one', 9, 100 * kib);
    await fixture.clock.advance(10_000);
    const quick = await fixture.send('one', 150 * kib);
    await quick.more(150 * kib);
    expect(await quick.finish()).toBe('300 KiB');
    expect(fixture.refused).toBe(2);
    await expect.poll(() => outcomes(slow)).toEqual({ refused: 2, open: 7 });
  });

  test('refused and aborted bodies free memory for others', async () => {
    fixture = await ReceiverFixture.start();
    for (let round = 0; round < 3; round += 1) {
      const slow = await fixture.sendAll('one', 9, 100 * kib);
      for (const each of slow) each.disconnect();
      await expect.poll(() => fixture.open).toBe(0);
    }
    const last = await fixture.send('one', 900 * kib);
    expect(await last.finish()).toBe('900 KiB');
    expect(fixture.refused).toBe(0);
  });
});

describe('a body', () => {
  let fixture: ReceiverFixture;
  afterEach(() => fixture.close());

  test('that does not arrive within forty seconds is refused', async () => {
    fixture = await ReceiverFixture.start();
    const slow = await fixture.send('one', 10 * kib);
    await fixture.clock.advance(39_999);
    expect(fixture.open).toBe(1);
    await fixture.clock.advance(1);
    expect(await slow.response).toBe('408 Timeout: the body of the request did not arrive within 40 seconds');
    slow.disconnect();
  });

  test('that arrives leaves no timer behind', async () => {
    fixture = await ReceiverFixture.start();
    expect(await (await fixture.send('one', kib)).finish()).toBe('1 KiB');
    expect(fixture.clock.pending).toBe(0);
  });
});

test('a client that fills the memory with slow bodies does not block other writers', async () => {
  const cluster = await serveCluster({ bodiesMaxBytes: limitBytes });
  const slow = Array.from({ length: 14 }, () => slowWrite(cluster, 100 * kib));
  await expect.poll(() => cluster.server.metrics.bodiesRefused).toBeGreaterThanOrEqual(4);
  const object = { metadata: { name: 'quick' }, data: { text: 'x'.repeat(150 * kib) } };
  const reply = await cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
    body: object,
    headers: userHeaders('quick'),
  });
  expect(reply.status).toBe(201);
  const refusals = () => slow.filter(({ status }) => status !== undefined);
  await expect.poll(() => refusals().length).toBeGreaterThanOrEqual(5);
  expect(refusals()[0]).toMatchObject({
    status: 429,
    retryAfter: '1',
    body: { kind: 'Status', reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds: 1 } },
  });
  for (const { sent } of slow) sent.destroy();
  await cluster.close();
  expect(cluster.errors).toEqual([]);
});

function outcomes(sending: readonly Sending[]) {
  const refused = sending.filter(({ reply }) => reply?.startsWith('429 TooManyRequests: ')).length;
  return { refused, open: sending.filter(({ reply }) => reply === undefined).length };
}

/** A receiver behind a server that only receives, under virtual time. */
class ReceiverFixture {
  readonly clock = new VirtualClock();
  readonly #server: Server;
  readonly #bodies: BodyReceiver;
  readonly #sent: Sending[] = [];
  refused = 0;
  open = 0;
  receivedBytes = 0;

  private constructor() {
    const onRefused = () => (this.refused += 1);
    this.#bodies = new BodyReceiver({ clock: this.clock, onRefused, allBodiesMaxBytes: limitBytes });
    this.#server = createServer((message, response) => {
      this.open += 1;
      message.on('data', (chunk: Buffer) => (this.receivedBytes += chunk.length));
      void this.#receive(message).then((reply) => {
        this.open -= 1;
        response.end(reply);
      });
    });
  }

  static async start(): Promise<ReceiverFixture> {
    const made = new ReceiverFixture();
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  async sendAll(sender: string, count: number, bytes: number): Promise<readonly Sending[]> {
    const all: Sending[] = [];
    for (let index = 0; index < count; index += 1) all.push(await this.send(sender, bytes));
    return all;
  }

  /** Resolves when the first `bytes` have arrived. */
  async send(sender: string, bytes: number): Promise<Sending> {
    const { port } = this.#server.address() as AddressInfo;
    const sent = request({ port, host: '127.0.0.1', method: 'POST', headers: { sender }, agent: false });
    const sending = new Sending(sent, this);
    this.#sent.push(sending);
    await sending.more(bytes);
    return sending;
  }

  async close(): Promise<void> {
    for (const sending of this.#sent) sending.disconnect();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(message: IncomingMessage): Promise<string> {
    try {
      const body = await this.#bodies.receive(message, String(message.headers.sender));
      return `${body.length / kib} KiB`;
    } catch (error) {
      return error instanceof ApiError ? `${error.code} ${error.reason}: ${error.message}` : String(error);
    }
  }
}

class Sending {
  readonly response: Promise<string>;
  reply: string | undefined;
  readonly #sent: ClientRequest;
  readonly #fixture: ReceiverFixture;

  constructor(sent: ClientRequest, fixture: ReceiverFixture) {
    this.#sent = sent;
    this.#fixture = fixture;
    this.response = new Promise((resolve) => {
      sent.on('error', () => resolve('gone'));
      sent.on('response', async (response) => {
        let text = '';
        for await (const chunk of response) text += String(chunk);
        this.reply = text;
        resolve(text);
      });
    });
  }

  async more(bytes: number): Promise<void> {
    const wanted = this.#fixture.receivedBytes + bytes;
    this.#sent.write(Buffer.alloc(bytes, 'x'));
    await expect.poll(() => this.#fixture.receivedBytes, { interval: 2 }).toBe(wanted);
  }

  async finish(): Promise<string> {
    this.#sent.end();
    return await this.response;
  }

  disconnect(): void {
    this.#sent.destroy();
  }
}

interface SlowWrite {
  readonly sent: ClientRequest;
  status?: number;
  retryAfter?: string | undefined;
  body?: unknown;
}

/** Begins to create an object and never finishes the body. */
function slowWrite({ server, credentials }: ServedCluster, bytes: number): SlowWrite {
  const { hostname, port } = new URL(server.url);
  const sent = securedRequest({
    hostname,
    port,
    path: '/api/v1/namespaces/default/configmaps',
    method: 'POST',
    ca: credentials.certificate,
    agent: false,
    headers: {
      authorization: `Bearer ${credentials.token}`,
      'content-type': 'application/json',
      ...userHeaders('slow'),
    },
  });
  const write: SlowWrite = { sent };
  sent.on('error', () => {});
  sent.on('response', async (response) => {
    let text = '';
    for await (const chunk of response) text += String(chunk);
    write.status = response.statusCode ?? 0;
    write.retryAfter = response.headers['retry-after'];
    write.body = JSON.parse(text);
  });
  sent.write(Buffer.alloc(bytes, 'x'));
  return write;
}

function userHeaders(name: string): Readonly<Record<string, string>> {
  return { 'impersonate-user': name, 'impersonate-group': 'system:masters' };
}
