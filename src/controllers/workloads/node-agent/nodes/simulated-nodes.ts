import type { Lease } from '../../../../kube/api/coordination.ts';
import type { Node, NodeCondition } from '../../../../kube/api/core.ts';
import { getCondition, setCondition } from '../../../../kube/conditions.ts';
import { emulatedVersion } from '../../../../kube/emulated-version.ts';
import { formatMicroTime, formatTimestamp, parseTimestamp } from '../../../../kube/go/timestamp.ts';
import { annotations } from '../../../../kube/well-known.ts';

/** The holder of the leases of simulated nodes in versions before the annotation. */
const formerIdentity = 'stowage.dev/node-agent';

export const leaseNamespace = 'kube-node-lease';

/** Longer than a kubelet's 40 s: one process maintains all nodes, and nothing fails over from it. */
const leaseDurationSeconds = 600;
const renewMs = 200_000;

/**
 * Whether the agent simulates this node's kubelet. A kubelet holds a lease with its node's name; if the lease is not ours, there is
 * a kubelet, perhaps temporarily down, and two must never run the same pods. Clients expect the node's name as the holder in any case, so
 * an annotation distinguishes our leases.
 */
export function isSimulated(node: Node, lease: Lease | undefined): boolean {
  const annotation = node.metadata?.annotations?.[annotations.simulated];
  if (annotation !== undefined) return annotation === 'true';
  const holder = lease?.spec?.holderIdentity;
  return lease === undefined || holder === undefined || holder === formerIdentity || isAnnotated(lease);
}

/** The lease to write now; undefined if it is valid for a while. */
export function leaseFor(node: Node, lease: Lease | undefined, nowMs: number): Lease | undefined {
  if (lease !== undefined && nowMs < renewalDueMs(lease)) return undefined;
  const { name = '', uid = '' } = node.metadata ?? {};
  return {
    metadata: {
      ...lease?.metadata,
      annotations: { ...lease?.metadata?.annotations, [annotations.simulated]: 'true' },
      namespace: leaseNamespace,
      name,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime: formatMicroTime(nowMs) },
  };
}

function isAnnotated({ metadata }: Lease): boolean {
  return metadata?.annotations?.[annotations.simulated] === 'true';
}

/** When the lease has to be renewed: immediately if it is not ours or was never renewed. */
export function renewalDueMs(lease: Lease): number {
  const renewedMs = parseTimestamp(lease.spec?.renewTime);
  if (!isAnnotated(lease) || renewedMs === undefined) return 0;
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

/** The version that a simulated kubelet reports, which `kubectl get nodes` shows; undefined if the node reports one. */
export function nodeInfoPatch({ status }: Node): object | undefined {
  if ((status?.nodeInfo?.kubeletVersion ?? '') !== '') return undefined;
  return { nodeInfo: { ...status?.nodeInfo, kubeletVersion: emulatedVersion } };
}

/**
 * Extended resources, such as devices, have no reserve: a kubelet reports all of the capacity as allocatable. A merge patch; undefined
 * if nothing changes. Resources of Kubernetes itself stay as the user set them.
 */
export function allocatablePatch({ status }: Node): object | undefined {
  const { capacity, allocatable = {} } = status ?? {};
  if (capacity === undefined) return undefined;
  const names = new Set([...Object.keys(capacity), ...Object.keys(allocatable)].filter(isExtended));
  const changed = [...names].filter((name) => allocatable[name] !== capacity[name]);
  if (changed.length === 0) return undefined;
  return { allocatable: Object.fromEntries(changed.map((name) => [name, capacity[name] ?? null])) };
}

/** A name with a domain that is not one of Kubernetes. */
function isExtended(resource: string): boolean {
  return resource.includes('/') && !resource.includes('kubernetes.io/');
}
