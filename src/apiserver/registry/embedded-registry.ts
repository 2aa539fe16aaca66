import type { Status } from '../../kube/api/meta.ts';
import { failure } from '../../kube/api-error.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import { errorWhenDurable, resultWhenDurable } from './context/durable-result.ts';
import type { RegistryContext } from './context/registry-context.ts';
import { SnapshotCache } from './context/snapshot-cache.ts';
import { deleteObject } from './deletion/delete.ts';
import { deleteCollection } from './deletion/delete-collection.ts';
import { getObject, listObjects } from './reads/list.ts';
import { watchObjects } from './reads/watch.ts';
import type {
  DeleteResult,
  DeletionRequest,
  ListQuery,
  ObjectSnapshot,
  Registry,
  RequestedPatch,
  SnapshotGetOptions,
  SnapshotPage,
  UpdateContext,
  WatchHandle,
  WatchListener,
  WatchQuery,
  WriteContext,
  WriteResult,
} from './registry.ts';
import { bindPod } from './subresources/binding.ts';
import { evictPod } from './subresources/eviction.ts';
import { getScale, patchScale, updateScale } from './subresources/scale.ts';
import { createObject } from './writes/create.ts';
import { patchObject } from './writes/patch.ts';
import { updateObject } from './writes/update.ts';

/** Implements the registry over a store: one file for each verb, with a shared context. */
export class EmbeddedRegistry implements Registry {
  readonly #context: RegistryContext;

  constructor(options: Omit<RegistryContext, 'snapshots'>) {
    this.#context = { ...options, snapshots: new SnapshotCache() };
  }

  get kinds() {
    return this.#context.kinds;
  }

  async get(kind: ServedKind, key: ObjectKey, options: SnapshotGetOptions = {}): Promise<ObjectSnapshot> {
    const read =
      options.subresource === 'scale'
        ? getScale(this.#context, kind, key)
        : getObject(this.#context, kind, key, options);
    return await errorWhenDurable(this.#context.store, read);
  }

  async list(kind: ServedKind, query: ListQuery): Promise<SnapshotPage> {
    return await errorWhenDurable(this.#context.store, listObjects(this.#context, kind, query));
  }

  async watch(kind: ServedKind, query: WatchQuery, listener: WatchListener): Promise<WatchHandle> {
    return await errorWhenDurable(this.#context.store, watchObjects(this.#context, kind, query, listener));
  }

  async create(
    kind: ServedKind,
    namespace: string | undefined,
    object: StoredObject,
    write: WriteContext,
  ): Promise<ObjectSnapshot> {
    return await this.#durably(createObject(this.#context, kind, namespace, object, write));
  }

  async update(
    kind: ServedKind,
    key: ObjectKey,
    object: StoredObject,
    write: UpdateContext,
  ): Promise<WriteResult> {
    const update = write.subresource === 'scale' ? updateScale : updateObject;
    return await this.#durably(update(this.#context, kind, key, object, write));
  }

  async patch(
    kind: ServedKind,
    key: ObjectKey,
    patch: RequestedPatch,
    write: UpdateContext,
  ): Promise<WriteResult> {
    const change = write.subresource === 'scale' ? patchScale : patchObject;
    return await this.#durably(change(this.#context, kind, key, patch, write));
  }

  async delete(
    kind: ServedKind,
    key: ObjectKey,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<DeleteResult> {
    return await this.#durably(deleteObject(this.#context, kind, key, options, write));
  }

  async deleteCollection(
    kind: ServedKind,
    query: ListQuery,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<SnapshotPage> {
    return await this.#durably(deleteCollection(this.#context, kind, { query, options, write }));
  }

  async post(
    kind: ServedKind,
    key: ObjectKey,
    subresource: string,
    body: StoredObject,
    write: WriteContext,
  ): Promise<Status> {
    switch (subresource) {
      case 'binding':
        return await this.#durably(bindPod(this.#context, kind, key, body, write));
      case 'eviction':
        return await this.#durably(evictPod(this.#context, kind, key, body, write));
      default:
        throw failure(404, 'NotFound', 'the server could not find the requested resource');
    }
  }

  async #durably<T>(write: Promise<T>): Promise<T> {
    return await resultWhenDurable(this.#context.store, write);
  }
}
