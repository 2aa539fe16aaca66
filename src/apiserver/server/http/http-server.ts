import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsKeyPair } from '../../../io/tls/certificate.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ServerMetrics } from '../metrics.ts';
import {
  ClientDisconnected,
  type IncomingRequest,
  type RequestHandler,
  type ResponseStream,
  type StreamResponse,
} from './http-exchange.ts';
import { Pipelines } from './pipelines.ts';
import { BodyReceiver } from './request-body.ts';
import { ResponseWriter } from './response-writer.ts';
import { Warnings } from './warnings.ts';

export interface HttpServerOptions {
  readonly credentials: TlsKeyPair;
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly handler: RequestHandler;
  readonly clock: Clock;
  readonly metrics: ServerMetrics;
  /** Called when a handler throws, which is a bug: handlers must return a response. */
  onError(error: unknown, request: IncomingRequest): void;
  readonly connectionsMax?: number;
  /** The maximum of all request bodies being received at one time. */
  readonly bodiesMaxBytes?: number | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Each watch is a connection; a control plane with its controllers holds a few hundred. */
const connectionsMaxDefault = 8192;
/** Limits for slow clients, which hold memory. They do not apply to watches, which are meant to last. */
const handshakeMaxMs = 10_000;
const headersMaxMs = 20_000;
const requestMaxMs = 60_000;
/**
 * Longer than clients keep idle connections, so that the client closes first: if the server did, a request already sent
 * could be lost.
 */
const idleMaxMs = 100_000;
const headersMaxBytes = 64 * 1024;
/** How long close() waits for requests in flight. */
const closeMaxMs = 3_000;

/** HTTP/1.1 over TLS: connections, limits and graceful shutdown. The handler decides what requests mean. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #bodies: BodyReceiver;
  readonly #writer: ResponseWriter;
  readonly #streams = new Set<ResponseStream>();
  /** Stays set after closing, for log messages. */
  #address: Address = { host: '', port: 0 };
  #isClosing = false;
  #whenIdle: (() => void) | undefined;

  private constructor(options: HttpServerOptions) {
    this.#options = options;
    const { metrics, credentials, clock, bodiesMaxBytes } = options;
    const onRefused = () => (metrics.bodiesRefused += 1);
    this.#bodies = new BodyReceiver({ clock, onRefused, allBodiesMaxBytes: bodiesMaxBytes });
    this.#writer = new ResponseWriter({ metrics });
    this.#server = createServer({
      cert: credentials.certificate,
      key: credentials.key,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: handshakeMaxMs,
      headersTimeout: headersMaxMs,
      requestTimeout: requestMaxMs,
      keepAliveTimeout: idleMaxMs,
      maxHeaderSize: headersMaxBytes,
      connectionsCheckingInterval: 5_000,
      noDelay: true,
    });
    // Node silently drops headers beyond a count. If it dropped an impersonation header, the request would run with the
    // sender's own permissions. The size of headers is limited instead.
    this.#server.maxHeadersCount = 0;
    this.#server.maxConnections = options.connectionsMax ?? connectionsMaxDefault;
    this.#server.on('drop', () => (metrics.connectionsRefused += 1));
    const pipelines = new Pipelines((message, response) => void this.#serve(message, response));
    this.#server.on('request', (message, response) => pipelines.add(message, response));
  }

  /** Rejects when the address cannot be bound. */
  static async listen(options: HttpServerOptions): Promise<HttpServer> {
    const made = new HttpServer(options);
    await new Promise<void>((resolve, reject) => {
      made.#server.once('error', reject);
      made.#server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => {
        made.#server.off('error', reject);
        const { address, port } = made.#server.address() as AddressInfo;
        made.#address = { host: address, port };
        // Accepting can fail now and then when file descriptors run out; that must not end the process.
        made.#server.on('error', (error) => options.onError(error, noRequest));
        resolve();
      });
    });
    return made;
  }

  get address(): Address {
    return this.#address;
  }

  /** Accepts no more requests, ends watches, waits for requests to finish, and closes what is still open after three seconds. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const isDown = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // server.close() has closed idle connections already. A response that has ended but is still being sent counts as
    // idle too, and must not be cut.
    for (const stream of this.#streams) stream.finish();
    const deadline = this.#options.clock.after(closeMaxMs, () => this.#server.closeAllConnections());
    if (this.#options.metrics.inFlight > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    this.#server.closeIdleConnections();
    await isDown;
    deadline.cancel();
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics } = this.#options;
    metrics.requests += 1;
    metrics.inFlight += 1;
    response.once('close', () => {
      metrics.inFlight -= 1;
      metrics.responses[response.statusCode] = (metrics.responses[response.statusCode] ?? 0) + 1;
      if (metrics.inFlight === 0) this.#whenIdle?.();
    });
    response.on('error', () => {
      // The connection broke during a write; 'close' follows.
    });
    if (this.#isClosing) response.setHeader('Connection', 'close');
    const request = this.#requestOf(message, response);
    try {
      const outgoing = await this.#options.handler(request);
      if ('stream' in outgoing) this.#startStream(outgoing, response);
      else if ('pieces' in outgoing) await this.#writer.sendGenerated(request, outgoing, response);
      else await this.#writer.send(request, outgoing, response);
    } catch (error) {
      if (!(error instanceof ClientDisconnected)) this.#options.onError(error, request);
      response.destroy();
    }
  }

  #requestOf(message: IncomingMessage, response: ServerResponse): IncomingRequest {
    let closed: AbortSignal | undefined;
    const url = message.url ?? '/';
    const mark = url.indexOf('?');
    return {
      method: message.method ?? 'GET',
      path: mark < 0 ? url : url.slice(0, mark),
      query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
      headers: message.headers,
      get headerValues() {
        return message.headersDistinct;
      },
      warnings: new Warnings(),
      body: (sender) => this.#bodies.receive(message, sender),
      // Few handlers ask for it.
      get closed() {
        closed ??= closedSignal(response);
        return closed;
      },
    };
  }

  #startStream(outgoing: StreamResponse, response: ServerResponse): void {
    if (!response.destroyed) {
      response.writeHead(outgoing.status, { ...outgoing.headers } as Record<string, string>);
      response.flushHeaders();
    }
    const stream = outgoing.stream({
      get unsentBytes() {
        return response.writableLength;
      },
      write: (bytes) => response.write(bytes),
      end: () => response.end(),
      cut: () => response.destroy(),
    });
    if (response.destroyed) {
      stream.closed();
      return;
    }
    this.#streams.add(stream);
    response.on('drain', () => stream.drained());
    response.once('close', () => {
      this.#streams.delete(stream);
      stream.closed();
    });
    if (this.#isClosing) stream.finish();
  }
}

function closedSignal(response: ServerResponse): AbortSignal {
  const abort = new AbortController();
  if (response.destroyed) abort.abort(new ClientDisconnected());
  response.once('close', () => {
    if (!response.writableFinished) abort.abort(new ClientDisconnected());
  });
  return abort.signal;
}

const noRequest: IncomingRequest = {
  method: '',
  path: '',
  query: new URLSearchParams(),
  headers: {},
  headerValues: {},
  warnings: new Warnings(),
  body: () => Promise.reject(new ClientDisconnected()),
  closed: AbortSignal.abort(new ClientDisconnected()),
};
