import type { PersistentVolume } from '../../../kube/api/core.ts';

/**
 * Expands volumes of one kind.
 *
 * `expand` may be called again with the same size, after a crash: it must be idempotent. It returns the outcome; an exception
 * means that the outcome is unknown, and the same size is retried, because the call may have half succeeded.
 */
export interface Resizer {
  /** The name for the claim's annotation. */
  readonly name: string;
  isFor(volume: PersistentVolume): boolean;
  /** Whether the node has to grow the file system on the volume. */
  readonly needsNode: boolean;
  expand(volume: PersistentVolume, size: string, signal: AbortSignal): Promise<Expansion>;
}

export type Expansion =
  | { readonly kind: 'expanded' }
  /** The size is not possible, and the expansion has not started: the claim may request a smaller size instead. */
  | { readonly kind: 'infeasible'; readonly message: string };

/** Local disks: there is nothing to call, but the file system on them has to grow. */
export const localResizer: Resizer = {
  name: 'kubernetes.io/local-volume',
  isFor: ({ spec }) => spec?.local !== undefined,
  needsNode: true,
  expand: async () => ({ kind: 'expanded' }),
};

/** A driver without storage behind its volumes: the object alone defines their size. */
export const emptyDriver = 'zonal.stowage.dev';

export const zonalResizer: Resizer = {
  name: emptyDriver,
  isFor: ({ spec }) => spec?.csi?.driver === emptyDriver,
  needsNode: true,
  expand: async () => ({ kind: 'expanded' }),
};
