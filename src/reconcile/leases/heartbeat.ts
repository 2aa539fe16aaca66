import type { Cluster } from '../../cluster/cluster.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { OwnerReference } from '../../kube/api/meta.ts';
import { formatMicroTime } from '../../kube/go/timestamp.ts';
import { apiVersionOf, type ObjectKey } from '../../kube/resource.ts';
import { leases } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { Clock } from '../../runtime/clock.ts';

/** A Lease by which others see that a process runs. No process competes for it. */
export interface HeartbeatLease {
  readonly lease: ObjectKey & { readonly namespace: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly holder: string;
  readonly durationSeconds: number;
  /** The garbage collector deletes the Lease with this object. */
  readonly owner?: OwnerReference | undefined;
}

/**
 * Renews the Lease, or creates it. The write carries the version that was read, so it rejects with Conflict or AlreadyExists if another process was
 * faster. A crash after any write changes nothing: the next process renews the same Lease.
 */
export async function renewHeartbeat(
  { cluster, clock }: { readonly cluster: Cluster; readonly clock: Clock },
  { lease: key, labels, holder, durationSeconds, owner }: HeartbeatLease,
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(leases);
  const known = await undefinedIfNotFound(client.get(key, { signal }));
  const lease: Lease = {
    apiVersion: apiVersionOf(leases),
    kind: leases.kind,
    metadata: {
      ...known?.metadata,
      ...key,
      labels: { ...known?.metadata?.labels, ...labels },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: durationSeconds,
      renewTime: formatMicroTime(clock.nowMs()),
    },
  };
  await (known === undefined ? client.create(lease, { signal }) : client.update(lease, { signal }));
}
