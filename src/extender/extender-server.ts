import { constants } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { messageOf } from '../runtime/error-message.ts';
import type { Extender } from './extender.ts';
import { BadExtenderRequest, readArgs, readBindingArgs, readPreemptionArgs } from './extender-protocol.ts';

export interface ExtenderTls {
  /** PEM, as are the others. */
  readonly certificate: string;
  readonly key: string;
  /** Who is allowed in: callers with a certificate that it has signed. Without it everybody may ask, and nobody may bind. */
  readonly clientAuthority?: string | undefined;
}

export interface ExtenderServerOptions {
  readonly extender: Extender;
  /** Undefined: every address of the machine, of IPv4 and IPv6. */
  readonly host: string | undefined;
  /** 0 takes any that is free. */
  readonly port: number;
  /** Undefined: plain HTTP, and nobody may bind. */
  readonly tls: ExtenderTls | undefined;
  /** Told of bugs, and of connections that broke. */
  readonly onError: (error: unknown) => void;
}

/** Thousands of whole nodes, of a kube-scheduler that is told that we keep no cache. */
const bodyMaxBytes = 64 * 1024 * 1024;
const connectionsMax = 256;
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 100_000 };

type Verb = (extender: Extender, body: unknown) => Promise<unknown>;

const verbs: Readonly<Record<string, Verb>> = {
  '/filter': (extender, body) => extender.filter(readArgs(body)),
  '/prioritize': (extender, body) => extender.prioritize(readArgs(body)),
  '/preempt': (extender, body) => extender.preempt(readPreemptionArgs(body)),
  '/bind': (extender, body) => extender.bind(readBindingArgs(body)),
};

const healthPaths: readonly (string | undefined)[] = ['/healthz', '/livez', '/readyz'];

/** kube-scheduler's extender protocol over HTTPS. */
export class ExtenderServer implements AsyncDisposable {
  readonly #options: ExtenderServerOptions;
  readonly #server: ReturnType<typeof createHttpsServer> | ReturnType<typeof createHttpServer>;

  private constructor(options: ExtenderServerOptions) {
    this.#options = options;
    const { tls } = options;
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    this.#server =
      tls === undefined ? createHttpServer(timeouts, serve) : createHttpsServer(tlsOptions(tls), serve);
    this.#server.maxConnections = connectionsMax;
  }

  /** Rejects when the address cannot be taken. */
  static async listen(options: ExtenderServerOptions): Promise<ExtenderServer> {
    const made = new ExtenderServer(options);
    const { host, port, onError } = options;
    await new Promise<void>((resolve, reject) => {
      made.#server.once('error', reject).listen({ host, port }, resolve);
    });
    made.#server.on('error', onError);
    return made;
  }

  get url(): string {
    const { address, family, port } = this.#server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    return `${this.#options.tls === undefined ? 'http' : 'https'}://${host}:${port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => {}); // 'close' follows, and whoever reads the body is told.
    try {
      const { status, body } = await this.#answer(request);
      const isText = typeof body === 'string';
      const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
      response.writeHead(status, { 'Content-Type': type, ...(status === 413 && { Connection: 'close' }) });
      response.end(isText ? `${body}\n` : JSON.stringify(body));
    } catch (error) {
      if (!response.destroyed) this.#options.onError(error);
      response.destroy();
    }
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const [path] = (request.url ?? '/').split('?');
    if (healthPaths.includes(path)) return { status: 200, body: 'ok' };
    const verb = Object.hasOwn(verbs, path!) ? verbs[path!] : undefined;
    if (verb === undefined) {
      const known = [...Object.keys(verbs), '/healthz'].join(', ');
      return { status: 404, body: `there is no ${path}; there are ${known}` };
    }
    if (request.method !== 'POST') return { status: 405, body: `${path} takes POST, not ${request.method}` };
    const refusal = this.#refusal(request, path === '/bind');
    if (refusal !== undefined) return { status: 403, body: refusal };
    return await this.#run(verb, request);
  }

  #refusal({ socket }: IncomingMessage, isBind: boolean): string | undefined {
    const authority = this.#options.tls?.clientAuthority;
    if (authority === undefined)
      return isBind
        ? '/bind needs callers to prove themselves; start the extender with --client-ca'
        : undefined;
    const why = certificateProblem(socket as TLSSocket);
    return why === undefined
      ? undefined
      : `a client certificate of the configured authority is needed: ${why}`;
  }

  async #run(verb: Verb, request: IncomingMessage): Promise<Answer> {
    try {
      const text = await bodyOf(request);
      if (text === undefined)
        return { status: 413, body: `the body is too large: at most ${bodyMaxBytes} bytes are taken` };
      return { status: 200, body: await verb(this.#options.extender, parsed(text)) };
    } catch (error) {
      if (error instanceof BadExtenderRequest) return { status: 400, body: error.message };
      if (request.destroyed && !request.complete) throw error;
      this.#options.onError(error);
      return { status: 500, body: messageOf(error) };
    }
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Both have to be so: Node calls a session that was resumed `authorized`, also where there never was a certificate. */
function certificateProblem(socket: TLSSocket): string | undefined {
  // Typed as if it were always there; without a certificate it is an empty object, and after the end of the connection nothing.
  const shown: Partial<PeerCertificate> | undefined = socket.getPeerCertificate();
  if (shown?.raw === undefined) return 'there is none';
  return socket.authorized ? undefined : String(socket.authorizationError);
}

function tlsOptions({ certificate, key, clientAuthority }: ExtenderTls) {
  return {
    ...timeouts,
    cert: certificate,
    key,
    minVersion: 'TLSv1.2' as const,
    handshakeTimeout: 10_000,
    // Every connection shows its certificate anew. Without tickets nothing is resumed: we keep no sessions either.
    secureOptions: constants.SSL_OP_NO_TICKET,
    // Whoever asks after our health has none; the others are told why they are turned away.
    ...(clientAuthority !== undefined && {
      ca: clientAuthority,
      requestCert: true,
      rejectUnauthorized: false,
    }),
  };
}

/** Undefined where it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > bodyMaxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyMaxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadExtenderRequest(`the body is no JSON: ${(error as Error).message}`);
  }
}
