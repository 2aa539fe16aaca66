import type { PersistentVolume } from '../../../kube/api/core.ts';

/**
 * Makes volumes of one kind larger.
 *
 * `expand` may be called again with the same size, after a crash: it has to be idempotent. It answers how it went; what it throws
 * counts as not known yet, and is tried again with the same size, because it may have half succeeded.
 */
export interface Resizer {
  /** As the claim's annotation names it. */
  readonly name: string;
  isFor(volume: PersistentVolume): boolean;
  /** Whether the node has to grow the file system on it. */
  readonly needsNode: boolean;
  expand(volume: PersistentVolume, size: string, signal: AbortSignal): Promise<Expansion>;
}

export type Expansion =
  | { readonly kind: 'expanded' }
  /** It can't be done, and was not begun: a smaller size may be asked for instead. */
  | { readonly kind: 'infeasible'; readonly message: string };

/** Local disks: there is nothing to call, but the file system on them has to grow. */
export const localResizer: Resizer = {
  name: 'kubernetes.io/local-volume',
  isFor: ({ spec }) => spec?.local !== undefined,
  needsNode: true,
  expand: async () => ({ kind: 'expanded' }),
};

/** A driver that has nothing behind its volumes: their size is what their object says. */
const emptyDriver = 'zonal.stowage.dev';

export const zonalResizer: Resizer = {
  name: emptyDriver,
  isFor: ({ spec }) => spec?.csi?.driver === emptyDriver,
  needsNode: true,
  expand: async () => ({ kind: 'expanded' }),
};
