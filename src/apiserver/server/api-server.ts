import { createHmac } from 'node:crypto';
import type { HealthChecks } from '../../io/http/health-pages.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Random } from '../../runtime/random.ts';
import { Access } from '../access/access.ts';
import type { Registry } from '../registry/registry.ts';
import { ApiHandler } from './api-handler.ts';
import type { ServerCredentials } from './credentials/credentials.ts';
import { kubeconfigText, writeKubeconfig } from './credentials/kubeconfig-file.ts';
import { DiscoveryPages } from './discovery/discovery-pages.ts';
import type { RequestHandler } from './http/http-exchange.ts';
import { HttpServer } from './http/http-server.ts';
import { newMetrics, publishedMetrics, type ServerMetrics } from './metrics.ts';
import { OpenApiPages } from './openapi/openapi-pages.ts';
import { OpenApiV2Page } from './openapi/v2-page.ts';
import { Router } from './routing/router.ts';
import { FlushScheduler } from './watch/flush-scheduler.ts';

export interface ApiServerStartOptions {
  readonly registry: Registry;
  readonly credentials: ServerCredentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly host?: string;
  /** 0 selects any free port. */
  readonly port?: number;
  readonly connectionsMax?: number;
  /** The maximum of all request bodies being received at one time. */
  readonly bodiesMaxBytes?: number | undefined;
  /** Checks that must pass for `/readyz` to succeed. */
  readonly readyChecks?: HealthChecks;
  /** More metrics for `/metrics`, in Prometheus' text format. */
  readonly moreMetrics?: () => string;
  /** Pages besides the API. */
  readonly extraPages?: ExtraPages;
  /** Called with unexpected exceptions; the server keeps running. */
  onError(error: unknown, where: string): void;
}

/** Pages that another component serves on the same port. It decides itself who may read them. */
export interface ExtraPages {
  /** The path `/NAME` and everything below it. */
  readonly name: string;
  readonly handle: RequestHandler;
}

interface Parts {
  readonly http: HttpServer;
  readonly access: Access;
  readonly credentials: ServerCredentials;
  readonly metrics: ServerMetrics;
}

/** Only loopback by default: exposing the server needs an explicit host. */
const hostDefault = '127.0.0.1';

/** Serves a registry over HTTPS, so that kubectl and every Kubernetes client can talk to it. */
export class ApiServer {
  readonly metrics: ServerMetrics;
  readonly #http: HttpServer;
  readonly #access: Access;
  readonly #credentials: ServerCredentials;

  /** Signs the tokens of service accounts. */
  get tokens(): Access['tokens'] {
    return this.#access.tokens;
  }

  private constructor({ http, access, credentials, metrics }: Parts) {
    this.#http = http;
    this.#access = access;
    this.#credentials = credentials;
    this.metrics = metrics;
  }

  /** Resolves when the server accepts requests; rejects when the address cannot be bound. */
  static async start(options: ApiServerStartOptions): Promise<ApiServer> {
    const { registry, credentials, clock, random, onError } = options;
    const metrics = newMetrics();
    const access = await Access.start({ registry, clock, ids: options.ids, ...credentials });
    let address = '';
    const handler = new ApiHandler({
      context: { registry, clock, random, metrics, flushScheduler: new FlushScheduler(clock), onError },
      router: new Router(registry.kinds),
      discovery: new DiscoveryPages(registry.kinds, () => address),
      openApi: new OpenApiPages(registry.kinds),
      openApiV2: new OpenApiV2Page(registry.kinds),
      readyChecks: options.readyChecks ?? {},
      metricsPage: () => publishedMetrics(metrics).render() + (options.moreMetrics?.() ?? ''),
      access,
      serverAddress: () => address,
    });
    const http = await HttpServer.listen({
      credentials,
      host: options.host ?? hostDefault,
      port: options.port ?? 0,
      handler: withExtraPages(handler.handle, options.extraPages),
      clock,
      metrics,
      bodiesMaxBytes: options.bodiesMaxBytes,
      onError: (error, request) => onError(error, `${request.method} ${request.path}`),
      ...(options.connectionsMax === undefined ? {} : { connectionsMax: options.connectionsMax }),
    });
    const server = new ApiServer({ http, access, credentials, metrics });
    address = server.url.slice('https://'.length);
    return server;
  }

  /** Where the server listens. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#http.address;
  }

  /** The URL for clients. A wildcard address is reported as loopback. */
  get url(): string {
    const { host, port } = this.#http.address;
    const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    return `https://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
  }

  /** The server's certificate, by which clients verify it; PEM. */
  get certificate(): string {
    return this.#credentials.certificate;
  }

  /** A token for one purpose: the same after a restart, and without any permission for the API. */
  tokenFor(purpose: string): string {
    return createHmac('sha256', this.#credentials.token).update(purpose).digest('base64url');
  }

  get kubeconfig(): string {
    return kubeconfigText({ server: this.url, ...this.#credentials });
  }

  async writeKubeconfig(path: string): Promise<void> {
    await writeKubeconfig(path, { server: this.url, ...this.#credentials });
  }

  /** Ends watches and waits for requests to finish; takes less than four seconds. */
  async close(): Promise<void> {
    await this.#http.close();
    this.#access.close();
  }
}

function withExtraPages(handle: RequestHandler, pages: ExtraPages | undefined): RequestHandler {
  if (pages === undefined) return handle;
  const path = `/${pages.name}`;
  return (request) =>
    request.path === path || request.path.startsWith(`${path}/`) ? pages.handle(request) : handle(request);
}
