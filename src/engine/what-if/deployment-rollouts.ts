import type { Deployment, ReplicaSet } from '../../kube/api/apps.ts';
import type { PodTemplateSpec } from '../../kube/api/core.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { listOf } from '../../kube/wire.ts';
import {
  familyOf,
  isRolling,
  newReplicaSet,
  type ReplicaSetFamily,
  specReplicasOf,
} from '../workloads/replica-set-family.ts';
import { annotationsToAdd, revisionNumberOf, sizeAnnotations } from '../workloads/revision-annotations.ts';
import {
  currentReplicas,
  isScaled,
  type Resize,
  recreateSteps,
  rollingSteps,
  scalingSteps,
} from '../workloads/rollout.ts';
import { mergeApplied } from './merge-applied.ts';
import type { OwnedPodCounts } from './owned-pods.ts';
import type { PodCause } from './prediction.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** As the API server sets them. */
const strategyDefault = { maxSurge: '25%', maxUnavailable: '25%' } as const;

/** A Deployment that was changed, and why. */
export interface RolledOut {
  readonly deployment: Deployment;
  readonly cause: PodCause;
}

/** Deployments that were changed, and their ReplicaSets. The sizes are decided by the functions of the controller of Deployments. */
export class DeploymentRollouts {
  readonly #cluster: WhatIfCluster;
  readonly #applied = new Map<string, RolledOut>();

  constructor(cluster: WhatIfCluster) {
    this.#cluster = cluster;
  }

