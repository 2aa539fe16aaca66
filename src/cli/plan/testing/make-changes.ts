import {
  namespace,
  type SchedulerFixture,
} from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import type { AppliedJob } from '../../../engine/what-if/apply-object.ts';
import type { WhatIfChange, WorkloadReference } from '../../../engine/what-if/change.ts';
import { changeIntervalMs } from '../../../engine/what-if/predict.ts';
import type { Deployment, ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { isFinished } from '../../../kube/pods.ts';
import {
  deployments,
  nodes,
  persistentVolumeClaims,
  pods,
  replicaSets,
  statefulSets,
} from '../../../kube/resources.ts';
import { drives } from '../../../kube/stowage/drive.ts';
import { driveMoves } from '../../../queries/drain/drive-moves.ts';
import type { VolumeCopyLine } from '../../../queries/plan/plan-report.ts';
import { loadCluster } from '../../source/load-cluster.ts';
import type { JobPods } from './job-pods.ts';
import type { RandomStorage } from './random-storage.ts';

/** Long enough for what controllers create for one object, shorter than pods take to end. */
const createdMs = 50;

const workloadResources = { StatefulSet: statefulSets, ReplicaSet: replicaSets, Deployment: deployments };

const isDrain = ({ kind }: WhatIfChange) => kind === 'drain-node' || kind === 'drain-drive';
const isAddition = ({ kind }: WhatIfChange) => kind === 'add-nodes' || kind === 'add-drive';

/**
 * Makes the changes for real, as users do and in the order that predictions assume: drained nodes and drives are cordoned; nodes and drives are added; then one change
 * after the other; then pods and volumes leave what is drained, all at the same time.
 */
export class RealChanges {
  /** The copies from drained drives, as `stowage move` decides about them. */
  readonly copies: VolumeCopyLine[] = [];
  readonly #fixture: SchedulerFixture;
  readonly #storage: RandomStorage;
  readonly #jobs: JobPods;
  #addedNodes = 0;
  #addedDrives = 0;

  constructor(fixture: SchedulerFixture, storage: RandomStorage, jobs: JobPods) {
    this.#fixture = fixture;
    this.#storage = storage;
    this.#jobs = jobs;
  }

  async make(changes: readonly WhatIfChange[]): Promise<void> {
    const drains = changes.filter(isDrain);
    const { clock } = this.#fixture.environment;
    let endMs = clock.nowMs();
    for (const change of drains) await this.#close(change);
    const others = changes.filter((change) => !isDrain(change) && !isAddition(change));
    for (const change of [...changes.filter(isAddition), ...others]) {
      await this.#make(change);
      // Longer than any back-off, and than pods take to end.
      endMs += changeIntervalMs;
      await this.#fixture.settle(endMs - clock.nowMs());
    }
    for (const change of drains) if (change.kind === 'drain-drive') await this.#moveVolumes(change.drive);
    await this.#evictAll(drains);
    await this.#fixture.settle(changeIntervalMs);
  }

  async #close(change: WhatIfChange): Promise<void> {
    const patch = { type: 'merge', body: { spec: { unschedulable: true } } } as const;
    const { cluster } = this.#fixture;
    if (change.kind === 'drain-node') await cluster.resource(nodes).patch({ name: change.node }, patch);
    if (change.kind === 'drain-drive') await cluster.resource(drives).patch({ name: change.drive }, patch);
  }

  async #make(change: WhatIfChange): Promise<void> {
    switch (change.kind) {
      case 'add-nodes':
        for (let left = change.count; left > 0; left -= 1) await this.#addNode(change.like);
        return;
      case 'add-drive':
        this.#addedDrives += 1;
        return await this.#storage.drive(
          `new-drive-${this.#addedDrives}`,
          change.node,
          change.bytes / 2 ** 30,
        );
      case 'scale':
        return await this.#scale(change.workload, change.replicas);
      case 'apply':
        for (const object of change.objects) {
          await this.#apply(object);
          await this.#fixture.settle(createdMs);
        }
    }
  }

  /** A node becomes usable when everything is there: its drives, and the pods of DaemonSets. */
  async #addNode(like: string): Promise<void> {
    const { cluster } = this.#fixture;
    this.#addedNodes += 1;
    const name = this.#addedNodes === 1 ? 'new-node' : `new-node-${this.#addedNodes}`;
    await this.#storage.closedNodeLike(like, name);
    const { items } = await cluster.resource(pods).list();
    const daemons = items.filter((pod) => isDaemonPod(pod) && !isFinished(pod));
    for (const { metadata, spec } of daemons.filter((pod) => pod.spec?.nodeName === like)) {
      const { ownerReferences = [] } = metadata ?? {};
      const copy = { namespace, name: `${metadata!.name}-${name}`, ownerReferences };
      const { priority: _, preemptionPolicy: __, ...rest } = spec!;
      await cluster.resource(pods).create({ metadata: copy, spec: { ...rest, nodeName: name } });
    }
    await this.#fixture.settle();
    const patch = { type: 'merge', body: { spec: { unschedulable: null } } } as const;
    await cluster.resource(nodes).patch({ name }, patch);
    await this.#fixture.settle(createdMs);
  }

  async #scale({ kind, name }: WorkloadReference, replicas: number): Promise<void> {
    const patch = { type: 'merge', body: { spec: { replicas } } } as const;
    await this.#fixture.cluster
      .resource<ReplicaSet | StatefulSet | Deployment>(workloadResources[kind] as never)
      .patch({ namespace, name }, patch);
  }

  /** As kubectl apply does it: what exists gets a strategic merge patch. */
  async #apply(object: KubeObject): Promise<unknown> {
    const { cluster } = this.#fixture;
    switch (object.kind) {
      case 'Pod':
        return await cluster.resource(pods).create(object as Pod);
      case 'PersistentVolumeClaim':
        return await cluster.resource(persistentVolumeClaims).create(object as PersistentVolumeClaim);
      case 'Job':
        return await this.#jobs.create(object as AppliedJob);
      default:
        return await this.#applyWorkload(object as StatefulSet | Deployment);
    }
  }

  async #applyWorkload(workload: StatefulSet | Deployment): Promise<void> {
    const resource = workloadResources[workload.kind as 'StatefulSet' | 'Deployment'];
    const client = this.#fixture.cluster.resource<StatefulSet | Deployment>(resource as never);
    const name = workload.metadata!.name!;
    const exists = (await client.list()).items.some(({ metadata }) => metadata?.name === name);
    if (!exists) await client.create(workload as never);
    else await client.patch({ namespace, name }, { type: 'strategic', body: { spec: workload.spec } });
  }

  /** Decides and writes as `stowage move` does, without copying data. */
  async #moveVolumes(name: string): Promise<void> {
    const { cluster, environment } = this.#fixture;
    const options = { server: 'the test', source: 'the test', onProgress: () => {} };
    const view = await loadCluster(cluster, { namespace }, options);
    const nowMs = environment.clock.nowMs();
    const { copies } = driveMoves(view, name, { nowMs, profile: 'stowage' });
    this.copies.push(...copies);
    for (const { volume, to } of copies) {
      if (to === undefined) continue;
      const source = await cluster.resource(drives).get({ name });
      const target = await cluster.resource(drives).get({ name: to.slice('drive/'.length) });
      const entry = source.spec!.volumes!.filter((one) => one.name === volume);
      const left = source.spec!.volumes!.filter((one) => one.name !== volume);
      const all = [...(target.spec?.volumes ?? []), ...entry];
      await cluster.resource(drives).update({ ...target, spec: { ...target.spec, volumes: all } });
      await cluster.resource(drives).update({ ...source, spec: { ...source.spec, volumes: left } });
    }
  }

  /** Evicts all pods at the same time, as kubectl drain does: in the order of the changes, then by name. Inline volumes leave a drive with their pods. */
  async #evictAll(drains: readonly WhatIfChange[]): Promise<void> {
    const { cluster } = this.#fixture;
    const { items } = await cluster.resource(pods).list();
    const there = items.filter((pod) => !isDaemonPod(pod));
    const names: string[] = [];
    for (const change of drains) {
      const leaving =
        change.kind === 'drain-drive' ? await this.#inlineOn(change.drive) : there.filter(isOn(change));
      names.push(...leaving.map(({ metadata }) => metadata!.name!).sort());
    }
    await Promise.all([...new Set(names)].map((name) => this.#fixture.deletePod(name)));
  }

  async #inlineOn(drive: string): Promise<readonly KubeObject[]> {
    const { spec } = await this.#fixture.cluster.resource(drives).get({ name: drive });
    return (spec?.volumes ?? []).flatMap(({ podRef }) => (podRef ? [{ metadata: podRef }] : []));
  }
}

function isOn(change: WhatIfChange): (pod: Pod) => boolean {
  return ({ spec }) => change.kind === 'drain-node' && spec?.nodeName === change.node;
}

function isDaemonPod({ metadata }: Pod): boolean {
  return metadata?.ownerReferences?.[0]?.kind === 'DaemonSet';
}
