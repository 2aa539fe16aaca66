import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { TokenBucketOptions } from '../../runtime/token-bucket.ts';
import type { Cluster, ResourceClient } from '../cluster.ts';
import { connectionRisks } from './connection-risks.ts';
import { type ConnectionSettings, ConnectionSettingsError } from './connection-settings.ts';
import { credentialsOf, readFileOrData } from './credentials.ts';
import { type Discovery, discover } from './discovery.ts';
import { inClusterSettings } from './in-cluster.ts';
import { kubeconfigPaths, loadKubeconfig } from './kubeconfig.ts';
import { proxyFromEnvironment } from './proxy.ts';
import { RateLimit } from './rate-limit.ts';
import { Requester, type SentRequest } from './requester.ts';
import { KubernetesResourceClient } from './resource-client.ts';
import { Transport } from './transport.ts';

const rateLimitDefault: TokenBucketOptions = { tokensPerSecond: 50, burst: 100 };
/** The API server itself times out after a minute. */
const requestTimeoutMsDefault = 65_000;
const watchSilenceMsMaxDefault = 5 * 60_000;
const userAgentDefault = 'stowage';

export interface KubernetesConnectOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The source of KUBECONFIG, proxies and the environment of plugins. */
  readonly env: NodeJS.ProcessEnv;
  /** How to reach the cluster, if the caller knows it: then no kubeconfig is read. */
  readonly settings?: ConnectionSettings;
  /** Replaces the kubeconfig of the environment. */
  readonly kubeconfig?: string;
  /** Replaces the current context. */
  readonly context?: string;
  /** False: no limit. Watches are never limited. */
  readonly rateLimit?: TokenBucketOptions | false;
  readonly requestTimeoutMs?: number;
  readonly watchSilenceMsMax?: number;
  readonly userAgent?: string;
  /** Called with every request and its outcome. */
  readonly onRequest?: (sent: SentRequest) => void;
}

export interface FetchedPage {
  readonly text: string;
  /** The time of the Date header, precise to a second; undefined if the server does not send one. */
  readonly sentMs: number | undefined;
}

/** A real cluster: `Cluster` over HTTPS. The README describes what it retries, and how it finds its credentials. */
export class KubernetesCluster implements Cluster, AsyncDisposable {
  /** The origin of the settings, for messages. */
  readonly source: string;
  readonly server: string;
  /** How to reach the server, without the user. */
  readonly connection: Omit<ConnectionSettings, 'user'>;
  /** The namespace of the context, or of this pod; `default` if neither sets one. */
  readonly namespace: string;
  /** What others on the network could read or forge, as sentences for the user. */
  readonly risks: readonly string[];
  readonly #transport: Transport;
  readonly #requester: Requester;
  readonly #options: KubernetesConnectOptions;

