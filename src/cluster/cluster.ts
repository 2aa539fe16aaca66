import type { KubeObject, Status } from '../kube/api/meta.ts';
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
import type { ObjectKey, Resource } from '../kube/resource.ts';

/**
 * A Kubernetes API, wherever it runs: inside this process (`embedded-cluster.ts`), or behind a kubeconfig (`kubernetes/`).
 *
 * 1. Every failure is an `ApiError` with Kubernetes' Status; its `reason` says what happened, for either kind of cluster.
 * 2. An acknowledged write is durable. What `get`, `list` and `watch` return has been acknowledged, or will be.
 * 3. Writes never merge by accident: an update carries the resourceVersion that was read, a patch carries uid and
 *    resourceVersion where it depends on what was read, and the second writer gets `Conflict`.
 * 4. Any number of calls may run concurrently. Callers may read returned objects, but never modify them; objects that
 *    callers pass in are not kept.
 * 5. An aborted call rejects with the signal's reason; whether a write took place is then unknown. A watch that is aborted ends.
 */
export interface Cluster {
  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T>;
}

export interface ResourceClient<T extends KubeObject> {
  readonly resource: Resource<T>;
  get(key: ObjectKey, options?: GetOptions): Promise<T>;
  /** One page; `metadata.continue` leads to the next. Without `limit` there is only one. */
  list(options?: ListOptions): Promise<ListPage<T>>;
  /**
   * The changes after `resourceVersion`, in order, nothing left out and nothing twice. Ends when the server closes the
   * stream regularly (resume from the last version seen); throws `Expired` when the version is too old to resume.
   */
  watch(options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create(object: Fresh<T>, options?: WriteOptions): Promise<T>;
  /** Replaces a live read. Without a resourceVersion it would overwrite the changes of others; most callers want `patch`. */
  update(object: Fresh<T>, options?: SubresourceWriteOptions): Promise<T>;
  patch(key: ObjectKey, patch: Patch, options?: PatchOptions): Promise<T>;
  /** The object before its removal or, while finalizers or grace keep it, in its current state; a Status if the server returns no more. */
  delete(key: ObjectKey, options?: DeleteOptions): Promise<T | Status>;
  deleteCollection(options: DeleteCollectionOptions): Promise<void>;
  /** POST to a subresource: `binding`, `eviction`. */
  post(key: ObjectKey, subresource: string, body: KubeObject, options?: WriteOptions): Promise<unknown>;
}

declare const projected: unique symbol;

/**
 * An object from a cache: it lacks managedFields and other fields that the reader does not need, so writing it back would erase
 * them. `update` and `create` do not accept it; send a patch, or update a live read.
 */
export type Projected<T extends KubeObject> = T & { readonly [projected]: true };

/** Any object that does not come from a cache. */
export type Fresh<T extends KubeObject> = T & { readonly [projected]?: never };
