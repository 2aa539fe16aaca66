import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { assert } from '../../runtime/assert.ts';
import type { Certificate, Credential } from './credentials.ts';

/** Further requests wait for a connection; each watch has a separate one. */
const connectionsMax = 64;
const connectTimeoutMs = 10_000;
/** Load balancers commonly drop connections that are idle for a minute. */
const keepAliveMs = 30_000;
/** Below what a string of V8 can hold; pages are far smaller. */
const answerBytesMax = 256 * 1024 * 1024;

export interface TransportOptions {
  readonly server: URL;
  readonly certificateAuthority?: Buffer | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly tlsServerName?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly userAgent: string;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's base URL, with the query. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** The media types that the caller reads; JSON by default. */
  readonly accept?: string | undefined;
  readonly credential: Credential;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Dispatcher.ResponseData['body'];
}

/**
 * Connections to one server. Requests share connections that are kept open; watches have their own without a timeout. When
 * the client certificate changes, new connections are opened, and the old ones end with the requests on them. Redirects are not followed:
 * they would send credentials elsewhere.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #basePath: string;
  /** Connections by client certificate: requests without one, such as those for other users, never go over a connection that has one. */
  readonly #current = new Map<Certificate | undefined, Connections>();
  readonly #retiring = new Set<Promise<void>>();
  readonly #all = new Set<Connections>();
  #isClosed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#basePath = options.server.pathname.replace(/\/+$/, '');
  }

  /** `GET https://host/api/v1/pods`, for messages: without the query, which may be long. */
  describe({ method, path }: Pick<HttpRequest, 'method' | 'path'>): string {
    return `${method} ${this.#options.server.origin}${this.#basePath}${path.split('?', 1)[0]}`;
  }

  /** Resolves when the headers have arrived. The caller reads the body to its end, or aborts. */
  async send(request: HttpRequest, kind: 'request' | 'watch'): Promise<HttpAnswer> {
    const { requests, watches } = this.#connectionsFor(request.credential.certificate);
    const dispatcher = kind === 'watch' ? watches : requests;
    const { statusCode, headers, body } = await dispatcher.request({
      origin: this.#options.server.origin,
      method: request.method,
      path: this.#basePath + request.path,
      headers: this.#headersOf(request),
      body: request.body ?? null,
      signal: request.signal,
    });
    return { statusCode, headers, body };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Closes all connections, and everything that still runs on them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ends = [...this.#all].flatMap(({ requests, watches }) => [requests.destroy(), watches.destroy()]);
    await Promise.all([...ends, ...this.#retiring]);
  }

  #headersOf({ body, contentType, accept, credential }: HttpRequest): Record<string, string | string[]> {
    const headers: Record<string, string | string[]> = {
      accept: accept ?? 'application/json',
      'user-agent': this.#options.userAgent,
    };
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    // As client-go: credentials are not sent in clear text.
    if (this.#options.server.protocol !== 'https:') return headers;
    for (const [name, value] of Object.entries(credential.headers))
      headers[name] = typeof value === 'string' ? value : [...value];
    return headers;
  }

  #connectionsFor(certificate: Certificate | undefined): Connections {
    assert(!this.#isClosed, 'the connection to the cluster is closed');
    const known = this.#current.get(certificate);
    if (known !== undefined) return known;
    if (certificate !== undefined) this.#retireCertificates();
    const opened = openConnections(this.#options, certificate);
    this.#current.set(certificate, opened);
    this.#all.add(opened);
    return opened;
  }

  /** A new certificate replaces the one before. */
  #retireCertificates(): void {
    for (const [certificate, old] of [...this.#current]) {
      if (certificate === undefined) continue;
      this.#current.delete(certificate);
      this.#retire(old);
    }
  }

  #retire(old: Connections): void {
    const forget = () => {
      this.#all.delete(old);
      this.#retiring.delete(ended);
    };
    const ended: Promise<void> = Promise.all([old.requests.close(), old.watches.close()]).then(
      forget,
      forget,
    );
    this.#retiring.add(ended);
  }
}

interface Connections {
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

function openConnections(options: TransportOptions, certificate: Certificate | undefined): Connections {
  const tls = {
    rejectUnauthorized: options.insecureSkipTlsVerify !== true,
    // Created once for all connections: reading the certificates is a third of the cost of opening one.
    secureContext: createSecureContext({
      ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
      ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
    }),
    ...serverNameOf(options),
    timeout: connectTimeoutMs,
  };
  const shared = { keepAliveTimeout: keepAliveMs, headersTimeout: 0, bodyTimeout: 0 };
  const open = (limits: Pool.Options): Dispatcher => {
    if (options.proxyUrl === undefined) return new Pool(options.server.origin, { ...limits, connect: tls });
    return new ProxyAgent({ ...limits, uri: options.proxyUrl, requestTls: tls });
  };
  return {
    requests: open({ ...shared, connections: connectionsMax, maxResponseSize: answerBytesMax }),
    watches: open(shared),
  };
}

/** IP addresses have no server name. */
function serverNameOf({ tlsServerName, server }: TransportOptions): { readonly servername?: string } {
  const servername = tlsServerName ?? server.hostname;
  return isIP(servername.replace(/^\[|\]$/g, '')) === 0 ? { servername } : {};
}
