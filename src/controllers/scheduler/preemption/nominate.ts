import type { Cluster } from '../../../cluster/cluster.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { withPreconditions } from '../../../kube/patch-preconditions.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { pods } from '../../../kube/resources.ts';

interface NominationContext {
  readonly cluster: Cluster;
  readonly noteWrite: (pod: Pod) => void;
}

interface NominationOrder {
  readonly preemptor: Pod;
  readonly node: string;
  readonly nominated: readonly Pod[];
}

/** Others write about a pod that waits, but not without end. */
const attemptsMax = 5;

/**
 * Says where the pod is to go once others have left. False if it needs no node any more. On the version that was looked at: a pod
 * that has got a node meanwhile must not cost others theirs.
 */
export async function nominateToNode(
  { cluster, noteWrite }: NominationContext,
  { preemptor, node }: NominationOrder,
  signal: AbortSignal,
): Promise<boolean> {
  const client = cluster.resource(pods);
  let live: Pod | undefined = preemptor;
  for (let attempt = 1; live !== undefined && isWaiting(live, preemptor); attempt++) {
    if (live.status?.nominatedNodeName === node) return true;
    try {
      noteWrite(await patchNomination(cluster, live, node, signal));
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      if (!isReason(error, 'Conflict') || attempt === attemptsMax) throw error;
      live = await undefinedIfNotFound(client.get(keyOf(preemptor), { signal }));
    }
  }
  return false;
}

/** Pods of lower priority may no longer fit on the node; whoever has changed since is judged anew anyway. */
export async function clearNominations(
  { cluster, noteWrite }: NominationContext,
  { preemptor, node, nominated }: NominationOrder,
  signal: AbortSignal,
): Promise<void> {
  for (const pod of nominated) {
    if (pod.status?.nominatedNodeName !== node || priorityOf(pod) >= priorityOf(preemptor)) continue;
    try {
      noteWrite(await patchNomination(cluster, pod, null, signal));
    } catch (error) {
      if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}

async function patchNomination(
  cluster: Cluster,
  pod: Pod,
  nominatedNodeName: string | null,
  signal: AbortSignal,
): Promise<Pod> {
  const patch = { type: 'merge', body: withPreconditions(pod, { status: { nominatedNodeName } }) } as const;
  return await cluster.resource(pods).patch(keyOf(pod), patch, { subresource: 'status', signal });
}

function keyOf({ metadata }: Pod) {
  return { namespace: metadata?.namespace, name: metadata?.name ?? '' };
}

/** Still the same pod, and still without a node. */
function isWaiting({ metadata, spec }: Pod, asked: Pod): boolean {
  const isSame = metadata?.uid === asked.metadata?.uid;
  return isSame && metadata?.deletionTimestamp === undefined && (spec?.nodeName ?? '') === '';
}

function priorityOf({ spec }: Pod): number {
  return spec?.priority ?? 0;
}
