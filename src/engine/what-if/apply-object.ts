import type { Deployment, ReplicaSet, StatefulSet } from '../../kube/api/apps.ts';
import type { Pod, PodTemplateSpec } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import { indexKeyOf, readers } from '../cluster-index/read-object.ts';
import { applyClaim } from './apply-claim.ts';
import type { ChangeSink } from './change-sink.ts';
import { lastApplied } from './last-applied.ts';
import { mergeApplied } from './merge-applied.ts';
import { changeSet, resizeReplicaSet, templatePod } from './resize.ts';
import { podKey } from './workload-pods.ts';

/** Applies one object, as kubectl apply does it: it is created, or an existing one gets what the file says. */
export function applyFileObject(object: KubeObject, sink: ChangeSink): void {
  const { cluster, workloads, created } = sink;
  const { namespace = '', name = '' } = object.metadata ?? {};
  const key = `${namespace}/${name}`;
  switch (object.kind) {
    case 'Pod':
      if (cluster.get('Pod', key) !== undefined) cluster.notes.add(`pod ${key} exists; it is left as it is`);
      else created(workloads.create(object as Pod), 'applied');
      return;
    case 'PersistentVolumeClaim':
      applyClaim(object, sink);
      return;
    case 'StatefulSet':
      changeSet(workloads.applySet(object as StatefulSet), 'applied', sink);
      return;
    case 'ReplicaSet':
      applyReplicaSet(object as ReplicaSet, sink);
      return;
    case 'Deployment':
      sink.rollOut(object as Deployment, 'applied');
      return;
    case 'Job':
      applyJob(object as AppliedJob, sink);
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
    applyOther(object.kind as IndexedKind, object, sink);
  else if (isCustom(object))
    cluster.notes.add(`${object.kind} ${name}: what its controller would create is not predicted`);
}

/** Kinds of Kubernetes itself have a group without a domain, or one of k8s.io. */
function isCustom({ apiVersion = '' }: KubeObject): boolean {
  const group = apiVersion.split('/').at(-2) ?? '';
  return group.includes('.') && !group.endsWith('.k8s.io');
}

function applyOther(kind: IndexedKind, object: KubeObject, { cluster }: ChangeSink): void {
  // Safe: the object says that it is of this kind.
  const stored = cluster.get(kind, indexKeyOf(kind, object as never) ?? '');
  cluster.put(
    kind,
    (stored === undefined ? object : mergeApplied(stored, object, lastApplied(stored))) as never,
  );
}

/** The pods of a ReplicaSet keep their template; further ones get the new one. */
function applyReplicaSet(set: ReplicaSet, sink: ChangeSink): void {
  const existing = sink.cluster.get('ReplicaSet', podKey(set));
  const spec = mergeApplied(existing?.spec ?? {}, set.spec ?? {}) as NonNullable<ReplicaSet['spec']>;
  const metadata = existing?.metadata ?? { ...set.metadata, uid: `replicaset ${podKey(set)}` };
  resizeReplicaSet({ ...set, metadata, spec }, 'applied', sink);
}

export interface AppliedJob extends KubeObject {
  readonly spec?: {
    readonly template?: PodTemplateSpec;
    readonly parallelism?: number;
    readonly completions?: number;
    readonly suspend?: boolean;
  };
}

const jobs = { group: 'batch', version: 'v1', namespaced: true, kind: 'Job', plural: 'jobs' } as const;

/** A Job that exists keeps its template, which cannot be changed. The Jobs of a cluster are not read, so it is known by its pods. */
function applyJob(job: AppliedJob, { cluster, workloads, later, created }: ChangeSink): void {
  const { parallelism = 1, completions = parallelism, suspend = false } = job.spec ?? {};
  const { namespace = '', name = '' } = job.metadata ?? {};
  for (const { owner, namespace: other } of cluster.index.pods.records())
    if (owner === `Job/${name}` && other === namespace) {
      cluster.notes.add(`job ${namespace}/${name} exists; it is left as it is`);
      return;
    }
  const metadata = { ...job.metadata, uid: `job ${namespace}/${name}` };
  const template = templatePod({ ...job, metadata }, jobs, undefined);
  for (let count = suspend ? 0 : Math.min(parallelism, completions); count > 0; count -= 1)
    later(() => created(workloads.another(template), 'applied'));
}
