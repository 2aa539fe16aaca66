import type { Status } from '../../../kube/api/meta.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
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
} from '../registry.ts';

/**
 * A registry whose results are frozen. They contain the objects that the registry itself keeps using, so its own
 * illegal changes fail too.
 */
export class FreezingRegistry implements Registry {
  readonly #inner: Registry;
  /** The number of frozen objects. */
  frozen = 0;

  constructor(inner: Registry) {
    this.#inner = inner;
  }

  get kinds() {
    return this.#inner.kinds;
  }

  async get(kind: ServedKind, key: ObjectKey, options?: SnapshotGetOptions): Promise<ObjectSnapshot> {
    return this.#freeze(await this.#inner.get(kind, key, options));
  }

  async list(kind: ServedKind, query: ListQuery): Promise<SnapshotPage> {
    const page = await this.#inner.list(kind, query);
    for (const item of page.items) this.#freeze(item);
    return page;
  }

  async watch(kind: ServedKind, query: WatchQuery, listener: WatchListener): Promise<WatchHandle> {
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
    kind: ServedKind,
    namespace: string | undefined,
    object: StoredObject,
    write: WriteContext,
  ): Promise<ObjectSnapshot> {
    return this.#freeze(await this.#inner.create(kind, namespace, object, write));
  }

  async update(
    kind: ServedKind,
    key: ObjectKey,
    object: StoredObject,
    write: UpdateContext,
  ): Promise<WriteResult> {
    const written = await this.#inner.update(kind, key, object, write);
    this.#freeze(written.snapshot);
    return written;
  }

  async patch(
    kind: ServedKind,
    key: ObjectKey,
    patch: RequestedPatch,
    write: UpdateContext,
  ): Promise<WriteResult> {
    const written = await this.#inner.patch(kind, key, patch, write);
    this.#freeze(written.snapshot);
    return written;
  }

  async delete(
    kind: ServedKind,
    key: ObjectKey,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<DeleteResult> {
    const deleted = await this.#inner.delete(kind, key, options, write);
    if (deleted.kind !== 'removed') this.#freeze(deleted.snapshot);
    return deleted;
  }

  async deleteCollection(
    kind: ServedKind,
    query: ListQuery,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<SnapshotPage> {
    const page = await this.#inner.deleteCollection(kind, query, options, write);
    for (const item of page.items) this.#freeze(item);
    return page;
  }

  async post(
    kind: ServedKind,
    key: ObjectKey,
    subresource: string,
    body: StoredObject,
    write: WriteContext,
  ): Promise<Status> {
    return await this.#inner.post(kind, key, subresource, body, write);
  }

  #freeze(snapshot: ObjectSnapshot): ObjectSnapshot {
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
