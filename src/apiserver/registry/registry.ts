import type { Status } from '../../kube/api/meta.ts';
import type { DeleteOptions, Selection } from '../../kube/api-requests.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import type { KindCatalog } from '../kinds/kind-catalog.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';

/**
 * The API server without HTTP: executes requests whose caller and target are known. `server/` adds HTTP;
 * `src/cluster/embedded-cluster.ts` calls it in process.
 *
 * 1. Every refusal is an `ApiError`. A result is returned only when everything that it reveals is durable.
 * 2. Objects passed in have been decoded (`schema/decode.ts`): they are typed and canonical, and the registry takes
 *    ownership. Returned snapshots are shared and must not be changed.
 * 3. Nothing awaits between reading the old object and storing the new one, so no other write can interleave.
 */
export interface Registry {
  readonly kinds: KindCatalog;

  get(kind: ServedKind, key: ObjectKey, options?: SnapshotGetOptions): Promise<ObjectSnapshot>;
  list(kind: ServedKind, query: ListQuery): Promise<SnapshotPage>;
  /** Resolves when the watch is open; rejects if the query is invalid. Events go to the listener. */
  watch(kind: ServedKind, query: WatchQuery, listener: WatchListener): Promise<WatchHandle>;

  create(
    kind: ServedKind,
    namespace: string | undefined,
    object: StoredObject,
    write: WriteContext,
  ): Promise<ObjectSnapshot>;
  /** `created` is true if PUT created the object. */
  update(kind: ServedKind, key: ObjectKey, object: StoredObject, write: UpdateContext): Promise<WriteResult>;
  patch(kind: ServedKind, key: ObjectKey, patch: RequestedPatch, write: UpdateContext): Promise<WriteResult>;
  /** The object if finalizers or a grace period delay the removal; a Status if it is removed. */
  delete(
    kind: ServedKind,
    key: ObjectKey,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<DeleteResult>;
  /** The deleted objects, in their state before. */
  deleteCollection(
    kind: ServedKind,
    query: ListQuery,
    options: DeletionRequest,
    write: WriteContext,
  ): Promise<SnapshotPage>;
  /** POST to a subresource such as `binding`; returns the API's Status. */
  post(
    kind: ServedKind,
    key: ObjectKey,
    subresource: string,
    body: StoredObject,
    write: WriteContext,
  ): Promise<Status>;
}

/**
 * One version of one object. Reading `object` decodes the bytes, at most once while the snapshot is cached. The JSON
 * omits `kind` and `apiVersion`, as items of lists do: `{"metadata":{...},...}`.
 */
export interface ObjectSnapshot {
  /** The object's kind, which for a subresource such as `scale` differs from the resource's. */
  readonly kind: string;
  readonly apiVersion: string;
  readonly object: StoredObject;
  readonly json: Uint8Array;
  /** 0 in results of dry runs. */
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

/** All watchers receive the same event object, so derived data can be cached by identity. */
export type RegistryEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly snapshot: ObjectSnapshot }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean };

export interface WatchListener {
  /** Called with non-empty batches in order. An exception before the watch is open makes `watch` reject. */
  events(events: readonly RegistryEvent[]): void;
  /**
   * An event could not be created, or `events` has thrown: no events follow, and the consumer must start over with a
   * list. A failing listener affects neither other listeners nor the writer.
   *
   * A listener without this callback depends on every event: the server would continue with access rules or kinds that
   * differ from what is stored. Its failure is rethrown and ends the process; the next process reads everything again.
   */
  failed?(error: unknown): void;
  /** The kind is no longer served, or was redefined: no events follow, and the consumer must watch again. */
  ended?(): void;
}

export interface WatchHandle {
  /** Everything up to this version has been delivered; for bookmarks. */
  readonly resourceVersion: string;
  close(): void;
}

/** The writer and the options of a write. */
export interface WriteContext {
  /** The field manager; it owns the fields that the write sets. See `managed-fields/`. */
  readonly manager: string;
  readonly user: string;
  readonly dryRun?: boolean | undefined;
  /** Called with warnings for the writer. */
  warn(text: string): void;
  /** Checks permissions that depend on the object's content; undefined for users who may do everything. */
  readonly guard?: WriteGuard | undefined;
}

/** Throws if the writer may not write this object. */
export interface WriteGuard {
  /** Checks that the writer may grant what the object grants. Called when the object is complete, before validation. */
  checkGrant(change: GuardedChange): void;
  /** Checks that the writer may create the object that an update would create. */
  checkCreate(change: GuardedChange): void;
}

export interface GuardedChange {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: ServedKind;
  readonly object: StoredObject;
  readonly old: StoredObject | undefined;
}

export interface UpdateContext extends WriteContext {
  /** Whether the object's managedFields are up to date: an apply has computed them. */
  readonly hasFieldOwners?: boolean | undefined;
  /** `status`, `scale` or `finalize`. */
  readonly subresource?: string | undefined;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface RequestedPatch {
  readonly type: PatchType;
  /** The parsed body. It is not typed, because patches contain directives and nulls. */
  readonly body: unknown;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Duplicate keys of the body in the parser's format: `duplicate field "spec.x"`, with a line for YAML. */
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
  /** Removed, and the response is the last state, as kube-apiserver does for pods. */
  | { readonly kind: 'removedObject'; readonly snapshot: ObjectSnapshot };
