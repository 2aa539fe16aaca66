import type { StatefulSet } from '../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { PriorityClass } from '../../kube/api/scheduling.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { controllerOf } from '../../kube/owner-references.ts';
import { ephemeralVolumesOf } from '../../kube/workloads/ephemeral-claims.ts';
import { claimsFor } from '../../kube/workloads/stateful-set-claims.ts';
import {
  endOrdinalOf,
  memberPod,
  ordinalOf,
  podNameOf,
  startOrdinalOf,
} from '../../kube/workloads/stateful-set-members.ts';
import { bindAtOnce, withDefaultClass } from './immediate-claims.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

export interface WorkloadOptions {
  /** The uid that the API server will give the pod; the scheduler breaks ties by it. Known to tests only. */
  readonly uidOf?: ((pod: Pod) => string) | undefined;
  /** The PriorityClasses, for pods that the API server has not seen yet. */
  readonly priorityClasses?: readonly PriorityClass[] | undefined;
}

/** `replaced`: the controller creates another pod at once. `member`: the controller of this set creates it again as its policy allows. */
export type GonePod =
  | { readonly kind: 'lost' }
  | { readonly kind: 'replaced'; readonly pod: Pod }
  | { readonly kind: 'member'; readonly set: StatefulSet };

/** What controllers of workloads do after pods have gone, or replicas were asked for: they create pods, with their claims. */
export class WorkloadPods {
  readonly #cluster: WhatIfCluster;
  readonly #options: WorkloadOptions;
  /** Members that have gone, as they were. */
  readonly #gone = new Map<string, Pod>();
  #created = 0;

  constructor(cluster: WhatIfCluster, options: WorkloadOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  /** What the controller of a pod that has gone does about it. */
  afterGone(gone: Pod): GonePod {
    const owner = controllerOf(gone);
    if (owner === undefined) return { kind: 'lost' };
    const pod = withoutPlace(gone);
    if (owner.kind !== 'StatefulSet') return { kind: 'replaced', pod: this.#stored(this.#renamed(pod)) };
    this.#gone.set(podKey(gone), pod);
    const set = this.#cluster.get('StatefulSet', `${gone.metadata?.namespace ?? ''}/${owner.name}`);
    return set === undefined ? { kind: 'replaced', pod: this.#stored(pod) } : { kind: 'member', set };
  }

  /** The members of the set that its controller creates now. `isPlaced` says whether a pod has a node: in order, each waits for those before it. */
  nextMembers(set: StatefulSet, isPlaced: (key: string) => boolean): readonly Pod[] {
    const isOrdered = set.spec?.podManagementPolicy !== 'Parallel';
    const namespace = set.metadata?.namespace ?? '';
    const created: Pod[] = [];
    for (let ordinal = startOrdinalOf(set); ordinal < endOrdinalOf(set); ordinal += 1) {
      const key = `${namespace}/${podNameOf(set, ordinal)}`;
      const exists = this.#cluster.get('Pod', key) !== undefined;
      if (!exists) created.push(this.#member(set, ordinal));
      if (isOrdered && (!exists || !isPlaced(key))) break;
    }
    return created;
  }

  /** The ordinals of members that do not exist, for those that wait for others. */
  missingMembers(set: StatefulSet): readonly string[] {
    const missing: string[] = [];
    for (let ordinal = startOrdinalOf(set); ordinal < endOrdinalOf(set); ordinal += 1) {
      const key = `${set.metadata?.namespace ?? ''}/${podNameOf(set, ordinal)}`;
      if (this.#cluster.get('Pod', key) === undefined) missing.push(key);
    }
    return missing;
  }

  /** A further pod of a controller that names its pods at random. */
  another(template: Pod): Pod {
    return this.#stored(this.#renamed(template));
  }

  /** A pod with its own name, with the claims that its ephemeral volumes need. */
  create(pod: Pod): Pod {
    return this.#stored(pod);
  }

  claim(claim: PersistentVolumeClaim): void {
    const key = `${claim.metadata?.namespace ?? ''}/${claim.metadata?.name ?? ''}`;
    if (this.#cluster.get('PersistentVolumeClaim', key) !== undefined) return;
    const uid = claim.metadata?.uid ?? `claim ${key}`;
    const created = withDefaultClass(this.#cluster, {
      ...claim,
      metadata: { ...claim.metadata, uid },
      status: { phase: 'Pending' },
    });
    this.#cluster.put('PersistentVolumeClaim', created);
    bindAtOnce(this.#cluster, created);
  }

  #member(set: StatefulSet, ordinal: number): Pod {
    for (const claim of claimsFor(set, ordinal)) this.claim(claim);
    const gone = this.#gone.get(`${set.metadata?.namespace ?? ''}/${podNameOf(set, ordinal)}`);
    if (gone !== undefined) return this.#stored(gone);
    const sibling = this.#cluster
      .podsOf(`StatefulSet/${set.metadata?.name}`, set.metadata?.namespace ?? '')
      .find((pod) => ordinalOf(pod) !== undefined);
    const revision = sibling?.metadata?.labels?.['controller-revision-hash'] ?? '';
    const pod = memberPod(set, { name: revision, template: set.spec?.template ?? {} }, ordinal);
    // What admission sets is the same for every member.
    const priority = pod.spec?.priority ?? sibling?.spec?.priority;
    return this.#stored({
      ...pod,
      spec: { ...pod.spec, ...(priority !== undefined && { priority }) },
    });
  }

  #renamed(pod: Pod): Pod {
    this.#created += 1;
    const { generateName = `${pod.metadata?.name ?? ''}-`, ...metadata } = pod.metadata ?? {};
    return { ...pod, metadata: { ...metadata, generateName, name: `${generateName}new-${this.#created}` } };
  }

  /** As admission sets it. */
  #withPriority(pod: Pod): Pod {
    if (pod.spec?.priority !== undefined) return pod;
    const { priorityClassName = '' } = pod.spec ?? {};
    const found = (this.#options.priorityClasses ?? []).find(({ metadata, globalDefault }) =>
      priorityClassName === '' ? globalDefault === true : metadata?.name === priorityClassName,
    );
    const priority = found?.value ?? systemPriorities[priorityClassName];
    if (priority === undefined) return pod;
    const { preemptionPolicy = found?.preemptionPolicy } = pod.spec ?? {};
    return { ...pod, spec: { ...pod.spec, priority, ...(preemptionPolicy && { preemptionPolicy }) } };
  }

  #stored(pod: Pod): Pod {
    const key = podKey(pod);
    const uid = this.#options.uidOf?.(pod) ?? `pod ${key}`;
    const creationTimestamp = formatTimestamp(this.#cluster.nowMs);
    const created = this.#withPriority({ ...pod, metadata: { ...pod.metadata, uid, creationTimestamp } });
    for (const { claim } of ephemeralVolumesOf(created)) this.claim(claim);
    this.#cluster.put('Pod', created);
    return created;
  }
}

/** Classes that every cluster has. */
const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

export function podKey({ metadata }: Pod): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** The pod as its controller creates it again: without node, status and identity. */
function withoutPlace(pod: Pod): Pod {
  const {
    uid: _u,
    resourceVersion: _r,
    creationTimestamp: _c,
    deletionTimestamp: _d,
    ...metadata
  } = pod.metadata ?? {};
  const { nodeName: _n, ...spec } = pod.spec ?? {};
  return { metadata, spec };
}
