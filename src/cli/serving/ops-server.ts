import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FullResponse, pageNotFound, textResponse } from '../../io/http/full-response.ts';
import { type HealthChecks, healthResponse } from '../../io/http/health-pages.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { type ListenAddress, parseListenAddress } from '../flags/listen-address.ts';

export interface OpsServerOptions {
  /** `HOST:PORT`, as in `127.0.0.1:9808`, `[::1]:9808` or `:9808` for every address of the machine; port 0 picks a free one. */
  readonly address: string;
  /** The checks of `/readyz`. */
  readonly readyChecks: HealthChecks;
  /** All of `/metrics`, in Prometheus' text format. */
  readonly metrics: () => string;
}

/** Connections at the same time; a probe and a scraper are two. */
const connectionsMax = 64;
/** A client that takes longer to send or to read is disconnected. */
const requestMsMax = 10_000;

/**
 * Pages for probes and scrapers: `/healthz` and `/livez` (the process runs), `/readyz` (it does its work) and `/metrics`. They need neither
 * encryption nor a token: nothing on them is a secret, and nothing can be changed.
 */
export class OpsServer {
  /** The URL of the server. */
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    // Safe: it listens on an address, not on a pipe.
    const { address, family, port } = server.address() as AddressInfo;
    this.url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Resolves when it answers. */
  static async start(options: OpsServerOptions): Promise<OpsServer> {
    const { host, port } = addressOf(options.address);
    const server = createServer((request, response) => send(request, response, answerTo(request, options)));
    server.maxConnections = connectionsMax;
    server.requestTimeout = requestMsMax;
    server.timeout = requestMsMax;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port }, resolve);
      });
    } catch (error) {
      throw unavailable(error, options.address);
    }
    return new OpsServer(server);
  }

  /** Closes immediately; open requests get no answer. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function addressOf(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address === undefined)
    throw usage(`--http-address: "${text}" must be HOST:PORT, such as 127.0.0.1:9808`);
  return address;
}

function answerTo({ method, url = '/' }: IncomingMessage, options: OpsServerOptions): FullResponse {
  if (method !== 'GET' && method !== 'HEAD')
    return textResponse(405, 'only GET and HEAD mean something here\n');
  const [path = '', search = ''] = url.split('?');
  const [page = '', ...rest] = path.slice(1).split('/');
  const request = { query: new URLSearchParams(search) };
  switch (page) {
    case 'healthz':
    case 'livez':
      return healthResponse(request, page, rest.join('/'), {});
    case 'readyz':
      return healthResponse(request, page, rest.join('/'), options.readyChecks);
    case 'metrics':
      return rest.length > 0 ? pageNotFound() : metricsAnswer(options.metrics());
    default:
      return pageNotFound();
  }
}

function metricsAnswer(page: string): FullResponse {
  const { status, headers, body } = textResponse(200, page);
  return {
    status,
    headers: { ...headers, 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
    body,
  };
}

function send({ method }: IncomingMessage, response: ServerResponse, answer: FullResponse): void {
  const body = Buffer.concat(answer.body);
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  response.writeHead(answer.status, { 'Content-Length': body.length });
  response.end(method === 'HEAD' ? undefined : body);
}

function unavailable(error: unknown, address: string): unknown {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'EADDRINUSE':
      return new CliError(
        `${address} is in use; stop what listens there, or choose another with --http-address`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(
        `this machine has no address ${address}; choose one that it has with --http-address`,
      );
    case 'EACCES':
      return new CliError(
        `not allowed to listen on ${address}; choose a port above 1023 with --http-address`,
      );
    default:
      return error;
  }
}
