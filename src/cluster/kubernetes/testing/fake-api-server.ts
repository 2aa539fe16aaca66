import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../../runtime/random.ts';
import { KubernetesCluster, type KubernetesConnectOptions } from '../client.ts';
import { fastClock } from './fast-clock.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socket: Socket;
}

export type FakeApiHandler = (request: ReceivedRequest, response: ServerResponse, count: number) => unknown;

/** A server on a real socket that answers as the test says, and records its requests. */
export class FakeApiServer {
  readonly received: ReceivedRequest[] = [];
  readonly #server: Server;
  readonly #cleanUps: (() => Promise<unknown>)[] = [];
  #url = '';

  private constructor(handler: FakeApiHandler, tls: ServerOptions | undefined) {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { method = '', url = '', headers, socket } = request;
        this.received.push({ method, url, headers, body, socket });
        handler({ method, url, headers, body, socket }, response, this.received.length);
      });
    };
    this.#server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  static async start(handler: FakeApiHandler, tls?: ServerOptions): Promise<FakeApiServer> {
    const server = new FakeApiServer(handler, tls);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    const { port } = server.#server.address() as AddressInfo;
    server.#url = tls === undefined ? `http://127.0.0.1:${port}` : `https://127.0.0.1:${port}`;
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** A client whose kubeconfig leads to this server. */
  async connect(
    config: TestConfig = {},
    options: Partial<KubernetesConnectOptions> = {},
  ): Promise<KubernetesCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'stowage-'));
    const kubeconfig = writeKubeconfig(folder, { server: this.#url, ...config.cluster }, config.user);
    const defaults = { clock: fastClock, random: seededRandom('client'), env: {}, kubeconfig };
    const cluster = await KubernetesCluster.connect({ ...defaults, ...options });
    this.#cleanUps.push(
      () => cluster.close(),
      () => rm(folder, { recursive: true }),
    );
    return cluster;
  }

  async close(): Promise<void> {
    for (const cleanUp of this.#cleanUps.splice(0)) await cleanUp();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export interface TestConfig {
  readonly cluster?: object;
  readonly user?: object;
}

function writeKubeconfig(folder: string, cluster: object, user: object = {}): string {
  const path = join(folder, 'config');
  // JSON is YAML.
  const content = {
    'current-context': 'test',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function respond(response: ServerResponse, code: number, body: unknown, headers: object = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function statusBody(code: number, reason: string, message = reason): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

export function listBody(names: readonly string[] = [], version = '7', next?: string): object {
  return {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: version, ...(next === undefined ? {} : { continue: next }) },
    items: names.map((name) => ({ metadata: { name, namespace: 'default', resourceVersion: version } })),
  };
}

export function eventLine(type: string, name: string, version: string): string {
  return `${JSON.stringify({ type, object: { metadata: { name, namespace: 'default', resourceVersion: version } } })}\n`;
}
