import type { Cluster } from '../../cluster/cluster.ts';
import { announcements } from '../../queries/view/read-others.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SchedulerFacts } from './console-answers.ts';

/** Leases are renewed every few seconds, and what they announce hardly ever changes. */
const factsMaxAgeMs = 15_000;

/** Reads which scheduler decides, and keeps it for a while. */
export function cachedFacts(
  cluster: Cluster,
  { isEmbedded, clock }: { readonly isEmbedded: boolean; readonly clock: Clock },
): () => Promise<SchedulerFacts> {
  let known: { readonly readMs: number; readonly facts: Promise<SchedulerFacts> } | undefined;
  return async () => {
    const nowMs = clock.monotonicMs();
    if (known === undefined || nowMs - known.readMs > factsMaxAgeMs) {
      const facts = announcements(cluster).then((leases) => ({ leases, isEmbedded, isFromFiles: false }));
      known = { readMs: nowMs, facts };
      facts.catch(() => {
        known = undefined;
      });
    }
    return await known.facts;
  };
}
