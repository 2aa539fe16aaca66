import type { ServedKind } from '../../kinds/served-kind.ts';
import { bucketOf, type RegistryContext } from '../context/registry-context.ts';

export interface WarmUpScope {
  readonly namespace: string | undefined;
  /** How many objects are going to be looked at, where that is known; 0 for all. */
  readonly limit: number;
}

/** What may be made ready in the midst of a request. */
const withoutWarmUpMax = 500;

/**
 * Before many objects of a kind that was defined are read: makes them ready, which the first reader after a start or a change of the
 * schema has to do, and lets others go on meanwhile. A hundred thousand take seconds.
 *
 * It decides nothing. What is not ready when it is read, because it was written meanwhile, is made ready then.
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
