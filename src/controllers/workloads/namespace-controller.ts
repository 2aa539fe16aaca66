import type { Namespace } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import { qualifiedPlural, type Resource } from '../../kube/resource.ts';
import { namespaces, pods } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { defineController, type LoopContext, type Reconciler } from '../../reconcile/define-controller.ts';
import type { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { contentConditions, type RemainingContent } from './namespace-conditions.ts';

/** Holds a namespace until its objects are deleted. */
const contentFinalizer = 'kubernetes';

/**
 * Deletes the objects of a namespace that is being deleted, then removes its finalizer. It runs again whenever an object in it is removed, so nothing polls.
 *
 * The server accepts no new objects in it, so once it is empty it stays empty. Deleting an object twice
 * changes nothing, and the last write carries the version of the namespace that was found empty: a crash anywhere loses nothing.
 */
export const namespaceController = defineController({
  name: 'namespace',
  workers: 4,
  create: (context) => new NamespaceController(context),
});

class NamespaceController implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#queue = context.queue;
    this.caches = [context.metadataCache, context.informers.of(namespaces)];
  }

  listen(): readonly (() => void)[] {
    const { metadataCache, informers } = this.#context;
    const notice = ({ metadata }: Namespace) => {
      if (metadata?.deletionTimestamp !== undefined) this.#queue.add(metadata.name ?? '');
    };
    return [
      informers.of(namespaces).addHandler({ added: notice, updated: notice }),
      metadataCache.addHandler({ deleted: ({ metadata }) => this.#onDeleted(metadata.namespace) }),
    ];
  }

  #onDeleted(namespace: string | undefined): void {
    const found = namespace && this.#context.informers.of(namespaces).get(namespace);
    if (found && found.metadata?.deletionTimestamp !== undefined) this.#queue.add(namespace);
  }

  async reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const client = this.#context.cluster.resource(namespaces);
    const namespace = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (namespace?.metadata?.deletionTimestamp === undefined) return undefined;
    const finalizers = namespace.spec?.finalizers ?? [];
    if (!finalizers.includes(contentFinalizer)) return undefined;
    // A kind that was defined a moment ago, or is no longer served: the cache will show which.
    const remaining = await undefinedIfNotFound(this.#empty(name, signal));
    if (remaining === undefined) return {};
    const conditions = contentConditions(
      namespace.status?.conditions ?? [],
      remaining,
      this.#context.clock.nowMs(),
    );
    const current =
      conditions === undefined ? namespace : await this.#writeConditions(namespace, conditions, signal);
    if (remaining.length > 0) return undefined;
    const spec = {
      ...current.spec,
      finalizers: finalizers.filter((finalizer) => finalizer !== contentFinalizer),
    };
    await undefinedIfNotFound(client.update({ ...current, spec }, { subresource: 'finalize', signal }));
    return undefined;
  }

  /**
   * Deletes everything; whatever remains waits for other controllers. Pods come first and alone: while one runs, the objects it
   * depends on (a policy, a secret, a claim) stay (KEP-5080).
   */
  async #empty(namespace: string, signal: AbortSignal): Promise<readonly RemainingContent[]> {
    const resources = this.#context.metadataCache.resources.filter(({ namespaced }) => namespaced);
    const isPods = ({ group, plural }: Resource) => group === pods.group && plural === pods.plural;
    const running = await this.#delete(namespace, resources.filter(isPods), signal);
    if (running.length > 0) return running;
    return await this.#delete(
      namespace,
      resources.filter((resource) => !isPods(resource)),
      signal,
    );
  }

  async #delete(
    namespace: string,
    resources: readonly Resource[],
    signal: AbortSignal,
  ): Promise<readonly RemainingContent[]> {
    const remaining: RemainingContent[] = [];
    const failures: unknown[] = [];
    for (const resource of resources) {
      try {
        const items = await this.#deleteAll(namespace, resource, signal);
        if (items.length > 0) remaining.push(remainderOf(resource, items));
      } catch (error) {
        // A kind that cannot be listed keeps the namespace, but not the objects of the other kinds.
        failures.push(error);
      }
    }
    // A kind that is no longer served needs no action; other failures are reported first.
    if (failures.length > 0) throw failures.find((error) => !isReason(error, 'NotFound')) ?? failures[0];
    return remaining;
  }

  /** The remaining objects of a resource. */
  async #deleteAll(
    namespace: string,
    resource: Resource,
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const client = this.#context.cluster.resource(resource);
    const { items } = await client.list({ namespace, signal });
    if (items.length === 0) return items;
    await client.deleteCollection({ namespace, propagationPolicy: 'Background', signal });
    return (await client.list({ namespace, signal })).items;
  }

  async #writeConditions(
    { metadata }: Namespace,
    conditions: NonNullable<ReturnType<typeof contentConditions>>,
    signal: AbortSignal,
  ): Promise<Namespace> {
    const { uid, resourceVersion, name = '' } = metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status: { conditions } };
    const client = this.#context.cluster.resource(namespaces);
    return await client.patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
  }
}

function remainderOf(
  resource: Resource,
  items: readonly { readonly metadata?: { readonly finalizers?: readonly string[] } }[],
): RemainingContent {
  return {
    resource: qualifiedPlural(resource),
    count: items.length,
    finalizers: items.flatMap(({ metadata }) => metadata?.finalizers ?? []),
  };
}
