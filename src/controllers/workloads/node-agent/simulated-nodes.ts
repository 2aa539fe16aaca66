import type { Lease } from '../../../kube/api/coordination.ts';
import type { Node, NodeCondition } from '../../../kube/api/core.ts';
import { getCondition, setCondition } from '../../../kube/conditions.ts';
import { formatMicroTime, formatTimestamp, parseTimestamp } from '../../../kube/go/timestamp.ts';
import { annotations } from '../../../kube/well-known.ts';

/** The holder of the leases of simulated nodes. */
const agentIdentity = 'stowage.dev/node-agent';

export const leaseNamespace = 'kube-node-lease';

/** Longer than a kubelet's 40 s: one process maintains all nodes, and nothing fails over from it. */
const leaseDurationSeconds = 600;
const renewMs = 200_000;

/**
 * Whether the agent simulates this node's kubelet. A kubelet holds a lease with its node's name; if another process holds it, there is
 * a kubelet, perhaps temporarily down, and two must never run the same pods.
 */
export function isSimulated(node: Node, lease: Lease | undefined): boolean {
  const annotation = node.metadata?.annotations?.[annotations.simulated];
  if (annotation !== undefined) return annotation === 'true';
  const holder = lease?.spec?.holderIdentity;
  return lease === undefined || holder === undefined || holder === agentIdentity;
}

/** The lease to write now; undefined if it is valid for a while. */
export function leaseFor(node: Node, lease: Lease | undefined, nowMs: number): Lease | undefined {
  if (lease !== undefined && nowMs < renewalDueMs(lease)) return undefined;
  const { name = '', uid = '' } = node.metadata ?? {};
  return {
    metadata: {
      ...lease?.metadata,
      namespace: leaseNamespace,
      name,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: agentIdentity, leaseDurationSeconds, renewTime: formatMicroTime(nowMs) },
  };
}

/** When the lease has to be renewed: at once if another process holds it or it was never renewed. */
export function renewalDueMs(lease: Lease): number {
  const renewedMs = parseTimestamp(lease.spec?.renewTime);
  if (lease.spec?.holderIdentity !== agentIdentity || renewedMs === undefined) return 0;
  return renewedMs + renewMs;
}

/** The node's conditions with Ready in them; undefined if nothing changes. */
export function readyConditions(node: Node, nowMs: number): readonly NodeCondition[] | undefined {
  const now = formatTimestamp(nowMs);
  const current = node.status?.conditions;
  if (getCondition(current, 'Ready')?.status === 'True') return undefined;
  const ready: NodeCondition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: 'the node agent simulates this node',
    lastHeartbeatTime: now,
  };
  return setCondition(current, ready, now);
}
