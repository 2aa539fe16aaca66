import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { parse } from 'yaml';
import { EmbeddedServer } from '../../../src/apiserver/embedded-server.ts';
import { realClock } from '../../../src/runtime/clock.ts';
import { systemIds } from '../../../src/runtime/ids.ts';
import { systemRandom } from '../../../src/runtime/random.ts';

/** The complete embedded server on a real socket, a client that trusts its certificate, and a record of all internal errors. */
export interface AttackedServer {
  readonly server: EmbeddedServer;
  readonly access: AttackedAccess;
  /** Errors that were reported to `onError`, and uncaught errors. */
  readonly bugs: string[];
  call(method: string, path: string, options?: AttackCallOptions): Promise<AttackReply>;
  /** The first line of a streamed response. */
  firstLine(path: string): Promise<string>;
  /** A TLS connection without HTTP. */
  dial(): Promise<TLSSocket>;
  close(): Promise<void>;
}

export interface AttackedAccess {
  readonly host: string;
  readonly port: number;
  /** Trusts the server's certificate. Reading the certificate costs more than a connection, so it is read once. */
  readonly secureContext: SecureContext;
  readonly token: string;
}

export interface AttackCallOptions {
  readonly body?: string | Uint8Array | object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null sends no header. */
  readonly authorization?: string | null;
}

export interface AttackReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export async function attackedServer(dataDirectory?: string): Promise<AttackedServer> {
  const bugs: string[] = [];
  const note = (where: string, error: unknown) =>
    bugs.push(`${where}: ${error instanceof Error ? error.stack : error}`);
  const uncaught = (error: unknown) => note('unhandled rejection', error);
  process.on('unhandledRejection', uncaught);
  const server = await EmbeddedServer.start({
    dataDirectory,
    clock: realClock,
    ids: systemIds,
    random: systemRandom,
    onError: (error, where) => note(where, error),
  });
  const access = accessOf(server.kubeconfig);
  const agent = new Agent({ keepAlive: true, secureContext: access.secureContext, maxSockets: 16 });
  return {
    server,
    access,
    bugs,
    call: (method, path, options = {}) => call({ access, agent, method, path, options }),
    firstLine: (path) => firstLine(access, path),
    dial: () => dial(access),
    async close() {
      agent.destroy();
      await server.close();
      process.off('unhandledRejection', uncaught);
    },
  };
}

interface KubeconfigContent {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

export function accessOf(kubeconfig: string): AttackedAccess {
  const { clusters, users } = parse(kubeconfig) as KubeconfigContent;
  const { cluster } = clusters[0];
  const { hostname, port } = new URL(cluster.server);
  return {
    host: hostname,
    port: Number(port),
    secureContext: createSecureContext({ ca: Buffer.from(cluster['certificate-authority-data'], 'base64') }),
    token: users[0].user.token,
  };
}

export async function dial(access: AttackedAccess): Promise<TLSSocket> {
  return (await dialOver(access)).socket;
}

/** Also returns the TCP socket, because only that can be reset. */
export function dialOver({ host, port, secureContext }: AttackedAccess) {
  const wire = connectPlain({ host, port });
  return new Promise<{ readonly socket: TLSSocket; readonly wire: Socket }>((resolve, reject) => {
    const socket = connect({ socket: wire, host, secureContext }, () => {
      socket.off('error', reject);
      resolve({ socket, wire });
    });
    // Callers expect the connection to break.
    for (const end of [wire, socket]) end.once('error', reject).on('error', () => {});
  });
}

function firstLine({ host, port, secureContext, token }: AttackedAccess, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname: host, port, path, headers, agent: new Agent({ secureContext }) },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
          if (text.includes('\n')) sent.destroy();
        });
        response.on('error', reject).on('end', () => resolve(text));
      },
    );
    sent.on('error', reject).end();
  });
}

interface Call {
  readonly access: AttackedAccess;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly options: AttackCallOptions;
}

export function call({ access, agent, method, path, options }: Call): Promise<AttackReply> {
  const { body, headers = {}, authorization = `Bearer ${access.token}` } = options;
  const bytes = body === undefined ? undefined : bytesOf(body);
  const all = {
    ...(authorization === null ? {} : { authorization }),
    ...(bytes === undefined ? {} : { 'content-type': 'application/json' }),
    ...(bytes === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': bytes.length }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    // Passed separately, because a URL would normalize odd paths.
    const target = { hostname: access.host, port: access.port, path, method, headers: all, agent };
    const sent = request(target, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

function bytesOf(body: string | Uint8Array | object): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
}
