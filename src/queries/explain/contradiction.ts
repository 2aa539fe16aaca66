import type { Pod } from '../../kube/api/core.ts';
import { getCondition } from '../../kube/conditions.ts';
import { textOf } from '../../kube/wire.ts';
import type { ContradictionLine, PodExplanation } from './explanation.ts';

/** The message of the pod's own condition, if it says that the pod is not scheduled. */
export function reportedMessage(pod: Pod): string | undefined {
  const condition = getCondition(pod.status?.conditions, 'PodScheduled');
  return condition?.status === 'False' ? condition.message : undefined;
}

/** The scheduler has refused the pod. A condition about scheduling gates is not a refusal. */
export function isReportedUnschedulable(pod: Pod): boolean {
  const condition = getCondition(pod.status?.conditions, 'PodScheduled');
  return condition?.status === 'False' && condition.reason !== 'SchedulingGated';
}

/** Adds what the pod's own condition says, if that is the opposite. It comes first: the scheduler decides, not the explanation. */
export function withContradiction(explanation: PodExplanation, pod: Pod): PodExplanation {
  const contradiction = contradictionOf(explanation, pod);
  if (contradiction === undefined) return explanation;
  const { namespace, name } = explanation.pod;
  const { reported, explained } = contradiction;
  const summary =
    `Pod ${namespace}/${name}: its scheduler and this explanation disagree. The pod's condition says: ${quoted(reported)} ` +
    `By the rules of profile ${explanation.profile}: ${explained} ${reasonsToDiffer}`;
  return { ...explanation, summary, contradiction };
}

const reasonsToDiffer =
  'Either the cluster has just changed and the scheduler has not tried the pod again, or it decides by something that cannot be seen ' +
  'here; if the pod stays pending, the condition is right.';

function contradictionOf({ verdict, summary }: PodExplanation, pod: Pod): ContradictionLine | undefined {
  const condition = getCondition(pod.status?.conditions, 'PodScheduled');
  if (condition === undefined) return undefined;
  const since = condition.lastTransitionTime ?? undefined;
  if (verdict === 'fits' && isReportedUnschedulable(pod))
    return { reported: textOf(condition.message) || textOf(condition.reason), explained: summary, since };
  if (verdict === 'refused' && condition.status === 'True')
    return { reported: 'the pod is scheduled', explained: summary, since };
  return undefined;
}

/** Ends with a full stop. */
function quoted(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
