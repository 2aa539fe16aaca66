import { join } from 'node:path';
import type { HealthChecks } from '../io/http/health-pages.ts';
import type { TokenRequestSpec, TokenRequestStatus } from '../kube/api/authentication.ts';
import type { CustomResourceDefinition } from '../kube/api/stored/apiextensions.ts';
import type { TokenRequest } from '../kube/api/stored/authentication.ts';
import type { ObjectKey } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Random } from '../runtime/random.ts';
import { bootstrapPolicy } from './access/bootstrap-policy.ts';
import { RoleAggregation } from './access/role-aggregation.ts';
import { issueRequestedToken } from './access/token-request.ts';
import { DefinitionController } from './custom/definition-controller.ts';
import { installDefinitions } from './custom/install-definitions.ts';
import { builtInKindCatalog } from './kinds/built-in-kinds.ts';
import { bootstrap } from './registry/bootstrap.ts';
import type { OperatorRules } from './registry/context/operator-rules.ts';
import { EmbeddedRegistry } from './registry/embedded-registry.ts';
import { KubernetesEndpoints } from './registry/kubernetes-endpoints.ts';
import type { Registry } from './registry/registry.ts';
import { ApiServer, type ExtraPages } from './server/api-server.ts';
import { createCredentials, loadOrCreateCredentials } from './server/credentials/credentials.ts';
import { DeferredWrites } from './store/deferred-writes.ts';
import { openLmdbStore } from './store/lmdb-store.ts';
import { firstRevision, MemoryStore } from './store/memory-store.ts';
import type { Store } from './store/store.ts';

export interface EmbeddedServerOptions {
  /** The directory for all data; without one, data is lost when the process ends. */
  readonly dataDirectory?: string | undefined;
  readonly host?: string | undefined;
  /** 0 or undefined selects any free port. */
  readonly port?: number | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  /** Definitions that are installed, or updated to this state, at every start. */
  readonly definitions?: readonly CustomResourceDefinition[] | undefined;
  /** Rules for new objects besides Kubernetes' own; none by default. */
  readonly rules?: OperatorRules | undefined;
  /** Checks besides the server's own that must pass for `/readyz` to succeed. */
  readonly readyChecks?: HealthChecks | undefined;
  /** More metrics for `/metrics`, in Prometheus' text format. */
  readonly moreMetrics?: (() => string) | undefined;
  /** Pages besides the API, on the same port. */
  readonly extraPages?: ExtraPages | undefined;
  /** Called with unexpected exceptions; the server keeps running. */
  onError(error: unknown, where: string): void;
}

/** How long a failed start waits for the store to close. */
const closeMsMax = 2_000;

/**
 * A Kubernetes API server in this process: starts the store, the registry, the controllers that it needs, and the HTTPS
 * server; closes them in reverse order.
 */
export class EmbeddedServer {
  /** For callers in the same process, which need no HTTP. */
  readonly registry: Registry;
  readonly #store: Store;
  readonly #controllers: readonly ServerController[];
  readonly #api: ApiServer;
  readonly #clock: Clock;

  private constructor(
    store: Store,
    registry: Registry,
    controllers: readonly ServerController[],
    { api, clock }: { readonly api: ApiServer; readonly clock: Clock },
  ) {
    this.#clock = clock;
    this.#store = store;
    this.registry = registry;
    this.#controllers = controllers;
    this.#api = api;
  }

  /** Resolves when the server accepts requests. If a step fails, everything opened before is closed. */
  static async start(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
    const { dataDirectory } = options;
    const store =
      dataDirectory === undefined ? new MemoryStore() : await openLmdbStore(join(dataDirectory, 'store'));
    const controllers: ServerController[] = [];
    try {
      const registry = new EmbeddedRegistry({ ...options, store, kinds: builtInKindCatalog() });
      const writes = startWrites(store, options);
      controllers.push(writes);
      await writes.run('initial objects', () => bootstrap(registry));
      await writes.run('initial roles', () => bootstrapPolicy(registry));
      controllers.push(await DefinitionController.start({ ...options, registry }));
      controllers.push(await RoleAggregation.start({ ...options, registry }));
      await writes.run('definitions', () => installDefinitions(registry, options.definitions ?? []));
      for (const controller of controllers) await controller.settled();
      const api = await listen(registry, options);
      try {
        const { address } = api;
        controllers.push(await KubernetesEndpoints.start({ ...options, registry, address }));
        await controllers.at(-1)?.settled();
      } catch (error) {
        await api.close();
        throw error;
      }
      return new EmbeddedServer(store, registry, controllers, { api, clock: options.clock });
    } catch (error) {
      // Closing may never finish if the disk is full.
      const closing = closeAll(controllers, store);
      await Promise.race([closing, options.clock.sleep(closeMsMax, new AbortController().signal)]);
      throw error;
    }
  }

  /** Issues a token for a service account, as a POST to its subresource `token` does. */
  async issueToken(
    account: ObjectKey,
    { audiences = [], expirationSeconds, boundObjectRef }: TokenRequestSpec,
  ): Promise<TokenRequestStatus> {
    const context = { registry: this.registry, tokens: this.#api.tokens, clock: this.#clock };
    const { status } = await issueRequestedToken(context, account, {
      metadata: {},
      spec: { audiences: [...audiences], expirationSeconds, boundObjectRef },
    } as TokenRequest);
    return status;
  }

  get url(): string {
    return this.#api.url;
  }

  /** The server's certificate, by which clients verify it; PEM. */
  get certificate(): string {
    return this.#api.certificate;
  }

  get kubeconfig(): string {
    return this.#api.kubeconfig;
  }

  /** A token for one purpose: the same after a restart, and without any permission for the API. */
  tokenFor(purpose: string): string {
    return this.#api.tokenFor(purpose);
  }

  async writeKubeconfig(path: string): Promise<void> {
    await this.#api.writeKubeconfig(path);
  }

  /** Ends watches and requests gracefully, then makes all writes durable. Takes less than five seconds. */
  async close(): Promise<void> {
    await this.#api.close();
    await closeAll(this.#controllers, this.#store);
  }
}

/** A controller that runs as long as the server. */
interface ServerController {
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A new store has nothing to serve, so a full disk ends its start. */
function startWrites({ revision }: Store, { clock, onError }: EmbeddedServerOptions): DeferredWrites {
  const isNew = revision === firstRevision;
  return new DeferredWrites({
    clock,
    onError: (error, where) => {
      if (isNew) throw error;
      onError(error, where);
    },
  });
}

/** Controllers first, because they write. */
async function closeAll(controllers: readonly ServerController[], store: Store): Promise<void> {
  for (const controller of controllers) await controller.close();
  await store.close();
}

async function listen(registry: Registry, options: EmbeddedServerOptions): Promise<ApiServer> {
  const { dataDirectory, host, port, clock, random, ids, readyChecks, moreMetrics, extraPages, onError } =
    options;
  const wanted = { nowMs: clock.nowMs(), extraHosts: host === undefined ? [] : [host] };
  const credentials =
    dataDirectory === undefined
      ? createCredentials(wanted)
      : await loadOrCreateCredentials(dataDirectory, wanted);
  return await ApiServer.start({
    registry,
    credentials,
    clock,
    random: random.fork('api server'),
    ids,
    onError,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(readyChecks === undefined ? {} : { readyChecks }),
    ...(moreMetrics === undefined ? {} : { moreMetrics }),
    ...(extraPages === undefined ? {} : { extraPages }),
  });
}
