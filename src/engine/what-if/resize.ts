import type { ReplicaSet, StatefulSet } from '../../kube/api/apps.ts';
import type { Pod, PodTemplateSpec } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { controllerReference } from '../../kube/owner-references.ts';
import type { Resource } from '../../kube/resource.ts';
import { replicaSets } from '../../kube/resources.ts';
import { listOf } from '../../kube/wire.ts';
import { rankForDeletion } from '../workloads/deletion-rank.ts';
import { podFromTemplate } from '../workloads/template-pod.ts';
import type { ChangeSink } from './change-sink.ts';
import { replicaSetsOf } from './deployment-rollouts.ts';
import type { PodCause } from './prediction.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';
import { podKey } from './workload-pods.ts';

/** The set has changed, and its controller does what follows from that. */
export function changeSet(set: StatefulSet, cause: PodCause, { cluster, sync }: ChangeSink): void {
  cluster.put('StatefulSet', set);
  sync(set, cause);
}

/** The ReplicaSet has changed, and its controller creates or deletes pods. */
export function resizeReplicaSet(set: ReplicaSet, cause: PodCause, sink: ChangeSink): void {
  const { cluster } = sink;
  cluster.put('ReplicaSet', set);
  const surplus = -missingReplicas(cluster, set);
  if (surplus < 0) sink.later(() => createReplica(podKey(set), cause, sink));
  if (surplus <= 0) return;
  const { owner, namespace } = ownerOf(set);
  const ranked = rankForDeletion(cluster.podsOf(owner, namespace), relatedPods(cluster, set), cluster.nowMs);
  for (const pod of ranked.slice(0, surplus)) remove(pod, sink);
}

/** Creates one pod after the other, while there are too few: the set may be resized in between. */
function createReplica(key: string, cause: PodCause, sink: ChangeSink): void {
  const { cluster, workloads, later, created } = sink;
  const set = cluster.get('ReplicaSet', key);
  if (set === undefined) return;
  const missing = missingReplicas(cluster, set);
  if (missing <= 0) return;
  const { owner, namespace } = ownerOf(set);
  created(workloads.another(templatePod(set, replicaSets, cluster.firstPodOf(owner, namespace))), cause);
  if (missing > 1) later(() => createReplica(key, cause, sink));
}

/** Negative if there are too many. */
function missingReplicas(cluster: WhatIfCluster, set: ReplicaSet): number {
  const { owner, namespace } = ownerOf(set);
  return (set.spec?.replicas ?? 1) - cluster.podCounts(owner, namespace).active;
}

function ownerOf({ metadata }: ReplicaSet): { readonly owner: string; readonly namespace: string } {
  return { owner: `ReplicaSet/${metadata?.name ?? ''}`, namespace: metadata?.namespace ?? '' };
}

function remove(pod: Pod, { cluster, evict }: ChangeSink): void {
  const record = cluster.index.pods.get(podKey(pod));
  if (record !== undefined) evict(record, 'scaled');
}

/** The pods of all ReplicaSets of the same Deployment: they do the same work. */
function relatedPods(cluster: WhatIfCluster, { metadata }: ReplicaSet): readonly Pod[] {
  const { namespace = '', name = '' } = metadata ?? {};
  const deployment = listOf(metadata?.ownerReferences).find(({ kind }) => kind === 'Deployment')?.name;
  const names =
    deployment === undefined
      ? [name]
      : replicaSetsOf(cluster, namespace, deployment).map((set) => set.metadata?.name ?? '');
  return names.flatMap((one) => cluster.podsWith(`ReplicaSet/${one}`, namespace));
}

/** A pod of the template. What admission sets is the same for all pods of a template, so it is read from a pod that exists. */
export function templatePod(
  owner: KubeObject & { readonly spec?: { readonly template?: PodTemplateSpec } },
  resource: Resource,
  sibling: Pod | undefined,
): Pod {
  const { namespace = '', name = '' } = owner.metadata ?? {};
  const pod = podFromTemplate(owner.spec?.template ?? {}, namespace, controllerReference(owner, resource));
  const priority = pod.spec?.priority ?? sibling?.spec?.priority;
  return {
    ...pod,
    metadata: { ...pod.metadata, generateName: `${name}-` },
    spec: { ...pod.spec, ...(priority !== undefined && { priority }) },
  };
}
