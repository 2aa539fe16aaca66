import type { ReplicaSet, StatefulSet } from '../../kube/api/apps.ts';
import type { Pod, PodTemplateSpec } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { controllerReference } from '../../kube/owner-references.ts';
import type { Resource } from '../../kube/resource.ts';
import { replicaSets } from '../../kube/resources.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import { rankForDeletion } from '../../kube/workloads/deletion-rank.ts';
import { isInRange, ordinalOf } from '../../kube/workloads/stateful-set-members.ts';
import { podFromTemplate } from '../../kube/workloads/template-pod.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import { readers } from '../cluster-index/read-object.ts';
import { isDaemonOrStaticPod } from '../remedies/pod-steps.ts';
import { addDrive, addNodes } from './add-capacity.ts';
import { type WhatIfChange, WhatIfError, type WorkloadReference } from './change.ts';
import type { ChangeSink } from './change-sink.ts';
import { cordonDrive, drainDrive } from './drain-drive.ts';
import type { PodCause } from './prediction.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';
import { podKey } from './workload-pods.ts';

/** Makes a change in a what-if cluster; throws a WhatIfError if it names what does not exist. */
export function makeChange(change: WhatIfChange, sink: ChangeSink): void {
  switch (change.kind) {
    case 'drain-node':
      drainNode(change.node, sink);
      break;
    case 'drain-drive':
      drainDrive(change.drive, sink);
      break;
    case 'add-nodes':
      addNodes(sink, change);
      break;
    case 'add-drive':
      addDrive(sink.cluster, change);
      break;
    case 'scale':
      scale(change.workload, change.replicas, sink);
      break;
    case 'apply':
      for (const object of change.objects) apply(object, sink);
  }
}

/** Keeps new pods away from a node that is drained, and new volumes from a drive; nothing leaves it yet. */
export function cordon(change: WhatIfChange, cluster: WhatIfCluster): void {
  if (change.kind === 'drain-drive') cordonDrive(cluster, change.drive);
  if (change.kind === 'drain-node') cordonNode(cluster, change.node);
}

function cordonNode(cluster: WhatIfCluster, name: string): void {
  const node = cluster.get('Node', name);
  if (node === undefined)
    throw new WhatIfError(`there is no node ${name}; kubectl get nodes lists those there are`);
  if (node.spec?.unschedulable === true) return;
  cluster.put('Node', { ...node, spec: { ...node.spec, unschedulable: true } });
}

/** The pods of a cordoned node leave it. */
function drainNode(name: string, { cluster, evict, settle }: ChangeSink): void {
  const pods = [...cluster.index.pods.onNode(name)].sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const pod of pods) {
    if (isDaemonOrStaticPod(pod)) settle(pod, 'drained', 'stays');
    else evict(pod, 'drained');
  }
}

function scale(workload: WorkloadReference, replicas: number, sink: ChangeSink): void {
  const { kind, namespace, name } = workload;
  const { cluster } = sink;
  if (kind === 'StatefulSet') {
    const set = cluster.get('StatefulSet', `${namespace}/${name}`);
    if (set === undefined) throw noSuchWorkload(workload);
    scaleSet({ ...set, spec: { ...set.spec!, replicas } }, 'scaled', sink);
    return;
  }
  const set =
    kind === 'ReplicaSet'
      ? cluster.get('ReplicaSet', `${namespace}/${name}`)
      : newestReplicaSet(cluster, namespace, name);
  if (set === undefined) throw noSuchWorkload(workload);
  scaleReplicaSet({ ...set, spec: { ...set.spec!, replicas } }, 'scaled', sink);
}

function noSuchWorkload({ kind, namespace, name }: WorkloadReference): WhatIfError {
  const lower = kind.toLowerCase();
  return new WhatIfError(
    `there is no ${lower} ${namespace}/${name}; kubectl get ${lower}s -n ${namespace} lists those there are`,
  );
}

const revisionAnnotation = 'deployment.kubernetes.io/revision';

/** The ReplicaSet of a Deployment that new pods come from. */
function newestReplicaSet(
  cluster: WhatIfCluster,
  namespace: string,
  deployment: string,
): ReplicaSet | undefined {
  const revision = ({ metadata }: ReplicaSet) => Number(metadata?.annotations?.[revisionAnnotation] ?? 0);
  return [...cluster.values('ReplicaSet')]
    .filter(({ metadata }) => metadata?.namespace === namespace)
    .filter(({ metadata }) =>
      listOf(metadata?.ownerReferences).some(
        ({ kind, name, controller }) => controller === true && kind === 'Deployment' && name === deployment,
      ),
    )
    .sort((a, b) => revision(b) - revision(a))[0];
}

