import { type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { realClock } from '../../../runtime/clock.ts';
import { systemIds } from '../../../runtime/ids.ts';
import { seededRandom } from '../../../runtime/random.ts';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import { KindCatalog } from '../../kinds/kind-catalog.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import type { OperatorRules } from '../../registry/context/operator-rules.ts';
import { EmbeddedRegistry } from '../../registry/embedded-registry.ts';
import type { Registry } from '../../registry/registry.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { ApiServer, type ApiServerStartOptions } from '../api-server.ts';
import { createCredentials, type ServerCredentials } from '../credentials/credentials.ts';

/** An HTTPS server on a real socket over an in-memory registry, with a client that trusts it. */
export interface ServedCluster {
  readonly server: ApiServer;
  readonly registry: Registry;
  readonly credentials: ServerCredentials;
  /** The errors passed to `onError`. */
  readonly errors: unknown[];
  call(method: string, path: string, options?: CallOptions): Promise<ServerReply>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string | undefined;
  /** Sends the body without Content-Length. */
  readonly isChunked?: boolean;
}

export interface ServerReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  json<T = Readonly<Record<string, unknown>>>(): T;
}

export const servedKinds = builtInKindCatalog().all;

/** Shared by all tests, because generating a key is slow. */
const credentials = createCredentials({ nowMs: realClock.nowMs() });

export interface ServedClusterOptions
  extends Pick<ApiServerStartOptions, 'readyChecks' | 'moreMetrics' | 'bodiesMaxBytes'> {
  readonly kinds?: readonly ServedKind[];
  readonly store?: Store;
  readonly rules?: OperatorRules;
}

export async function serveCluster(options: ServedClusterOptions = {}): Promise<ServedCluster> {
  const registry = new EmbeddedRegistry({
    store: options.store ?? new MemoryStore({}),
    kinds: new KindCatalog(options.kinds ?? servedKinds),
    clock: realClock,
    ids: systemIds,
    rules: options.rules,
  });
  await createNamespace(registry, 'default');
  const errors: unknown[] = [];
  const server = await ApiServer.start({
    ...options,
    registry,
    credentials,
    clock: realClock,
    random: seededRandom('served cluster'),
    ids: systemIds,
    onError: (error) => errors.push(error),
  });
  const agent = new Agent({ keepAlive: true, ca: credentials.certificate });
  return {
    server,
    registry,
    credentials,
    errors,
    call: (method, path, options = {}) => call({ method, path, options, agent, url: server.url }),
    async close() {
      agent.destroy();
      await server.close();
    },
  };
}

async function createNamespace(registry: Registry, name: string): Promise<void> {
  const kind = registry.kinds.byKind('v1', 'Namespace');
  if (kind === undefined) throw new Error('namespaces are not served');
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {}, status: {} };
  await registry.create(kind, undefined, namespace as StoredObject, {
    manager: 'test',
    user: 'test',
    warn() {},
  });
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly options: CallOptions;
  readonly agent: Agent;
  readonly url: string;
}

function call({ method, path, options, agent, url }: Call): Promise<ServerReply> {
  const body = bodyOf(options.body);
  const token = 'token' in options ? options.token : credentials.token;
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(body === undefined || options.isChunked ? {} : { 'content-length': String(body.length) }),
    ...options.headers,
  };
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    // Passed separately: a URL object would normalize the odd paths that tests send.
    const sent = request({ hostname, port, path, method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve(replyOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))),
      );
    });
    sent.on('error', reject);
    if (body !== undefined) sent.write(body);
    sent.end();
  });
}

function bodyOf(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function replyOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): ServerReply {
  const text = bytes.toString('utf8');
  return { status, headers, bytes, text, json: <T>() => JSON.parse(text) as T };
}

/** The status or error code of a request without TLS. */
export function callWithoutTls(port: number): Promise<string> {
  return new Promise((resolve) => {
    const sent = plainRequest({ port, host: '127.0.0.1' }, (response) =>
      resolve(String(response.statusCode)),
    );
    sent.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? 'error'));
    sent.end();
  });
}
