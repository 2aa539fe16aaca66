import type { ServedKind } from '../../kinds/served-kind.ts';
import { bucketOf, type RegistryContext } from '../context/registry-context.ts';

export interface WarmUpScope {
  readonly namespace: string | undefined;
  /** How many objects will be read, if known; 0 for all. */
  readonly limit: number;
}

/** Reads of at most this many objects convert them without a warm-up. */
const withoutWarmUpMax = 500;

/**
 * Converts the objects of a custom kind before many of them are read, in slices so that other work gets turns. The
 * first read after a start or a schema change needs this; a hundred thousand objects take seconds.
 *
 * It affects only latency. Objects written meanwhile are converted when they are read.
 */
export async function warmUp(
  context: RegistryContext,
  kind: ServedKind,
  { namespace, limit }: WarmUpScope,
): Promise<void> {
  const isShort = limit > 0 && limit <= withoutWarmUpMax;
  if (isShort || context.snapshots.isWarm(kind)) return;
  const prefix = kind.namespaced && namespace !== undefined ? `${namespace}/` : undefined;
  const entries = context.store.list(bucketOf(context, kind), { prefix });
  await context.snapshots.warmUp(kind, entries);
  if (prefix === undefined) context.snapshots.markWarm(kind);
}
