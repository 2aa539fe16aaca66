import { constants } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { parseServerJson } from '../apiserver/schema/json-reader.ts';
import { jsonText } from '../kube/go/json-text.ts';
import { messageOf } from '../runtime/error-message.ts';
import type { Extender } from './extender.ts';
import { BadExtenderRequest, readArgs, readBindingArgs, readPreemptionArgs } from './extender-protocol.ts';

export interface ExtenderTls {
  /** PEM, like the other two. */
  readonly certificate: string;
  readonly key: string;
  /** Only clients with a certificate signed by it are authorized. Without it every client may send requests except `/bind`. */
  readonly clientAuthority?: string | undefined;
}

export interface ExtenderServerOptions {
  readonly extender: Extender;
  /** Undefined: all addresses of the machine, IPv4 and IPv6. */
  readonly host: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Undefined: plain HTTP without `/bind`. */
  readonly tls: ExtenderTls | undefined;
  /** Called with internal errors, and with errors of connections. */
  readonly onError: (error: unknown) => void;
}

/** Enough for thousands of whole nodes, which kube-scheduler sends if it is configured with `nodeCacheCapable: false`. */
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

  /** Rejects if the address cannot be listened on. */
  static async listen(options: ExtenderServerOptions): Promise<ExtenderServer> {
    const listening = new ExtenderServer(options);
    const { host, port, onError } = options;
    await new Promise<void>((resolve, reject) => {
      listening.#server.once('error', reject).listen({ host, port }, resolve);
    });
    listening.#server.on('error', onError);
    return listening;
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
    request.on('error', () => {}); // 'close' follows, and reading the body fails.
    try {
      const { status, body } = await this.#answer(request);
      const isText = typeof body === 'string';
      const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
      response.writeHead(status, { 'Content-Type': type, ...(status === 413 && { Connection: 'close' }) });
      response.end(isText ? `${body}\n` : jsonText(body));
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
      return { status: 404, body: `unknown path ${path}; must be one of ${known}` };
    }
    if (request.method !== 'POST')
      return { status: 405, body: `${path}: the method must be POST, not ${request.method}` };
    const refusal = this.#refusal(request, path === '/bind');
    if (refusal !== undefined) return { status: 403, body: refusal };
    return await this.#run(verb, request);
  }

  #refusal({ socket }: IncomingMessage, isBind: boolean): string | undefined {
    const authority = this.#options.tls?.clientAuthority;
    if (authority === undefined)
      return isBind ? '/bind requires client certificates; start the extender with --client-ca' : undefined;
    const why = certificateProblem(socket as TLSSocket);
    return why === undefined
      ? undefined
      : `a client certificate signed by the configured authority is required: ${why}`;
  }

  async #run(verb: Verb, request: IncomingMessage): Promise<Answer> {
    try {
      const text = await bodyOf(request);
      if (text === undefined)
        return { status: 413, body: `the body is too large: must be at most ${bodyMaxBytes} bytes` };
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

/** Both checks are necessary: Node.js reports a resumed session as `authorized` even if there never was a certificate. */
function certificateProblem(socket: TLSSocket): string | undefined {
  // Its type says that it is always set. Without a certificate it is an empty object, and after the connection has ended undefined.
  const certificate: Partial<PeerCertificate> | undefined = socket.getPeerCertificate();
  if (certificate?.raw === undefined) return 'none was presented';
  return socket.authorized ? undefined : String(socket.authorizationError);
}

function tlsOptions({ certificate, key, clientAuthority }: ExtenderTls) {
  return {
    ...timeouts,
    cert: certificate,
    key,
    minVersion: 'TLSv1.2' as const,
    handshakeTimeout: 10_000,
    // Every connection must present its certificate. Without tickets no session is resumed, and the server caches none.
    secureOptions: constants.SSL_OP_NO_TICKET,
    // Health checks come without a certificate; other requests get a response that says why they are rejected.
    ...(clientAuthority !== undefined && {
      ca: clientAuthority,
      requestCert: true,
      rejectUnauthorized: false,
    }),
  };
}

/** Undefined if it is too large. */
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
    return parseServerJson(text);
  } catch (error) {
    throw new BadExtenderRequest(`the body is not valid JSON: ${(error as Error).message}`);
  }
}
