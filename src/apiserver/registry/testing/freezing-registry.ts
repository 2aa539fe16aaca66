import type { Status } from '../../../kube/api/meta.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import type { Kind, StoredObject } from '../../kinds/served-kind.ts';
import type {
  Deleted,
  DeletionRequest,
  ListAnswer,
  ListQuery,
  ReadOptions,
  Registry,
  RequestedPatch,
  Snapshot,
  UpdateContext,
  WatchHandle,
  WatchListener,
  WatchQuery,
  WriteContext,
  Written,
} from '../registry.ts';

/**
 * A registry whose answers cannot be changed. The objects in them are the ones that the registry itself goes on working with, so
 * that it fails, too, where it changes what others hold.
 */
export class FreezingRegistry implements Registry {
  readonly #inner: Registry;
  /** How many objects were frozen. */
  frozen = 0;

  constructor(inner: Registry) {
    this.#inner = inner;
  }

  get kinds() {
    return this.#inner.kinds;
  }

  async get(kind: Kind, key: ObjectKey, options?: ReadOptions): Promise<Snapshot> {
    return this.#freeze(await this.#inner.get(kind, key, options));
  }

  async list(kind: Kind, query: ListQuery): Promise<ListAnswer> {
    const answer = await this.#inner.list(kind, query);
    for (const item of answer.items) this.#freeze(item);
    return answer;
  }

  async watch(kind: Kind, query: WatchQuery, listener: WatchListener): Promise<WatchHandle> {
    return await this.#inner.watch(kind, query, {
      ...(listener.ended && { ended: () => listener.ended?.() }),
      ...(listener.failed && { failed: (error: unknown) => listener.failed?.(error) }),
      events: (events) => {
        for (const event of events) if (event.type !== 'BOOKMARK') this.#freeze(event.snapshot);
        listener.events(events);
      },
    });
  }

  async create(
    kind: Kind,
    namespace: string | undefined,
    object: StoredObject,
    write: WriteContext,
  ): Promise<Snapshot> {
    return this.#freeze(await this.#inner.create(kind, namespace, object, write));
  }

  async update(kind: Kind, key: ObjectKey, object: StoredObject, write: UpdateContext): Promise<Written> {
    const written = await this.#inner.update(kind, key, object, write);
    this.#freeze(written.snapshot);
    return written;
  }

  async patch(kind: Kind, key: ObjectKey, patch: RequestedPatch, write: UpdateContext): Promise<Written> {
    const written = await this.#inner.patch(kind, key, patch, write);
    this.#freeze(written.snapshot);
    return written;
  }

  async delete(kind: Kind, key: ObjectKey, options: DeletionRequest, write: WriteContext): Promise<Deleted> {
    const deleted = await this.#inner.delete(kind, key, options, write);
    if (deleted.kind !== 'removed') this.#freeze(deleted.snapshot);
    return deleted;
  }

  async deleteCollection(
    kind: Kind,
    query: ListQuery,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<ListAnswer> {
    const answer = await this.#inner.deleteCollection(kind, query, options, write);
    for (const item of answer.items) this.#freeze(item);
    return answer;
  }

  async post(
    kind: Kind,
    key: ObjectKey,
    subresource: string,
    body: StoredObject,
    write: WriteContext,
  ): Promise<Status> {
    return await this.#inner.post(kind, key, subresource, body, write);
  }

  #freeze(snapshot: Snapshot): Snapshot {
    deepFreeze(snapshot.object);
    this.frozen += 1;
    return snapshot;
  }
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
}
