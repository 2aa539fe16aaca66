import { isDaemonOrStaticPod } from '../remedies/pod-steps.ts';
import { addDrive, addNodes } from './add-capacity.ts';
import { applyFileObject } from './apply-object.ts';
import { type WhatIfChange, WhatIfError, type WorkloadReference } from './change.ts';
import type { ChangeSink } from './change-sink.ts';
import { replicaSetsOf } from './deployment-rollouts.ts';
import { cordonDrive, drainDrive } from './drain-drive.ts';
import { changeSet, resizeReplicaSet } from './resize.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

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
      for (const [number, object] of change.objects.entries())
        sink.apply(number, () => applyFileObject(object, sink));
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
    changeSet({ ...set, spec: { ...set.spec!, replicas } }, 'scaled', sink);
    return;
  }
  if (kind === 'Deployment') {
    if (replicaSetsOf(cluster, namespace, name).length === 0) throw noSuchWorkload(workload);
    sink.rollOut({ metadata: { namespace, name }, spec: { replicas } }, 'scaled');
    return;
  }
  const set = cluster.get('ReplicaSet', `${namespace}/${name}`);
  if (set === undefined) throw noSuchWorkload(workload);
  resizeReplicaSet({ ...set, spec: { ...set.spec!, replicas } }, 'scaled', sink);
}

function noSuchWorkload({ kind, namespace, name }: WorkloadReference): WhatIfError {
  const lower = kind.toLowerCase();
  return new WhatIfError(
    `there is no ${lower} ${namespace}/${name}; kubectl get ${lower}s -n ${namespace} lists those there are`,
  );
}
