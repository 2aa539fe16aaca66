import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsKeyPair } from '../../../io/tls/certificate.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ServerMetrics } from '../metrics.ts';
import {
  type ApiRequest,
  type ApiRequestHandler,
  ClientDisconnected,
  type ResponseStream,
  type StreamResponse,
} from './http-exchange.ts';
import { BodyReceiver } from './request-body.ts';
import { sendFullResponse } from './response-writer.ts';
import { Warnings } from './warnings.ts';

export interface HttpServerOptions {
  readonly credentials: TlsKeyPair;
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  readonly handler: ApiRequestHandler;
  readonly clock: Clock;
  readonly metrics: ServerMetrics;
  /** Told of bugs: a handler must answer, not throw. */
  onError(error: unknown, request: ApiRequest): void;
  readonly connectionsMax?: number;
  /** Of all bodies that are being received at one time. */
  readonly bodiesMaxBytes?: number | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Each watch is a connection, and a control plane with its controllers has a few hundred of them. */
const connectionsMaxDefault = 8192;
/** How long a client may take for its part. Slow ones hold memory; a watch is not affected, it has been asked for. */
const handshakeMaxMs = 10_000;
const headersMaxMs = 20_000;
const requestMaxMs = 60_000;
/** Longer than clients keep idle connections, so that they close them, not we while a request is on its way. */
const idleMaxMs = 100_000;
const headersMaxBytes = 64 * 1024;
/** What close() grants to requests in flight. */
const closeMaxMs = 3_000;

/** HTTPS, version 1.1: connections, limits and orderly closing. What requests mean is the handler's business. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #bodies: BodyReceiver;
  readonly #streams = new Set<ResponseStream>();
  /** Stays after closing, for whoever wants to say what was closed. */
  #address: Address = { host: '', port: 0 };
  #isClosing = false;
  #whenIdle: (() => void) | undefined;

  private constructor(options: HttpServerOptions) {
    this.#options = options;
    const { metrics, credentials, clock, bodiesMaxBytes } = options;
    const onRefused = () => (metrics.bodiesRefused += 1);
    this.#bodies = new BodyReceiver({ clock, onRefused, allBodiesMaxBytes: bodiesMaxBytes });
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
    // Node would drop those beyond a number, unsaid; who impersonates by the one that is dropped would be himself. Bytes are limited.
    this.#server.maxHeadersCount = 0;
    this.#server.maxConnections = options.connectionsMax ?? connectionsMaxDefault;
    this.#server.on('drop', () => (metrics.connectionsRefused += 1));
    this.#server.on('request', (message, response) => void this.#serve(message, response));
  }

  /** Rejects when the address cannot be taken. */
  static async listen(options: HttpServerOptions): Promise<HttpServer> {
    const made = new HttpServer(options);
    await new Promise<void>((resolve, reject) => {
      made.#server.once('error', reject);
      made.#server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => {
        made.#server.off('error', reject);
        const { address, port } = made.#server.address() as AddressInfo;
        made.#address = { host: address, port };
        // Running out of file descriptors makes accepting fail now and then; that must not end the process.
        made.#server.on('error', (error) => options.onError(error, noRequest));
        resolve();
      });
    });
    return made;
  }

  get address(): Address {
    return this.#address;
  }

  /** Takes no more requests, lets watches end and requests finish, and cuts what is not done within three seconds. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const isDown = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // What is idle, close() itself has closed. An answer that has ended but is still on its way counts as idle too: it must not be cut.
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
      // Writing to a connection that broke; 'close' follows.
    });
    if (this.#isClosing) response.setHeader('Connection', 'close');
    const request = this.#requestOf(message);
    try {
      const answer = await this.#options.handler(request);
      if ('stream' in answer) this.#begin(answer, response);
      else await sendFullResponse(request, answer, response, metrics);
    } catch (error) {
      if (!(error instanceof ClientDisconnected)) this.#options.onError(error, request);
      response.destroy();
    }
  }

  #requestOf(message: IncomingMessage): ApiRequest {
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
    };
  }

  #begin(answer: StreamResponse, response: ServerResponse): void {
    if (!response.destroyed) {
      response.writeHead(answer.status, { ...answer.headers } as Record<string, string>);
      response.flushHeaders();
    }
    const stream = answer.stream({
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

const noRequest: ApiRequest = {
  method: '',
  path: '',
  query: new URLSearchParams(),
  headers: {},
  headerValues: {},
  warnings: new Warnings(),
  body: () => Promise.reject(new ClientDisconnected()),
};
