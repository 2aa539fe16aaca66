import type { Cluster } from '../../../cluster/cluster.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { withPreconditions } from '../../../kube/patch-preconditions.ts';
import { pods } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';

interface NominationContext {
  readonly cluster: Cluster;
  readonly noteWrite: (pod: Pod) => void;
}

interface NominationPlan {
  readonly preemptor: Pod;
  readonly node: string;
  readonly nominated: readonly Pod[];
}

/** Other clients write to a pending pod, so conflicts are retried, but not forever. */
const attemptsMax = 5;

/**
 * Writes the preemptor's nominated node. False if it no longer needs a node. The write is conditional on the version that was read: no pod
 * may be evicted for a pod that has got a node meanwhile.
 */
export async function nominateToNode(
  { cluster, noteWrite }: NominationContext,
  { preemptor, node }: NominationPlan,
  signal: AbortSignal,
): Promise<boolean> {
  const client = cluster.resource(pods);
  let live: Pod | undefined = preemptor;
  for (let attempt = 1; live !== undefined && stillNeedsNode(live, preemptor); attempt++) {
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

/** Pods of lower priority may no longer fit on the node. A pod that has changed meanwhile is scheduled again anyway. */
export async function clearNominations(
  { cluster, noteWrite }: NominationContext,
  { preemptor, node, nominated }: NominationPlan,
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

/** Whether it is still the same pod, not being deleted and without a node. */
function stillNeedsNode({ metadata, spec }: Pod, preemptor: Pod): boolean {
  const isSame = metadata?.uid === preemptor.metadata?.uid;
  return isSame && metadata?.deletionTimestamp === undefined && (spec?.nodeName ?? '') === '';
}

function priorityOf({ spec }: Pod): number {
  return spec?.priority ?? 0;
}
