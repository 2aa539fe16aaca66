import type { PersistentVolume } from '../../../kube/api/core.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { emptyDriver } from '../../../kube/well-known.ts';

/**
 * Expands volumes of one kind.
 *
 * `expand` may be called again with the same size, after a crash: it must be idempotent. It returns the outcome; an exception
 * means that the outcome is unknown, and the same size is retried, because the call may have half succeeded.
 */
export interface Resizer {
  /** The name for the claim's annotation; undefined if the claim gets none. */
  readonly name: string | undefined;
  /** Whether only nodes act: then a size that a node refused can be replaced. */
  readonly isNodeOnly?: boolean;
  expand(volume: PersistentVolume, size: string, signal: AbortSignal): Promise<Expansion>;
}

/** A resizer with a fixed choice of volumes. */
export interface BuiltInResizer extends Resizer {
  readonly name: string;
  isFor(volume: PersistentVolume): boolean;
}

export type Expansion =
  /** `size` may be more than was requested. `needsNode`: the node has to grow the file system, or to act otherwise. */
  | { readonly kind: 'expanded'; readonly size: string; readonly needsNode: boolean }
  /** The size is not possible, and the expansion has not started: the claim may request a smaller size instead. */
  | { readonly kind: 'infeasible'; readonly message: string }
  /** It has ended without effect, and may succeed later. `isInUse`: perhaps when no pod uses the volume. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly isInUse: boolean }
  /** It may have succeeded, or may still be in progress. */
  | { readonly kind: 'unknown'; readonly error: unknown };

/** Local disks: there is nothing to call, but the file system on them has to grow. */
export const localResizer: BuiltInResizer = {
  name: 'kubernetes.io/local-volume',
  isFor: ({ spec }) => spec?.local !== undefined,
  expand: async (volume, size) => ({ kind: 'expanded', size, needsNode: hasFileSystem(volume) }),
};

export const zonalResizer: BuiltInResizer = {
  name: emptyDriver,
  isFor: ({ spec }) => spec?.csi?.driver === emptyDriver,
  expand: async (volume, size) => ({ kind: 'expanded', size, needsNode: hasFileSystem(volume) }),
};

export function hasFileSystem(volume: PersistentVolume): boolean {
  return volumeModeOf(volume) === 'Filesystem';
}
