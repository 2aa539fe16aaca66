import type { Namespace } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { configMaps, namespaces, serviceAccounts } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { Controller } from '../../reconcile/controller.ts';
import { defineController, type LoopContext, type Reconciler } from '../../reconcile/define-controller.ts';
import type { CachedObject } from '../../reconcile/metadata-cache.ts';
import type { WorkQueue } from '../../reconcile/work-queue.ts';

export interface ServiceAccountControllerSettings {
  /** The certificate authority of the API server for programs in the cluster, as PEM; if left out, it is not published. */
  readonly clusterAuthority?: string | undefined;
}

const accountName = 'default';
const authorityName = 'kube-root-ca.crt';
const authorityDescription =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/**
 * Gives every namespace the service account `default` and the ConfigMap `kube-root-ca.crt`, for which
 * Kubernetes has two controllers. Both are created if missing, and the ConfigMap is corrected if it was changed.
 */
export function serviceAccountController(settings: ServiceAccountControllerSettings = {}): Controller {
  return defineController({
    name: 'serviceaccount',
    workers: 2,
    create: (context) => new ServiceAccountController(context, settings),
  });
}

class ServiceAccountController implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #authority: string | undefined;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext, { clusterAuthority }: ServiceAccountControllerSettings) {
    this.#context = context;
    this.#authority = clusterAuthority;
    this.#queue = context.queue;
    this.caches = [context.metadataCache, context.informers.of(namespaces)];
  }

  listen(): readonly (() => void)[] {
    const { metadataCache, informers } = this.#context;
    const notice = ({ metadata }: Namespace) => this.#queue.add(metadata?.name ?? '');
    const enqueueOurs = (cached: CachedObject) => {
      if (isOurs(cached)) this.#queue.add(cached.metadata.namespace ?? '');
    };
    return [
      informers.of(namespaces).addHandler({ added: notice, updated: notice }),
      metadataCache.addHandler({ updated: enqueueOurs, deleted: enqueueOurs }),
    ];
  }

  async reconcile(namespace: string, signal: AbortSignal): Promise<undefined> {
    const found = this.#context.informers.of(namespaces).get(namespace);
    // Nothing new may be created in a terminating namespace.
    if (found === undefined || found.metadata?.deletionTimestamp !== undefined) return;
    await this.#ensureAccount(namespace, signal);
    if (this.#authority !== undefined) await this.#ensureAuthority(namespace, this.#authority, signal);
  }

  async #ensureAccount(namespace: string, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(serviceAccounts);
    const key = { namespace, name: accountName };
    if ((await undefinedIfNotFound(client.get(key, { signal }))) !== undefined) return;
    await made(client.create({ metadata: key }, { signal }));
  }

  async #ensureAuthority(namespace: string, authority: string, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(configMaps);
    const key = { namespace, name: authorityName };
    const annotations = { 'kubernetes.io/description': authorityDescription };
    const found = await undefinedIfNotFound(client.get(key, { signal }));
    if (found === undefined) {
      await made(
        client.create({ metadata: { ...key, annotations }, data: { 'ca.crt': authority } }, { signal }),
      );
      return;
    }
    const { uid, resourceVersion } = found.metadata ?? {};
    const others = Object.keys(found.data ?? {}).filter((name) => name !== 'ca.crt');
    const isDescribed = (found.metadata?.annotations?.['kubernetes.io/description'] ?? '') !== '';
    if (isDescribed && others.length === 0 && found.data?.['ca.crt'] === authority) return;
    const data = { ...Object.fromEntries(others.map((name) => [name, null])), 'ca.crt': authority };
    const body = { metadata: { uid, resourceVersion, annotations }, data };
    await undefinedIfNotFound(client.patch(key, { type: 'merge', body }, { signal }));
  }
}

function isOurs({ resource, metadata }: CachedObject): boolean {
  return (
    (isSame(resource, serviceAccounts) && metadata.name === accountName) ||
    (isSame(resource, configMaps) && metadata.name === authorityName)
  );
}

function isSame(a: Resource, b: Resource): boolean {
  return a.group === b.group && a.plural === b.plural;
}

/** Another client may have been faster, or the namespace may be terminating: an event will queue it again. */
async function made(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists', 'NotFound') && !isEnding(error)) throw error;
  }
}

function isEnding(error: unknown): boolean {
  if (!isReason(error, 'Forbidden')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
}
