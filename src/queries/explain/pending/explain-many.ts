import { type PodRecord, readPod } from '../../../engine/records/pod-record.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { countOf } from '../../../kube/quantities/count-text.ts';
import { QuestionError } from '../../question-error.ts';
import type { ClusterView } from '../../view/cluster-view.ts';
import { isUnread } from '../../view/unread-kinds.ts';
import { type ExplainedPending, explainPending } from './explain-pending.ts';
import type { PendingPodsExplanation, WorkloadExplanation, WorkloadKind } from './pending-explanation.ts';
import { isPending } from './pod-kinds.ts';
import type { ExplainPendingOptions } from './remedy-trials.ts';
import { findWorkload, type Workload, type WorkloadName } from './workload.ts';

/** The names of the kinds of workloads, as kubectl accepts them. */
export const workloadKinds: Readonly<Record<string, WorkloadKind>> = {
  deployment: 'Deployment',
  deployments: 'Deployment',
  deploy: 'Deployment',
  statefulset: 'StatefulSet',
  statefulsets: 'StatefulSet',
  sts: 'StatefulSet',
  replicaset: 'ReplicaSet',
  replicasets: 'ReplicaSet',
  rs: 'ReplicaSet',
};

/** Explains all pending pods, or those of one namespace. */
export function explainPendingPods(
  view: ClusterView,
  asked: string | undefined,
  options: ExplainPendingOptions & { readonly where: string },
): PendingPodsExplanation {
  requirePods(view, asked, options.where);
  const readable = view.unseen?.find(({ kind }) => kind === 'Pod')?.onlyNamespace;
  const namespace = asked ?? readable;
  const pods = pendingPods([...view.snapshot.values('Pod')]).filter(
    (pod) => namespace === undefined || pod.metadata?.namespace === namespace,
  );
  const parts = explainPending(view, pods, options);
  const only = asked === undefined ? ', the only one whose pods you may list' : '';
  const where = namespace === undefined ? '' : ` in namespace ${namespace}${only}`;
  return {
    ...parts,
    kind: 'PendingPodsExplanation',
    namespace,
    summary: `${pendingText(parts)}${where}${causesText(parts)}.`,
  };
}

/** Explains the pods of a workload; throws if it does not exist. */
export function explainWorkload(
  view: ClusterView,
  asked: WorkloadName,
  options: ExplainPendingOptions & { readonly where: string },
): WorkloadExplanation {
  const found = findWorkload(view, asked);
  if (found === undefined) throw workloadNotFound(view, asked, options.where);
  requirePods(view, asked.namespace, options.where);
  const { kind, namespace, name, replicas, pods, notCreated } = found;
  const parts = explainPending(view, pendingPods(pods), options);
  const running = pods.length - parts.pods.pending;
  return {
    ...parts,
    kind: 'WorkloadExplanation',
    workload: { kind, namespace, name, replicas },
    running,
    notCreated,
    summary: workloadSummary(found, running, parts),
  };
}

/** Throws if nothing is known about pods: an answer without them would say that none is pending, or that none was created. */
function requirePods(view: ClusterView, namespace: string | undefined, where: string): void {
  if (!isUnread(view, 'Pod')) return;
  if (view.isFromFiles)
    throw new QuestionError(`there is no pod in ${where}; add the output of kubectl get pods -A -o yaml`);
  const [what, remedy] =
    namespace === undefined
      ? ['pods', 'ask for the right to list them, or choose a namespace where you have it with -n']
      : [`pods of namespace ${namespace}`, 'ask for the right to list them'];
  throw new QuestionError(`could not read ${what}: forbidden; ${remedy}`);
}

function workloadSummary(
  { kind, namespace, name, replicas, notCreated }: Workload,
  running: number,
  parts: ExplainedPending,
): string {
  const { withCause, fitting, starting, notExplained } = parts.pods;
  const others = [
    [withCause, 'pending'],
    [fitting, 'would fit now'],
    [starting, 'starting'],
    [notCreated.count, 'not created'],
    [notExplained, 'not looked at'],
  ] as const;
  const rest = others.flatMap(([count, text]) => (count === 0 ? [] : [`${count} ${text}`]));
  return `${kind} ${namespace}/${name}: ${[`${running} of ${countOf(replicas, 'pod')} running`, ...rest].join(', ')}${causesText(parts)}.`;
}

function pendingText({ pods }: ExplainedPending): string {
  if (pods.pending === 0) return 'No pod is pending';
  const { fitting, starting } = pods;
  const rest = [
    ...(fitting > 0 ? [`${fitting} would fit now`] : []),
    ...(starting > 0
      ? [`${starting} ${starting === 1 ? 'has its node and is' : 'have their nodes and are'} starting`]
      : []),
  ];
  const of = rest.length === 0 ? '' : ` (${rest.join(', ')})`;
  return `${countOf(pods.pending, 'pod')} ${pods.pending === 1 ? 'is' : 'are'} pending${of}`;
}

function causesText({ causes }: ExplainedPending): string {
  return causes.length < 2 ? '' : `, for ${causes.length} causes`;
}

/** Sorted by name. */
function pendingPods(pods: readonly Pod[]): readonly Pod[] {
  return pods
    .map((pod): readonly [Pod, PodRecord] => [pod, readPod(pod)])
    .filter(([pod, record]) => isPending(pod, record))
    .sort(([, a], [, b]) => (a.key < b.key ? -1 : 1))
    .map(([pod]) => pod);
}

function workloadNotFound(
  view: ClusterView,
  { kind, namespace, name }: WorkloadName,
  where: string,
): QuestionError {
  const read = kind === 'StatefulSet' ? 'StatefulSet' : 'ReplicaSet';
  const hidden = view.unseen?.find((unseen) => unseen.kind === read && unseen.onlyNamespace !== namespace);
  if (hidden !== undefined)
    return new QuestionError(`could not read ${hidden.plural}: forbidden; ask for the right to list them`);
  const plural = `${read.toLowerCase()}s`;
  return new QuestionError(
    kind === 'Deployment'
      ? `there is no ReplicaSet of deployment ${namespace}/${name} in ${where}; kubectl get deployments,replicasets -n ${namespace} lists those there are`
      : `there is no ${kind.toLowerCase()} ${namespace}/${name} in ${where}; kubectl get ${plural} -n ${namespace} lists those there are`,
  );
}
