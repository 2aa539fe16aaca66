import type { Cluster } from '../../../cluster/cluster.ts';
import type { Pod, PodCondition } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { setCondition } from '../../../kube/conditions.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { pods } from '../../../kube/resources.ts';
import { type EventRecorder, referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { clearNominations, nominateToNode } from './nominate.ts';

export interface VictimEvictionContext {
  readonly cluster: Cluster;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Told of each pod as the server has it after a write. */
  readonly noteWrite: (pod: Pod) => void;
  /** Lets go of a pod that is about to be bound; false if it is too late for that. */
  readonly cancel: (pod: Pod) => boolean;
}

/** What was decided, with the pods as they were when it was. */
export interface VictimEvictionPlan {
  readonly preemptor: Pod;
  readonly node: string;
  readonly victims: readonly { readonly pod: Pod; readonly isAssumed: boolean }[];
  /** Pods that wait for a node of their own; those of lower priority that wait for this one wait no longer. */
  readonly nominated: readonly Pod[];
}

/**
 * Makes room for a pod: reserves the node for it, then evicts who is in the way. False, and nobody is evicted, if the pod needs no
 * room any more: it is gone, is going, or has a node.
 *
 * Whoever dies after any of these writes leaves something that a successor can go on from:
 *
 * 1. The pod is nominated to the node. From now on whoever plans leaves the room to it. If nothing else happens it is refused once
 *    more, no victim of its own is ending there, and preemption is decided anew.
 * 2. Lower pods lose their nomination to the node: a hint, that the next decision about them gives again.
 * 3. Each victim is marked with why it has to go. A mark without a deletion means nothing to preemption; the disruption controller takes
 *    it back in time, and a second eviction finds it and goes on.
 * 4. Each victim is deleted, this very one and none of the same name. While it ends, mark and deletion together tell whoever plans
 *    that the nominated pod is being waited for.
 *
 * Only the Event may be lost. Rejects if a victim could not be evicted; the others have been.
 */
export async function evictVictims(
  context: VictimEvictionContext,
  order: VictimEvictionPlan,
  signal: AbortSignal,
): Promise<boolean> {
  const isNominated = await nominateToNode(context, order, signal);
  if (!isNominated) return false;
  await clearNominations(context, order, signal);
  const evictions = order.victims.map((victim) => evict(context, order, victim, signal));
  const failure = (await Promise.allSettled(evictions)).find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return true;
}

async function evict(
  context: VictimEvictionContext,
  order: VictimEvictionPlan,
  { pod, isAssumed }: VictimEvictionPlan['victims'][number],
  signal: AbortSignal,
): Promise<void> {
  if (pod.metadata?.deletionTimestamp !== undefined) return;
  const isCancelled = isAssumed && context.cancel(pod);
  const isEvicted = isCancelled || (await markAndDelete(context, order, pod, signal));
  if (isEvicted) tell(context, order, pod, isCancelled ? ' (in kube-scheduler memory).' : '');
}

/** False if the pod is gone, or another has its name. */
async function markAndDelete(
  context: VictimEvictionContext,
  { preemptor }: VictimEvictionPlan,
  victim: Pod,
  signal: AbortSignal,
): Promise<boolean> {
  const client = context.cluster.resource(pods);
  const { namespace, name = '', uid = '' } = victim.metadata ?? {};
  const condition = markOf(victim, preemptor, formatTimestamp(context.clock.nowMs()));
  try {
    if (condition !== undefined) {
      // Merges the one condition into whatever a kubelet has written meanwhile.
      const body = { metadata: { uid }, status: { conditions: [condition] } };
      const patch = { type: 'strategic', body } as const;
      context.noteWrite(await client.patch({ namespace, name }, patch, { subresource: 'status', signal }));
    }
    await client.delete({ namespace, name }, { preconditions: { uid }, signal });
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return false;
    // A patch that names another pod's uid is `Invalid`, such a deletion `Conflict`; but both are said for other reasons too.
    if (!isReason(error, 'Conflict', 'Invalid')) throw error;
    const live = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    if (live?.metadata?.uid === uid) throw error;
    return false;
  }
}

/** Undefined if the victim says so already. */
function markOf({ metadata, status }: Pod, preemptor: Pod, now: string): PodCondition | undefined {
  const type = 'DisruptionTarget';
  const wanted: PodCondition = {
    type,
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${preemptor.spec?.schedulerName ?? ''}: preempting to accommodate a higher priority pod`,
    ...(metadata?.generation !== undefined && { observedGeneration: metadata.generation }),
  };
  const conditions = setCondition(status?.conditions ?? [], wanted, now);
  return conditions === status?.conditions
    ? undefined
    : conditions.find((condition) => condition.type === type);
}

const podType = { apiVersion: 'v1', kind: 'Pod' };

function tell(
  context: VictimEvictionContext,
  { preemptor, node }: VictimEvictionPlan,
  victim: Pod,
  rest: string,
): void {
  context.events.record({
    regarding: referenceTo(victim, podType),
    related: referenceTo(preemptor, podType),
    type: 'Normal',
    reason: 'Preempted',
    action: 'Preempting',
    note: `Preempted by pod ${preemptor.metadata?.uid} on node ${node}${rest}`,
  });
}
