import type { Cluster } from '../cluster/cluster.ts';
import type { Lease } from '../kube/api/coordination.ts';
import { formatMicroTime } from '../kube/go/timestamp.ts';
import { publisherLeaseSelection } from '../kube/publisher-heartbeat.ts';
import { leases } from '../kube/resources.ts';

/**
 * Renews the Leases of capacity publishers until a time in the future. The clocks of elections stop at the end of a run, and with them the renewals by
 * which schedulers know that a publisher runs.
 */
export async function renewPublisherLeases(cluster: Cluster, untilMs: number): Promise<void> {
  const client = cluster.resource<Lease>(leases);
  const { items } = await client.list(publisherLeaseSelection);
  for (const { metadata } of items) {
    const key = { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    await client.patch(key, { type: 'merge', body: { spec: { renewTime: formatMicroTime(untilMs) } } });
  }
}