  /** The Deployment as it is after it was applied. What a file does not say stays as its newest ReplicaSet has it. */
  apply(deployment: Deployment, cause: PodCause): RolledOut {
    const { namespace = '', name = '' } = deployment.metadata ?? {};
    const key = `${namespace}/${name}`;
    const sets = replicaSetsOf(this.#cluster, namespace, name);
    const stored = this.#applied.get(key)?.deployment.spec ?? specOf(sets);
    const { rollingUpdate, type = 'RollingUpdate' } = deployment.spec?.strategy ?? stored?.strategy ?? {};
    const merged = mergeApplied(stored ?? {}, deployment.spec ?? {}) as NonNullable<Deployment['spec']>;
    const rolling = { rollingUpdate: { ...strategyDefault, ...rollingUpdate } };
    const applied: Deployment = {
      metadata: { ...deployment.metadata, uid: uidOf(sets) ?? `deployment ${key}` },
      spec: { ...merged, strategy: { type, ...(type === 'RollingUpdate' && rolling) } },
    };
    const rolledOut = { deployment: applied, cause };
    this.#applied.set(key, rolledOut);
    return rolledOut;
  }

  /** The Deployment of a ReplicaSet, if it was changed. */
  of(namespace: string, replicaSet: string): RolledOut | undefined {
    if (this.#applied.size === 0) return undefined;
    const set = this.#cluster.get('ReplicaSet', `${namespace}/${replicaSet}`);
    const owner = listOf(set?.metadata?.ownerReferences).find(({ kind }) => kind === 'Deployment');
    return owner === undefined ? undefined : this.#applied.get(`${namespace}/${owner.name}`);
  }

  /** The next sizes of its ReplicaSets, a new one among them if there is none with its template. */
  steps({ deployment }: RolledOut): readonly Resize[] {
    const { namespace = '', name = '' } = deployment.metadata ?? {};
    const sets = replicaSetsOf(this.#cluster, namespace, name).map((set) => this.#counted(set));
    const family = familyOf(deployment, sets);
    const resizes = this.#resizes(deployment, family);
    return resizes.map(({ set, replicas }) => ({ set: sized(set, deployment, replicas), replicas }));
  }

  #resizes(deployment: Deployment, family: ReplicaSetFamily): readonly Resize[] {
    const { current, old } = family;
    if (deployment.spec?.paused === true || isScaled(deployment, family))
      return scalingSteps(deployment, family).filter(
        ({ set, replicas }) => specReplicasOf(set) !== replicas || hasOtherSizes(set, deployment),
      );
    const isOldGone = !old.some((set) => this.#countsOf(set).present > 0);
    const rolling = isRolling(deployment);
    if (current !== undefined)
      return rolling ? rollingSteps(deployment, family) : recreateSteps(deployment, family, isOldGone);
    const mayCreate = rolling || (isOldGone && old.every((set) => specReplicasOf(set) === 0));
    if (!mayCreate) return recreateSteps(deployment, family, isOldGone);
    const bare = newReplicaSet(deployment);
    const annotations = annotationsToAdd(deployment, bare, family);
    const { namespace, name } = bare.metadata ?? {};
    const metadata = {
      ...bare.metadata,
      annotations,
      uid: `replicaset ${namespace}/${name}`,
      // Older sets are reduced first.
      creationTimestamp: formatTimestamp(this.#cluster.nowMs),
    };
    return [{ set: { ...bare, metadata }, replicas: currentReplicas(deployment, [...old, bare], bare) }];
  }

  /** The object with the status that its controller would write. A pod with a node is assumed to become available. */
  #counted(set: ReplicaSet): ReplicaSet {
    const { active, placed } = this.#countsOf(set);
    return { ...set, status: { ...set.status, replicas: active, availableReplicas: placed } };
  }

  #countsOf({ metadata }: ReplicaSet): OwnedPodCounts {
    return this.#cluster.podCounts(`ReplicaSet/${metadata?.name}`, metadata?.namespace ?? '');
  }
}

/** The ReplicaSets that the Deployment manages. */
export function replicaSetsOf(
  cluster: WhatIfCluster,
  namespace: string,
  deployment: string,
): readonly ReplicaSet[] {
  return [...cluster.values('ReplicaSet')]
    .filter(({ metadata }) => metadata?.namespace === namespace)
    .filter(({ metadata }) =>
      listOf(metadata?.ownerReferences).some(
        ({ kind, name, controller }) => controller === true && kind === 'Deployment' && name === deployment,
      ),
    );
}

/** The ReplicaSet that new pods come from. */
function newestOf(sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return sets.toSorted((a, b) => Number(revisionNumberOf(b) - revisionNumberOf(a)))[0];
}

const templateHashLabel = 'pod-template-hash';

/** The part of a Deployment's spec that its ReplicaSets show. */
function specOf(sets: readonly ReplicaSet[]): Deployment['spec'] | undefined {
  const newest = newestOf(sets);
  if (newest === undefined) return undefined;
  const replicas = sets.reduce((sum, set) => sum + specReplicasOf(set), 0);
  const { template, minReadySeconds } = newest.spec ?? {};
  const { [templateHashLabel]: _, ...matchLabels } = newest.spec?.selector?.matchLabels ?? {};
  return {
    replicas,
    selector: { ...newest.spec?.selector, matchLabels },
    ...(minReadySeconds !== undefined && { minReadySeconds }),
    ...(template && { template: withoutHash(template) }),
  };
}

function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [templateHashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

function uidOf(sets: readonly ReplicaSet[]): string | undefined {
  return sets
    .flatMap(({ metadata }) => listOf(metadata?.ownerReferences))
    .find(({ kind }) => kind === 'Deployment')?.uid;
}

function sized(set: ReplicaSet, deployment: Deployment, replicas: number): ReplicaSet {
  const annotations = { ...set.metadata?.annotations, ...sizeAnnotations(deployment) };
  return { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } };
}

/** Outdated intended sizes count as a change: otherwise the set looks scaled without end. */
function hasOtherSizes({ metadata }: ReplicaSet, deployment: Deployment): boolean {
  return Object.entries(sizeAnnotations(deployment)).some(
    ([key, value]) => metadata?.annotations?.[key] !== value,
  );
}
