import type { ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { Event, Pod } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { isFinished } from '../../../kube/pods.ts';
import { listOf } from '../../../kube/wire.ts';
import type { ClusterView } from '../../view/cluster-view.ts';
import { eventLines } from '../lines.ts';
import type { NotCreatedLine, WorkloadKind } from './pending-explanation.ts';

/** A workload and its pods, as far as the view has them. */
export interface Workload {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /** Without pods that have ended or are being deleted. */
  readonly pods: readonly Pod[];
  readonly notCreated: NotCreatedLine;
}

export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** The workload; undefined if it does not exist. A Deployment is known by its ReplicaSets, which say more than the Deployment itself. */
export function findWorkload(view: ClusterView, asked: WorkloadName): Workload | undefined {
  const { snapshot } = view;
  const key = `${asked.namespace}/${asked.name}`;
  switch (asked.kind) {
    case 'StatefulSet': {
      const set = snapshot.get('StatefulSet', key);
      return set && statefulSet(view, asked, set);
    }
    case 'ReplicaSet': {
      const set = snapshot.get('ReplicaSet', key);
      return set && ofReplicaSets(view, asked, [set]);
    }
    case 'Deployment': {
      const sets = [...snapshot.values('ReplicaSet')].filter((set) => isOwnedBy(set, asked));
      return sets.length === 0 ? undefined : ofReplicaSets(view, asked, sets);
    }
  }
}

function ofReplicaSets(view: ClusterView, asked: WorkloadName, sets: readonly ReplicaSet[]): Workload {
  const parts = sets.map((set) => {
    const pods = podsOf(view, { ...asked, kind: 'ReplicaSet', name: set.metadata?.name ?? '' });
    return { set, pods, missing: Math.max(0, replicasOf(set) - pods.length) };
  });
  const count = parts.reduce((sum, { missing }) => sum + missing, 0);
  const failed = parts.flatMap(({ set, missing }) => (missing > 0 ? (creationFailure(set) ?? []) : []));
  return {
    ...asked,
    replicas: desiredOf(sets),
    pods: parts.flatMap(({ pods }) => pods),
    notCreated: { count, isFailure: failed.length > 0, why: count === 0 ? undefined : failed[0] },
  };
}

/** The deployment controller writes the number onto its ReplicaSets. During a rollout their own numbers add up to more or less. */
const desiredReplicas = 'deployment.kubernetes.io/desired-replicas';

function desiredOf(sets: readonly ReplicaSet[]): number {
  const noted = sets.map(({ metadata }) => Number(metadata?.annotations?.[desiredReplicas]));
  const known = noted.filter((count) => Number.isInteger(count));
  const sum = sets.reduce((total, set) => total + replicasOf(set), 0);
  return sets.length > 1 && known.length > 0 ? Math.max(...known) : sum;
}

/** The condition that the ReplicaSet controller sets if the API server refuses a pod, for example because of a quota. */
function creationFailure({ status }: ReplicaSet): string | undefined {
  const failure = listOf(status?.conditions).find(
    ({ type, status: is }) => type === 'ReplicaFailure' && is === 'True',
  );
  return failure && (failure.message ?? failure.reason);
}

function statefulSet(view: ClusterView, asked: WorkloadName, set: StatefulSet): Workload {
  const pods = podsOf(view, asked);
  const replicas = replicasOf(set);
  const count = Math.max(0, replicas - pods.length);
  return {
    ...asked,
    replicas,
    pods,
    notCreated:
      count === 0 ? { count, isFailure: false } : { count, ...whyNotCreated(view.events, asked, set, pods) },
  };
}

/** A StatefulSet has no condition for it: the event says why a pod was refused. */
function whyNotCreated(
  events: readonly Event[],
  asked: WorkloadName,
  { spec }: StatefulSet,
  pods: readonly Pod[],
): Omit<NotCreatedLine, 'count'> {
  const waitsFor = pods.find((pod) => !isReady(pod));
  if (waitsFor !== undefined && spec?.podManagementPolicy !== 'Parallel')
    return {
      isFailure: false,
      why: `its controller creates the next pod when ${waitsFor.metadata?.name} is ready (podManagementPolicy OrderedReady)`,
    };
  const failure = eventLines(events, asked).find(({ reason }) => reason === 'FailedCreate');
  return { isFailure: failure !== undefined, why: failure?.message };
}

function isReady({ status }: Pod): boolean {
  return listOf(status?.conditions).some(({ type, status: is }) => type === 'Ready' && is === 'True');
}

function replicasOf({ spec }: ReplicaSet | StatefulSet): number {
  return spec?.replicas ?? 1;
}

function podsOf({ snapshot }: ClusterView, owner: WorkloadName): readonly Pod[] {
  return [...snapshot.values('Pod')].filter(
    (pod) => isOwnedBy(pod, owner) && !isFinished(pod) && pod.metadata?.deletionTimestamp === undefined,
  );
}

function isOwnedBy({ metadata }: KubeObject, { kind, namespace, name }: WorkloadName): boolean {
  return (
    metadata?.namespace === namespace &&
    listOf(metadata.ownerReferences).some(
      (owner) => owner.controller === true && owner.kind === kind && owner.name === name,
    )
  );
}
