import type { DeletionPropagation, Int64, KubeObject, ListMeta, Preconditions } from './api/meta.ts';

/* The options of requests to a Kubernetes API, and the results of lists and watches. */

export interface GetOptions {
  readonly signal?: AbortSignal;
  /** `status` or `scale`; absent means the object itself. */
  readonly subresource?: string;
}

/** Text selectors, as in the API: `app=web,tier!=cache`, `spec.nodeName=n1`. */
export interface Selection {
  /** Absent means all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  /** Absent: the newest. `0`: any. Otherwise not older than this, or exactly this with `resourceVersionMatch`. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** The caller does not use `metadata.managedFields`, half of the bytes of many objects: a client may leave them out. */
  readonly omitsManagedFields?: boolean;
  readonly signal?: AbortSignal;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly metadata: ListMeta & { readonly resourceVersion: string };
}

export interface WatchOptions extends Selection {
  /** Events after this version. Absent or `0`: first the existing objects, as `ADDED`. */
  readonly resourceVersion?: string;
  /** First the existing objects, then an annotated bookmark that marks their end. */
  readonly sendInitialEvents?: boolean;
  readonly bookmarks?: boolean;
  readonly timeoutSeconds?: number;
  readonly signal: AbortSignal;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** There is no further event up to this version. `isInitialEnd`: all existing objects have been sent. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean };

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** The server does everything except the write. */
  readonly dryRun?: boolean;
  /** The owner of the fields that this write sets. */
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

export interface SubresourceWriteOptions extends WriteOptions {
  readonly subresource?: string;
}

export interface PatchOptions extends SubresourceWriteOptions {
  /** Server-side apply only: take over fields that other managers own. */
  readonly force?: boolean;
}

/** The four patch types of Kubernetes. */
export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic' | 'apply'; readonly body: KubeObject | object };

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface DeleteOptions extends WriteOptions {
  readonly gracePeriodSeconds?: Int64;
  readonly propagationPolicy?: DeletionPropagation;
  readonly preconditions?: Preconditions;
}

export interface DeleteCollectionOptions extends DeleteOptions, Selection {}
