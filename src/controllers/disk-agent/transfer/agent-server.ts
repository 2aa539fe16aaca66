import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeCertificate } from '../../../io/tls/certificate.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import type { AgentAddress } from '../agent-address.ts';
import { isDataName } from '../files/data-folder.ts';
import { type AgentAnswer, forbiddenAnswer, type ReadableData, type ServedData } from './agent-answer.ts';
import { bearerTokenIn } from './bearer-token.ts';
import { UnauthenticatedConnections, unauthenticatedLimits } from './unauthenticated-connections.ts';

export interface AgentServerOptions {
  /** The address to listen on; undefined: every address of the machine. */
  readonly host: string | undefined;
  /** 0 picks a free one. */
  readonly port: number;
  /** The host in the URL for clients. */
  readonly advertisedHost: string;
  readonly served: ServedData;
  readonly clock: Clock;
  /** Called with errors that no client caused. */
  readonly onError: (error: unknown) => void;
}

/** Connections with a valid token. */
const authenticatedMax = 256;
/** A client has so long for its handshake, and then for a request with a token. */
const headersMaxMs = 5_000;
const handshakeMaxMs = 5_000;
const headersCheckedEveryMs = 1_000;
/** A client that neither sends nor reads is disconnected. */
const idleMaxMs = 60_000;
/** After a refusal, a client may send this much before it is disconnected: it reads the answer only when it has sent something. */
const drainedBytesMax = 2 ** 20;
const chunkBytes = 2 ** 20;

/**
 * The agent's HTTPS server: takes uploads of images, and gives data to other agents.
 *
 * ```
 * HEAD /images/NAME/data     how much is there
 * GET  /images/NAME/data     the data; Range: bytes=N-
 * PUT  /images/NAME/data     an upload; Content-Range: bytes N-M/TOTAL continues one
 * GET  /replicas/NAME/data   the data
 * ```
 *
 * Every request needs a bearer token whose SHA-256 is in the object. The certificate is made at every start; clients recognize it by its hash in
 * `StorageNode.status.upload`.
 */
export class AgentServer implements AsyncDisposable {
  readonly address: AgentAddress;
  readonly #server: Server;

  private constructor(server: Server, address: AgentAddress) {
    this.#server = server;
    this.address = address;
  }

  static async start(options: AgentServerOptions): Promise<AgentServer> {
    const { advertisedHost, clock } = options;
    const { certificate, key } = makeCertificate(clock.nowMs(), [advertisedHost]);
    const unauthenticated = new UnauthenticatedConnections();
    const server = createServer(
      {
        cert: certificate,
        key,
        minVersion: 'TLSv1.2',
        headersTimeout: headersMaxMs,
        connectionsCheckingInterval: headersCheckedEveryMs,
        requestTimeout: 0,
        handshakeTimeout: handshakeMaxMs,
      },
      (request, response) => {
        const onAuthenticated = () => unauthenticated.delete(request.socket);
        void new AgentExchange({ ...options, onAuthenticated }, request, response).run();
      },
    );
    server.maxConnections = authenticatedMax + unauthenticatedLimits.totalMax;
    server.on('connection', (socket: Socket) => unauthenticated.add(socket));
    server.on('secureConnection', (socket) => socket.setTimeout(idleMaxMs, () => socket.destroy()));
    await listening(server, options);
    const shownHost = advertisedHost.includes(':') ? `[${advertisedHost}]` : advertisedHost;
    const url = `https://${shownHost}:${(server.address() as AddressInfo).port}`;
    return new AgentServer(server, { url, certificateSHA256: certificateHash(certificate) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

function listening(server: Server, { host, port, onError }: AgentServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: unknown) => {
      const where = `${host ?? ''}:${port}`;
      const message = `the disk agent can't listen on ${where}: ${messageOf(error)}; choose another with --disk-agent-address`;
      reject(new Error(message, { cause: error }));
    };
    server.once('error', failed);
    server.listen({ port, host }, () => {
      server.off('error', failed);
      server.on('error', onError);
      resolve();
    });
  });
}

interface ExchangeOptions extends AgentServerOptions {
  /** Called when the token of the request has been accepted. */
  readonly onAuthenticated: () => void;
}

/** One request and its answer. */
class AgentExchange {
  readonly #options: ExchangeOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(options: ExchangeOptions, request: IncomingMessage, response: ServerResponse) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
  }

