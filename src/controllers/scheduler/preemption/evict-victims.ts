import type { Cluster } from '../../../cluster/cluster.ts';
import type { Pod, PodCondition } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { setCondition } from '../../../kube/conditions.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { pods } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { type EventRecorder, referenceTo } from '../../../reconcile/event-recorder.ts';
import { reportingControllerFor } from '../../../reconcile/leases/scheduler-names.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { clearNominations, nominateToNode } from './nominate.ts';

export interface VictimEvictionContext {
  readonly cluster: Cluster;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Called with each pod as the server returned it after a write. */
  readonly noteWrite: (pod: Pod) => void;
  /** Cancels the binding of a pod; false if it is too late for that. */
  readonly cancel: (pod: Pod) => boolean;
}

/** The decision, with the pods as they were at that time. */
export interface VictimEvictionPlan {
  readonly preemptor: Pod;
  readonly node: string;
  readonly victims: readonly { readonly pod: Pod; readonly isAssumed: boolean }[];
  /** The pods that have a nominated node. Those of lower priority lose their nomination to this node. */
  readonly nominated: readonly Pod[];
}

/**
 * Evicts the victims of a preemptor, after nominating it to the node. Returns false, and evicts no pod, if the preemptor no longer needs a
 * node: it no longer exists, is being deleted, or has a node.
 *
 * After a crash between any two of these writes, the next scheduler can continue:
 *
 * 1. The preemptor is nominated to the node. From now on plans reserve the capacity there for it. If nothing else happens, the preemptor is
 *    refused once more, no victim of its own is terminating there, and preemption is decided again.
 * 2. Nominated pods of lower priority lose their nomination to the node: a hint, which the next decision about them restores.
 * 3. Each victim gets the condition DisruptionTarget. Preemption ignores the condition on a pod that is not being deleted; the disruption
 *    controller removes it after some time, and a second eviction finds it and continues.
 * 4. Each victim is deleted, with its uid as precondition. While it terminates, condition and deletion together tell every planner that the
 *    preemptor is waiting for it.
 *
 * Only the event may be lost. Rejects if a victim could not be evicted; the others have been.
 */
export async function evictVictims(
  context: VictimEvictionContext,
  plan: VictimEvictionPlan,
  signal: AbortSignal,
): Promise<boolean> {
  const isNominated = await nominateToNode(context, plan, signal);
  if (!isNominated) return false;
  await clearNominations(context, plan, signal);
  const evictions = plan.victims.map((victim) => evict(context, plan, victim, signal));
  const failure = (await Promise.allSettled(evictions)).find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return true;
}

async function evict(
  context: VictimEvictionContext,
  plan: VictimEvictionPlan,
  { pod, isAssumed }: VictimEvictionPlan['victims'][number],
  signal: AbortSignal,
): Promise<void> {
  if (pod.metadata?.deletionTimestamp !== undefined) return;
  const isCancelled = isAssumed && context.cancel(pod);
  const isEvicted = isCancelled || (await markAndDelete(context, plan, pod, signal));
  if (isEvicted) recordPreempted(context, plan, pod, isCancelled ? ' (in kube-scheduler memory).' : '');
}

/** False if the pod no longer exists, or has been re-created. */
async function markAndDelete(
  context: VictimEvictionContext,
  { preemptor }: VictimEvictionPlan,
  victim: Pod,
  signal: AbortSignal,
): Promise<boolean> {
  const client = context.cluster.resource(pods);
  const { namespace, name = '', uid = '' } = victim.metadata ?? {};
  const condition = disruptionTarget(victim, preemptor, formatTimestamp(context.clock.nowMs()));
  try {
    if (condition !== undefined) {
      // A strategic merge keeps the conditions that a kubelet has written meanwhile.
      const body = { metadata: { uid }, status: { conditions: [condition] } };
      const patch = { type: 'strategic', body } as const;
      context.noteWrite(await client.patch({ namespace, name }, patch, { subresource: 'status', signal }));
    }
    await client.delete({ namespace, name }, { preconditions: { uid }, signal });
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return false;
    // A patch with another pod's uid is `Invalid`, a deletion with it is a `Conflict`. Both occur for other reasons too.
    if (!isReason(error, 'Conflict', 'Invalid')) throw error;
    const live = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    if (live?.metadata?.uid === uid) throw error;
    return false;
  }
}

/** Undefined if the victim already has the condition. */
function disruptionTarget({ metadata, status }: Pod, preemptor: Pod, now: string): PodCondition | undefined {
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

function recordPreempted(
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
    ...reportingControllerFor(preemptor),
  });
}
