import { defaultSchedulerName, schedulerNamesDefault } from '../../controllers/scheduler/scheduler-names.ts';
import type { Pod } from '../../kube/api/core.ts';
import { getCondition } from '../../kube/conditions.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { textOf } from '../../kube/wire.ts';
import type { ClusterView } from '../source/cluster-view.ts';

/** A running scheduler reports on a new pod within this time. */
const silenceMs = 30_000;

export interface SchedulerSigns {
  readonly name: string;
  /** Names that the scheduler of Stowage announces on a Lease that is current. */
  readonly announced: readonly string[];
  readonly nowMs: number;
}

/**
 * Why no scheduler seems to place the pod, with what helps; undefined if one may. There is no list of schedulers in Kubernetes. One that runs leaves a
 * trace: a Lease that announces its names, a condition or Event of the pod, or other pods of the same name that have a node.
 */
export function missingScheduler(
  view: ClusterView,
  pod: Pod,
  { name, announced, nowMs }: SchedulerSigns,
): string | undefined {
  // kube-scheduler announces its names nowhere. Files may lack Events and Leases.
  if (name === defaultSchedulerName || view.isFromFiles || view.isHypothetical || view.leases === undefined)
    return undefined;
  const createdMs = parseTimestamp(pod.metadata?.creationTimestamp) ?? 0;
  if (nowMs - createdMs < silenceMs || hasTrace(view, pod, name) || announced.includes(name))
    return undefined;
  const known = [...new Set([...announced, defaultSchedulerName])].filter((one) => one !== name);
  const start = schedulerNamesDefault.some((own) => own === name)
    ? 'start it with stowage run --controllers scheduler'
    : `start the scheduler ${name}`;
  return (
    `no scheduler with the name ${name} seems to run: no Lease announces this name, no Event or condition of the pod is from a scheduler, ` +
    `and no other pod of this schedulerName has a node; ${start}, or recreate the pod with a schedulerName that is served, such as ${known.join(' or ')}`
  );
}

function hasTrace(view: ClusterView, pod: Pod, name: string): boolean {
  if (getCondition(pod.status?.conditions, 'PodScheduled') !== undefined) return true;
  for (const { spec } of view.snapshot.values('Pod'))
    if (textOf(spec?.schedulerName) === name && textOf(spec?.nodeName) !== '') return true;
  return false;
}