  async run(): Promise<void> {
    try {
      const answer = await this.#answer();
      if (answer !== undefined) await this.#send(answer);
    } catch (error) {
      if (isDisconnected(error, this.#request)) return;
      this.#options.onError(error);
      if (this.#response.headersSent) this.#request.destroy();
      else await this.#send({ status: 500, message: 'the agent failed; its log says why' });
    }
  }

  /** Undefined if data was sent. */
  async #answer(): Promise<AgentAnswer | undefined> {
    const { method = '', url = '', headers } = this.#request;
    const [, subfolder, name = ''] = /^\/(images|replicas)\/([^/?#%]+)\/data$/.exec(url) ?? [];
    if (subfolder === undefined || !isDataName(name))
      return { status: 404, message: 'the path must be /images/NAME/data or /replicas/NAME/data' };
    const methods = subfolder === 'images' ? ['GET', 'HEAD', 'PUT'] : ['GET', 'HEAD'];
    if (!methods.includes(method)) {
      const allowed = methods.join(', ');
      return { status: 405, message: `the method must be one of ${allowed}`, headers: { Allow: allowed } };
    }
    const token = bearerTokenIn(headers.authorization);
    if (token === undefined)
      return {
        status: 401,
        message: 'send the header Authorization: Bearer TOKEN',
        headers: { 'WWW-Authenticate': 'Bearer' },
      };
    if (method === 'PUT') return await this.#upload(name, token);
    const state = subfolder === 'images' ? await this.#uploadState(method, name, token) : undefined;
    return state ?? (await this.#read(subfolder === 'images' ? 'BackingImage' : 'Replica', name, token));
  }

  async #uploadState(method: string, name: string, token: string): Promise<AgentAnswer | undefined> {
    const state = await this.#options.served.uploadState(name, token);
    if (state !== undefined) this.#options.onAuthenticated();
    // The client that uploads an image has it already.
    return state !== undefined && method === 'GET' ? forbiddenAnswer : state;
  }

  async #upload(imageName: string, token: string): Promise<AgentAnswer> {
    const { headers } = this.#request;
    const contentLength = Number(headers['content-length'] ?? Number.NaN);
    if (!Number.isSafeInteger(contentLength))
      return { status: 411, message: 'send the header Content-Length; chunked bodies are not accepted' };
    const contentRange = headers['content-range'];
    const body = this.#acceptedBody();
    const cancel = () => void this.#request.destroy();
    return await this.#options.served.upload({ imageName, token, contentRange, contentLength, body, cancel });
  }

  /** Its first byte is read after the token was accepted. */
  async *#acceptedBody(): AsyncIterable<Uint8Array> {
    this.#options.onAuthenticated();
    yield* this.#request as AsyncIterable<Uint8Array>;
  }

  async #read(
    kind: 'Replica' | 'BackingImage',
    name: string,
    token: string,
  ): Promise<AgentAnswer | undefined> {
    const found = await this.#options.served.read(kind, name, token);
    if ('status' in found) return found;
    this.#options.onAuthenticated();
    const { range } = this.#request.headers;
    const start = range === undefined ? 0 : Number(/^bytes=(\d{1,16})-$/.exec(range)?.[1] ?? Number.NaN);
    if (!Number.isSafeInteger(start) || start > found.bytes)
      return { status: 416, message: `Range must be bytes=N-, where N is at most ${found.bytes}` };
    await this.#sendData(found, start, range !== undefined);
    return undefined;
  }

  async #sendData(found: ReadableData, start: number, isPart: boolean): Promise<void> {
    const { bytes, occupiedBytes, sha512 } = found;
    // A replica without any bytes is described by its headers alone.
    const isSkipped = this.#request.method === 'HEAD' || (occupiedBytes === 0 && sha512 === undefined);
    this.#response.writeHead(isPart ? 206 : 200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': isSkipped && this.#request.method === 'GET' ? 0 : bytes - start,
      ...(isPart && { 'Content-Range': `bytes ${start}-${Math.max(start, bytes - 1)}/${bytes}` }),
      'X-Stowage-Size': bytes,
      'X-Stowage-Occupied': occupiedBytes,
      ...(sha512 !== undefined && { 'X-Stowage-SHA512': sha512 }),
    });
    if (isSkipped) this.#response.end();
    else await pipeline(Readable.from(dataFrom(found, start)), this.#response);
  }

  async #send({ status, message, headers = {} }: AgentAnswer): Promise<void> {
    const body = Buffer.from(`${message}\n`);
    const isRefused = status >= 400;
    // HEAD has no body; its length says how much is there.
    const length =
      this.#request.method === 'HEAD' && headers['Upload-Offset'] ? headers['Upload-Offset'] : body.length;
    this.#response.writeHead(status, {
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'Content-Length': length,
      ...(isRefused && { Connection: 'close' }),
      ...headers,
    });
    this.#response.end(body);
    if (isRefused && !this.#request.complete) await this.#drain();
  }

  async #drain(): Promise<void> {
    let bytes = 0;
    for await (const chunk of this.#request) {
      bytes += (chunk as Buffer).length;
      if (bytes > drainedBytesMax) break;
    }
    this.#request.destroy();
  }
}

async function* dataFrom({ folder, bytes }: ReadableData, start: number): AsyncIterable<Uint8Array> {
  const file = await folder.openData();
  try {
    for (let at = start; at < bytes; ) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, bytes - at));
      const read = await file.read(buffer, at);
      if (read === 0) throw new Error(`${file.path} became shorter while it was sent`);
      yield buffer.subarray(0, read);
      at += read;
    }
  } finally {
    await file.close();
  }
}

/** The client has disconnected, which is not an error of the agent. */
function isDisconnected(error: unknown, request: IncomingMessage): boolean {
  const { code } = error as { readonly code?: unknown };
  const isOfStream = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'];
  return isOfStream.includes(String(code)) || (request.destroyed && /abort/i.test(messageOf(error)));
}

/** SHA-256 of a PEM certificate, in hexadecimal digits. */
function certificateHash(pem: string): string {
  return createHash('sha256').update(new X509Certificate(pem).raw).digest('hex');
}
