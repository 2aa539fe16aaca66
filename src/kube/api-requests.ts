import type { KubeObject, ListMeta } from './api/meta.ts';

/* What a request to a Kubernetes API carries beside the object, and what lists and watches answer with. */

export interface GetOptions {
  readonly signal?: AbortSignal;
  /** `status` or `scale`; the object itself where it is left out. */
  readonly subresource?: string;
}

/** Text selectors, as in the API: `app=web,tier!=cache`, `spec.nodeName=n1`. */
export interface Selection {
  /** Objects of one namespace; all of them where it is left out. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  /** Unset: the newest. `0`: any. Else not older, or exactly that one with `resourceVersionMatch`. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly signal?: AbortSignal;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly metadata: ListMeta & { readonly resourceVersion: string };
}

export interface WatchOptions extends Selection {
  /** From here on. Unset or `0`: begin with the objects there are, as `ADDED`. */
  readonly resourceVersion?: string;
  /** Begin with the objects there are, and tell by an annotated bookmark when they have all been sent. */
  readonly sendInitialEvents?: boolean;
  readonly bookmarks?: boolean;
  readonly timeoutSeconds?: number;
  readonly signal: AbortSignal;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Nothing happened up to this version. `isInitialEnd`: the objects that were there have all been sent. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean };

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** Runs everything but the write. */
  readonly dryRun?: boolean;
  /** Who owns the fields that this write sets. */
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

export interface SubresourceWriteOptions extends WriteOptions {
  readonly subresource?: string;
}

export interface PatchOptions extends SubresourceWriteOptions {
  /** Server-side apply only: take fields over from other managers. */
  readonly force?: boolean;
}

/** The four languages of change. */
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
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  readonly preconditions?: Preconditions;
}

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteCollectionOptions extends DeleteOptions, Selection {}