  private constructor(settings: ConnectionSettings, transport: Transport, options: KubernetesConnectOptions) {
    const { clock, random, env, rateLimit = rateLimitDefault } = options;
    this.source = settings.source;
    this.server = settings.server;
    const { user: _, ...connection } = settings;
    this.connection = connection;
    this.namespace = settings.namespace ?? 'default';
    this.risks = connectionRisks(settings);
    this.#options = options;
    this.#transport = transport;
    this.#requester = new Requester({
      transport,
      clock,
      random,
      credentials: credentialsOf(settings.user, { env, clock }),
      rateLimit: rateLimit === false ? undefined : new RateLimit(rateLimit, clock),
      requestTimeoutMs: options.requestTimeoutMs ?? requestTimeoutMsDefault,
      onRequest: options.onRequest,
    });
  }

  /**
   * Finds out how to reach the cluster: the given kubeconfig, else $KUBECONFIG or ~/.kube/config, else the service
   * account of this pod. Opens no connection yet; the first request does.
   */
  static async connect(options: KubernetesConnectOptions): Promise<KubernetesCluster> {
    const settings = await findSettings(options);
    const server = serverUrl(settings);
    const { insecureSkipTlsVerify, tlsServerName } = settings;
    const transport = new Transport({
      server,
      certificateAuthority: await authorityOf(settings),
      insecureSkipTlsVerify,
      tlsServerName,
      proxyUrl: proxyOf(settings, server, options.env),
      userAgent: options.userAgent ?? userAgentDefault,
    });
    return new KubernetesCluster(settings, transport, options);
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    return new KubernetesResourceClient(resource, {
      requester: this.#requester,
      clock: this.#options.clock,
      watchSilenceMsMax: this.#options.watchSilenceMsMax ?? watchSilenceMsMaxDefault,
    });
  }

  /** The same server, as the user of a bearer token. Both use the same connections: close only this one. */
  as(token: string): KubernetesCluster {
    return new KubernetesCluster({ ...this.connection, user: { token } }, this.#transport, this.#options);
  }

  /** For example `v1.36.3`. A cheap way to check whether the server can be reached. */
  async serverVersion(signal?: AbortSignal): Promise<string> {
    const answer = await this.#requester.exchange({ method: 'GET', path: '/version', signal });
    const { gitVersion } = answer as { readonly gitVersion?: unknown };
    return typeof gitVersion === 'string' ? gitVersion : 'unknown';
  }

  /** The text of a page that is not JSON, such as `/metrics` or the log of a container, and when the server sent it by its own clock. */
  async page(path: string, signal?: AbortSignal): Promise<FetchedPage> {
    const call = { method: 'GET', path, accept: 'text/plain, */*', signal } as const;
    const { text, headers } = await this.#requester.text(call);
    const sentMs = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
    return { text, sentMs: Number.isNaN(sentMs) ? undefined : sentMs };
  }

  /** The certificate authority of the server, as PEM; undefined if the machine's own authorities are trusted. */
  async authority(): Promise<Buffer | undefined> {
    return await authorityOf(this.connection);
  }

  /** What the server offers. */
  async discover(signal?: AbortSignal): Promise<Discovery> {
    const found = await discover((path) => this.#requester.exchange({ method: 'GET', path, signal }));
    signal?.throwIfAborted();
    return found;
  }

  /** Closes all connections. Calls in progress fail. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function findSettings(options: KubernetesConnectOptions): Promise<ConnectionSettings> {
  const { settings, kubeconfig, context, env } = options;
  if (settings !== undefined) return settings;
  const paths = kubeconfig === undefined ? kubeconfigPaths(env) : [kubeconfig];
  const loaded = await loadKubeconfig({ paths, context });
  if (loaded !== undefined) return loaded;
  if (kubeconfig !== undefined)
    throw new ConnectionSettingsError(`the kubeconfig ${kubeconfig} does not exist`);
  const inCluster = await inClusterSettings(env);
  if (inCluster !== undefined) return inCluster;
  throw new ConnectionSettingsError(
    `there is no kubeconfig at ${paths.join(', ')}, and this process does not run in a pod`,
  );
}

async function authorityOf({
  certificateAuthority,
}: Pick<ConnectionSettings, 'certificateAuthority'>): Promise<Buffer | undefined> {
  if (certificateAuthority === undefined) return undefined;
  return await readFileOrData(certificateAuthority, 'the certificate authority');
}

const proxyProtocols = ['http:', 'https:', 'socks5:'];

/** Messages name the proxy without its password. */
function proxyOf({ proxyUrl, source }: ConnectionSettings, server: URL, env: NodeJS.ProcessEnv) {
  const proxy = proxyUrl ?? proxyFromEnvironment(server, env);
  if (proxy === undefined) return undefined;
  const protocol = URL.canParse(proxy) ? new URL(proxy).protocol : undefined;
  if (protocol !== undefined && proxyProtocols.includes(protocol)) return proxy;
  const where = proxyUrl === undefined ? 'HTTPS_PROXY or HTTP_PROXY' : `proxy-url in ${source}`;
  throw new ConnectionSettingsError(
    `${where} ${protocol === undefined ? 'is not a URL' : `uses ${protocol}//`}; it must have the form http://HOST:PORT`,
  );
}

function serverUrl({ server, source }: ConnectionSettings): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url !== undefined && ['https:', 'http:'].includes(url.protocol)) return url;
  throw new ConnectionSettingsError(`${source}: the server ${JSON.stringify(server)} is not an https URL`);
}
