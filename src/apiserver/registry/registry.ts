import type { Status } from '../../kube/api/meta.ts';
import type { DeleteOptions, Selection } from '../../kube/api-requests.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import type { KindCatalog } from '../kinds/kind-catalog.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';

/**
 * The API server without HTTP: what a request means, once it is known who asks for what. `server/` puts HTTP on top of it,
 * `embedded-cluster.ts` calls it in process.
 *
 * 1. Everything refused is an `ApiError`. An answer is given only when what it reveals is durable.
 * 2. Objects handed in have been decoded (`schema/decode.ts`): typed, canonical and the registry's to change. Snapshots
 *    handed out are shared: nobody changes them.
 * 3. From the moment that the old object is read to the moment that the new one is stored nothing awaits, so no write can
 *    come between.
 */
export interface Registry {
  readonly kinds: KindCatalog;

  get(kind: ServedKind, key: ObjectKey, options?: SnapshotGetOptions): Promise<ObjectSnapshot>;
  list(kind: ServedKind, query: ListQuery): Promise<SnapshotPage>;
  /** Resolves when the watch is open (what is wrong with the query rejects); events go to the listener. */
  watch(kind: ServedKind, query: WatchQuery, listener: WatchListener): Promise<WatchHandle>;

  create(
    kind: ServedKind,
    namespace: string | undefined,
    object: StoredObject,
    write: WriteContext,
  ): Promise<ObjectSnapshot>;
  /** `created` where PUT made a new object. */
  update(kind: ServedKind, key: ObjectKey, object: StoredObject, write: UpdateContext): Promise<WriteResult>;
  patch(kind: ServedKind, key: ObjectKey, patch: RequestedPatch, write: UpdateContext): Promise<WriteResult>;
  /** The object where finalizers or grace keep it, a Status where it is gone. */
  delete(
    kind: ServedKind,
    key: ObjectKey,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<DeleteResult>;
  /** The objects that it deleted, as they were. */
  deleteCollection(
    kind: ServedKind,
    query: ListQuery,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<SnapshotPage>;
  /** POST to a subresource such as `binding`; answers what the API answers. */
  post(
    kind: ServedKind,
    key: ObjectKey,
    subresource: string,
    body: StoredObject,
    write: WriteContext,
  ): Promise<Status>;
}

/**
 * One version of one object. Reading `object` decodes the bytes, at most once while the snapshot is remembered.
 * The JSON leaves `kind` and `apiVersion` out, as items of lists do: `{"metadata":{...},...}`.
 */
export interface ObjectSnapshot {
  /** Of the object itself, which for a subresource such as `scale` is not the kind of the resource. */
  readonly kind: string;
  readonly apiVersion: string;
  readonly object: StoredObject;
  readonly json: Uint8Array;
  /** 0 in answers to dry runs. */
  readonly revision: number;
}

export interface SnapshotGetOptions {
  readonly resourceVersion?: string | undefined;
  readonly subresource?: string | undefined;
}

export interface ListQuery extends Selection {
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
}

export interface SnapshotPage {
  readonly items: readonly ObjectSnapshot[];
  readonly resourceVersion: string;
  readonly continue: string | undefined;
  readonly remainingItemCount: number | undefined;
}

export interface WatchQuery extends Selection {
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly bookmarks?: boolean | undefined;
}

/** Events of one change are one value for all watchers, so that what is made of it can be remembered by identity. */
export type RegistryEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly snapshot: ObjectSnapshot }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean };

export interface WatchListener {
  /** Never empty, in order. What it throws before the watch is open makes `watch` reject. */
  events(events: readonly RegistryEvent[]): void;
  /**
   * An event could not be made, or `events` has thrown: nothing follows, and whoever is interested begins anew with a list. One
   * listener's trouble is not the others', nor that of whoever wrote.
   *
   * A listener without this can't do without the event: the server would go on with access or kinds that are not what is stored. Its
   * failure is thrown, and ends the process; the next one reads all of it anew.
   */
  failed?(error: unknown): void;
  /** The kind is not served any more, or not as it was: nothing follows, and whoever is interested asks again. */
  ended?(): void;
}

export interface WatchHandle {
  /** Everything up to here has been delivered; for bookmarks. */
  readonly resourceVersion: string;
  close(): void;
}

/** Who writes, and how. */
export interface WriteContext {
  /** Owns the fields that the write sets; see `managed-fields/`. */
  readonly manager: string;
  readonly user: string;
  readonly dryRun?: boolean | undefined;
  /** Told what the writer should know but need not mend. */
  warn(text: string): void;
  /** What the writer may not do though he may write such objects; left out for those who may do everything. */
  readonly guard?: WriteGuard | undefined;
}

/** Judges an object on its way to the store; throws where its writer may not write it. */
export interface WriteGuard {
  /** Whether the writer may grant what the object grants. Once the object is whole, before it is checked. */
  checkGrant(change: GuardedChange): void;
  /** Whether the writer, who asked to change an object, may also make it: there was none. */
  checkCreate(change: GuardedChange): void;
}

export interface GuardedChange {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: ServedKind;
  readonly object: StoredObject;
  readonly old: StoredObject | undefined;
}

export interface UpdateContext extends WriteContext {
  /** The object says already who owns its fields: an apply has worked that out. */
  readonly hasFieldOwners?: boolean | undefined;
  /** `status`, `scale` or `finalize`. */
  readonly subresource?: string | undefined;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface RequestedPatch {
  readonly type: PatchType;
  /** As it was read: not typed, since a patch has markers and nulls of its own. */
  readonly body: unknown;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Names that the body has twice, as the reader words it: `duplicate field "spec.x"`; with a line where it is YAML. */
  readonly duplicateFields?: readonly string[];
  readonly force?: boolean | undefined;
}

export interface WriteResult {
  readonly snapshot: ObjectSnapshot;
  readonly created: boolean;
}

export type DeletionRequest = Pick<
  DeleteOptions,
  'gracePeriodSeconds' | 'propagationPolicy' | 'preconditions'
> & { readonly orphanDependents?: boolean };

export type DeleteResult =
  | { readonly kind: 'removed'; readonly status: Status }
  | { readonly kind: 'kept'; readonly snapshot: ObjectSnapshot }
  /** Removed, and the real server answers with the last state: pods do so. */
  | { readonly kind: 'removedObject'; readonly snapshot: ObjectSnapshot };
