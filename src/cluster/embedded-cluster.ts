import type { ServedKind } from '../apiserver/kinds/served-kind.ts';
import { canonicalObject } from '../apiserver/registry/canonical-object.ts';
import type { Registry, UpdateContext } from '../apiserver/registry/registry.ts';
import { RegistryWatch } from '../apiserver/registry/registry-watch.ts';
import type { KubeObject, Status } from '../kube/api/meta.ts';
import { failure } from '../kube/api-error.ts';
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ListPage,
  Patch,
  PatchOptions,
  SubresourceWriteOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../kube/api-requests.ts';
import { apiVersionOf, type ObjectKey, type Resource } from '../kube/resource.ts';
import type { Cluster, Fresh, ResourceClient } from './cluster.ts';

export interface EmbeddedClusterOptions {
  readonly registry: Registry;
  /** The name of the client; it owns the fields that it writes unless a call names another manager. */
  readonly manager: string;
}

/** The embedded server, called in process: no HTTP, no copies of what is read. */
export class EmbeddedCluster implements Cluster {
  readonly #options: EmbeddedClusterOptions;

  constructor(options: EmbeddedClusterOptions) {
    this.#options = options;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    return new EmbeddedResource(resource, this.#options);
  }
}

class EmbeddedResource<T extends KubeObject> implements ResourceClient<T> {
  readonly resource: Resource<T>;
  readonly #registry: Registry;
  readonly #manager: string;

  constructor(resource: Resource<T>, { registry, manager }: EmbeddedClusterOptions) {
    this.resource = resource;
    this.#registry = registry;
    this.#manager = manager;
  }

  async get(key: ObjectKey, options: GetOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const { object } = await this.#registry.get(this.#kind, key, { subresource: options.subresource });
    return object as unknown as T;
  }

  async list(options: ListOptions = {}): Promise<ListPage<T>> {
    options.signal?.throwIfAborted();
    const answer = await this.#registry.list(this.#kind, options);
    const { resourceVersion, continue: next, remainingItemCount } = answer;
    return {
      items: answer.items.map(({ object }) => object as unknown as T),
      metadata: {
        resourceVersion,
        ...(next === undefined ? {} : { continue: next }),
        ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
      },
    };
  }

  watch(options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return new RegistryWatch<T>(this.#registry, this.#kind, options);
  }

  async create(object: Fresh<T>, options: WriteOptions = {}): Promise<T> {
    const kind = this.#kind;
    const context = this.#context(options);
    const decoded = canonicalObject(kind, object, options.fieldValidation, context.warn);
    const snapshot = await this.#registry.create(kind, object.metadata?.namespace, decoded, context);
    return snapshot.object as unknown as T;
  }

  async update(object: Fresh<T>, options: SubresourceWriteOptions = {}): Promise<T> {
    const kind = this.#kind;
    const context = this.#context(options);
    const decoded = canonicalObject(kind, object, options.fieldValidation, context.warn, options.subresource);
    const key = { namespace: object.metadata?.namespace, name: object.metadata?.name ?? '' };
    const { snapshot } = await this.#registry.update(kind, key, decoded, context);
    return snapshot.object as unknown as T;
  }

  async patch(key: ObjectKey, patch: Patch, options: PatchOptions = {}): Promise<T> {
    const body = patch.type === 'json' ? patch.operations : patch.body;
    const { fieldValidation = 'Warn', force } = options;
    const requested = { type: patch.type, body, fieldValidation, force };
    const { snapshot } = await this.#registry.patch(this.#kind, key, requested, this.#context(options));
    return snapshot.object as unknown as T;
  }

  async delete(key: ObjectKey, options: DeleteOptions = {}): Promise<T | Status> {
    const deleted = await this.#registry.delete(this.#kind, key, options, this.#context(options));
    return deleted.kind === 'removed' ? deleted.status : (deleted.snapshot.object as unknown as T);
  }

  async deleteCollection(options: DeleteCollectionOptions): Promise<void> {
    await this.#registry.deleteCollection(this.#kind, options, options, this.#context(options));
  }

  async post(
    key: ObjectKey,
    subresource: string,
    body: KubeObject,
    options: WriteOptions = {},
  ): Promise<unknown> {
    const kind = this.#kind;
    const context = this.#context(options);
    const decoded = canonicalObject(kind, body, options.fieldValidation, context.warn, subresource);
    return await this.#registry.post(kind, key, subresource, decoded, context);
  }

  get #kind(): ServedKind {
    const kind = this.#registry.kinds.byPlural(apiVersionOf(this.resource), this.resource.plural);
    if (kind === undefined) {
      throw failure(404, 'NotFound', 'the server could not find the requested resource', {});
    }
    return kind;
  }

  #context(options: SubresourceWriteOptions): UpdateContext {
    options.signal?.throwIfAborted();
    return {
      manager: options.fieldManager ?? this.#manager,
      user: this.#manager,
      dryRun: options.dryRun,
      subresource: options.subresource,
      warn: () => {},
    };
  }
}