function scaleSet(set: StatefulSet, cause: PodCause, sink: ChangeSink): void {
  const { cluster, evict } = sink;
  cluster.put('StatefulSet', set);
  const { namespace = '', name } = set.metadata ?? {};
  const leaving = cluster
    .podsOf(`StatefulSet/${name}`, namespace)
    .filter((pod) => !isInRange(set, ordinalOf(pod) ?? -1))
    .sort((a, b) => (ordinalOf(b) ?? 0) - (ordinalOf(a) ?? 0));
  for (const pod of leaving) {
    const record = cluster.index.pods.get(podKey(pod));
    if (record !== undefined) evict(record, 'scaled');
  }
  sink.sync(set, cause);
}

function scaleReplicaSet(set: ReplicaSet, cause: PodCause, sink: ChangeSink): void {
  const { cluster, workloads, evict, created } = sink;
  cluster.put('ReplicaSet', set);
  const { namespace = '', name = '' } = set.metadata ?? {};
  const pods = cluster.podsOf(`ReplicaSet/${name}`, namespace);
  const wanted = set.spec?.replicas ?? 1;
  for (const pod of rankForDeletion(pods, pods, cluster.nowMs).slice(0, Math.max(0, pods.length - wanted))) {
    const record = cluster.index.pods.get(podKey(pod));
    if (record !== undefined) evict(record, 'scaled');
  }
  const template = templatePod(set, replicaSets, pods[0]);
  for (let missing = wanted - pods.length; missing > 0; missing -= 1)
    created(workloads.another(template), cause);
}

/** A pod of the template. What admission sets is the same for all pods of a template, so it is read from a pod that exists. */
function templatePod(
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

/** Kinds whose pods have random names and a number of replicas, apart from ReplicaSets. */
interface OtherWorkload extends KubeObject {
  readonly spec?: {
    readonly template?: PodTemplateSpec;
    readonly replicas?: number;
    readonly parallelism?: number;
    readonly completions?: number;
  };
}

function apply(object: KubeObject, sink: ChangeSink): void {
  const { cluster, workloads, created } = sink;
  const { namespace = '', name = '' } = object.metadata ?? {};
  const key = `${namespace}/${name}`;
  switch (object.kind) {
    case 'Pod':
      if (cluster.get('Pod', key) !== undefined) cluster.notes.add(`pod ${key} exists; it is left as it is`);
      else created(workloads.create(object as Pod), 'applied');
      return;
    case 'PersistentVolumeClaim':
      if (cluster.get('PersistentVolumeClaim', key) !== undefined)
        cluster.notes.add(`claim ${key} exists; it is left as it is`);
      else workloads.claim(object);
      return;
    case 'StatefulSet':
      scaleSet(applied(object as StatefulSet, cluster, key), 'applied', sink);
      return;
    case 'ReplicaSet':
      scaleReplicaSet(object as ReplicaSet, 'applied', sink);
      return;
    case 'Deployment':
      applyDeployment(object as OtherWorkload, sink);
      return;
    case 'Job':
      applyJob(object as OtherWorkload, sink);
      return;
    case 'DaemonSet':
    case 'CronJob':
    case 'ReplicationController':
      cluster.notes.add(
        `${object.kind} ${key}: its pods are not predicted; apply its pods, or a Deployment with as many replicas`,
      );
      return;
  }
  if (object.kind !== undefined && Object.hasOwn(readers, object.kind))
    cluster.put(object.kind as IndexedKind, object as never);
}

function applied(set: StatefulSet, cluster: WhatIfCluster, key: string): StatefulSet {
  const existing = cluster.get('StatefulSet', key);
  if (existing === undefined) return { ...set, metadata: { ...set.metadata, uid: `set ${key}` } };
  cluster.notes.add(`statefulset ${key} exists: its pods keep their template, and only new pods get another`);
  return { ...set, metadata: { ...set.metadata, uid: textOf(existing.metadata?.uid) } };
}

function applyDeployment(deployment: OtherWorkload, sink: ChangeSink): void {
  const { namespace = '', name = '' } = deployment.metadata ?? {};
  const { replicas = 1, template } = deployment.spec ?? {};
  const existing = newestReplicaSet(sink.cluster, namespace, name);
  if (existing !== undefined) {
    sink.cluster.notes.add(
      `deployment ${namespace}/${name} exists: its pods keep their template, and only new pods get another`,
    );
    const spec = { ...existing.spec!, replicas, ...(template && { template }) };
    scaleReplicaSet({ ...existing, spec }, 'applied', sink);
    return;
  }
  scaleReplicaSet(
    {
      metadata: { namespace, name, uid: `deployment ${namespace}/${name}` },
      spec: {
        replicas,
        selector: { matchLabels: { ...template?.metadata?.labels } },
        ...(template && { template }),
      },
    },
    'applied',
    sink,
  );
}

const jobs = { group: 'batch', version: 'v1', namespaced: true, kind: 'Job', plural: 'jobs' } as const;

function applyJob(job: OtherWorkload, { workloads, created }: ChangeSink): void {
  const { parallelism = 1, completions = parallelism } = job.spec ?? {};
  const template = templatePod(job, jobs, undefined);
  for (let count = Math.min(parallelism, completions); count > 0; count -= 1)
    created(workloads.another(template), 'applied');
}
