import type { StatefulSet } from '../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod, PodTemplateSpec } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { PriorityClass } from '../../kube/api/scheduling.ts';
import { canonicalJson } from '../../kube/go/json-text.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { controllerOf } from '../../kube/owner-references.ts';
import { ephemeralVolumesOf } from '../workloads/ephemeral-claims.ts';
import {
  endOrdinalOf,
  ordinalOf,
  podNameOf,
  podRevisionOf,
  type SetRevision,
  startOrdinalOf,
} from '../workloads/stateful-set-members.ts';
import { planReplicas, type SetView } from '../workloads/stateful-set-plan.ts';
import { bindAtOnce, withDefaultClass } from './immediate-claims.ts';
import { lastApplied } from './last-applied.ts';
import { mergeApplied } from './merge-applied.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

export interface WorkloadOptions {
  /** The uid that the API server will give the pod; the scheduler breaks ties by it. Known to tests only. */
  readonly uidOf?: ((pod: Pod) => string) | undefined;
  /** The PriorityClasses, for pods that the API server has not seen yet. */
  readonly priorityClasses?: readonly PriorityClass[] | undefined;
}

interface SetRevisions {
  readonly current: SetRevision;
  readonly update: SetRevision;
}

/** Pods to create, each when it is its turn, and then pods to delete. */
export interface SetSteps {
  /** Undefined if the pod exists by then. */
  readonly create: readonly (() => Pod | undefined)[];
  readonly remove: readonly Pod[];
}

/** `replaced`: the controller creates another pod immediately. `member`: the controller of this set creates it again as its policy allows. */
export type DeletedPod =
  | { readonly kind: 'lost' }
  /** There are enough without it: its controller has created another pod already. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'replaced'; readonly pod: Pod }
  | { readonly kind: 'member'; readonly set: StatefulSet };

/** Does the work of workload controllers after pods were deleted or replicas were added: creates pods, with their claims. */
export class WorkloadPods {
  readonly #cluster: WhatIfCluster;
  readonly #options: WorkloadOptions;
  readonly #whenIdle: (work: () => void) => void;
  /** Members that have gone, as they were. */
  readonly #gone = new Map<string, Pod>();
  /** Pods of sets whose template was changed. */
  readonly #revisions = new Map<string, SetRevisions>();
  #templates = 0;
  #created = 0;
  #claims = 0;

  /** `whenIdle` does the work when all other controllers and the scheduler have done theirs. */
  constructor(cluster: WhatIfCluster, options: WorkloadOptions, whenIdle: (work: () => void) => void) {
    this.#cluster = cluster;
    this.#options = options;
    this.#whenIdle = whenIdle;
  }

  /** Returns the reaction of the controller to the deletion of its pod. */
  afterGone(gone: Pod): DeletedPod {
    const owner = controllerOf(gone);
    if (owner === undefined) return { kind: 'lost' };
    const pod = withoutPlace(gone);
    if (owner.kind === 'ReplicaSet' && this.#isComplete(gone, owner.name ?? '')) return { kind: 'complete' };
    if (owner.kind !== 'StatefulSet') return { kind: 'replaced', pod: this.#stored(this.#renamed(pod)) };
    this.#gone.set(podKey(gone), pod);
    const set = this.#cluster.get('StatefulSet', `${gone.metadata?.namespace ?? ''}/${owner.name}`);
    return set === undefined ? { kind: 'replaced', pod: this.#stored(pod) } : { kind: 'member', set };
  }

  #isComplete({ metadata }: Pod, name: string): boolean {
    const namespace = metadata?.namespace ?? '';
    const set = this.#cluster.get('ReplicaSet', `${namespace}/${name}`);
    if (set === undefined) return false;
    return this.#cluster.podCounts(`ReplicaSet/${name}`, namespace).active >= (set.spec?.replicas ?? 1);
  }

  /** The set after it was applied. What a file does not say stays as it is. */
  applySet(set: StatefulSet): StatefulSet {
    const key = podKey(set);
    const existing = this.#cluster.get('StatefulSet', key);
    const { spec: given, metadata } = set;
    if (existing === undefined)
      return { ...set, metadata: { ...metadata, uid: `set ${key}` }, spec: withUpdateStrategy(given) };
    const last = lastApplied(existing);
    const spec = withUpdateStrategy(
      mergeApplied(existing.spec ?? {}, given ?? {}, last?.spec) as StatefulSet['spec'],
    );
    if (!isSameTemplate(spec.template, existing.spec?.template))
      this.#revisions.set(key, this.#revised(existing, spec.template ?? {}));
    return { ...existing, spec };
  }

  #revised(set: StatefulSet, template: PodTemplateSpec): SetRevisions {
    const { name, namespace = '' } = set.metadata ?? {};
    const { current } = this.#revisionsOf(set, this.#cluster.podsWith(`StatefulSet/${name}`, namespace));
    // An earlier template that is applied again has its revision again.
    if (isSameTemplate(template, current.template)) return { current, update: current };
    this.#templates += 1;
    return { current, update: { name: `${name}-new-${this.#templates}`, template } };
  }

  /** Returns the next steps of the set's controller, by its own plan. A pod that has a node is assumed to be ready. */
  setSteps(set: StatefulSet): SetSteps {
    const { namespace = '', name } = set.metadata ?? {};
    const stored = this.#cluster.podsWith(`StatefulSet/${name}`, namespace);
    const { minReadySeconds: _, ...spec } = set.spec ?? {};
    // Without the status it is unknown which members are to be updated.
    const isKnown = set.status?.updateRevision !== undefined || this.isUpdating(set);
    const steps = planReplicas({
      ...this.#revisionsOf(set, stored),
      set: { ...set, spec: { ...spec, ...(!isKnown && { updateStrategy: { type: 'OnDelete' } }) } },
      pods: stored.map(asRunning),
      claims: this.#claimsIn(namespace),
      nowMs: this.#cluster.nowMs,
    });
    const siblings = stored.filter((pod) => ordinalOf(pod) !== undefined);
    const create: (() => Pod | undefined)[] = [];
    const remove: Pod[] = [];
    for (const step of steps) {
      if (step.kind === 'create-claim') this.claim(step.claim);
      if (step.kind === 'create-pod') create.push(() => this.#member(step.pod, siblings[0]));
      if (step.kind === 'delete-pod') remove.push(step.pod);
    }
    return { create, remove };
  }

  /** Whether members of the set are replaced because its template was changed. */
  isUpdating(set: StatefulSet): boolean {
    return this.#revisions.has(podKey(set));
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
    this.#claims += 1;
    const uid = claim.metadata?.uid ?? `claim ${this.#claims} ${key}`;
    const created = withDefaultClass(this.#cluster, {
      ...claim,
      metadata: { ...claim.metadata, uid },
      status: { phase: 'Pending' },
    });
    this.#cluster.put('PersistentVolumeClaim', created);
    bindAtOnce(this.#cluster, created);
  }

  /** A pod that has gone comes back as it was, unless its template was changed. What admission sets is the same for every member. */
  #member(pod: Pod, sibling: Pod | undefined): Pod | undefined {
    if (this.#cluster.index.pods.stored(podKey(pod))?.isFinished === false) return undefined;
    const gone = this.#gone.get(podKey(pod));
    if (gone !== undefined && podRevisionOf(gone) === podRevisionOf(pod)) return this.#stored(gone);
    const isAlike = pod.spec?.priorityClassName === sibling?.spec?.priorityClassName;
    const priority = pod.spec?.priority ?? (isAlike ? sibling?.spec?.priority : undefined);
    return this.#stored({
      ...pod,
      spec: { ...pod.spec, ...(priority !== undefined && { priority }) },
    });
  }

  #revisionsOf(set: StatefulSet, members: readonly Pod[]): SetRevisions {
    const known = this.#revisions.get(podKey(set));
    if (known !== undefined) return known;
    const template = set.spec?.template ?? {};
    const { updateRevision, currentRevision } = set.status ?? {};
    const name = updateRevision ?? members.map(podRevisionOf)[0] ?? '';
    return { current: { name: currentRevision ?? name, template }, update: { name, template } };
  }

  #claimsIn(namespace: string): SetView['claims'] {
    const get = (name: string) => this.#cluster.get('PersistentVolumeClaim', `${namespace}/${name}`);
    return { get, has: (name) => get(name) !== undefined };
  }

  #renamed(pod: Pod): Pod {
    this.#created += 1;
    const { generateName = `${pod.metadata?.name ?? ''}-`, ...metadata } = pod.metadata ?? {};
    // Without a dash, as in Kubernetes: the name of the controller is found by it.
    return { ...pod, metadata: { ...metadata, generateName, name: `${generateName}new${this.#created}` } };
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
    this.#cluster.put('Pod', created);
    const own = ephemeralVolumesOf(created);
    if (own.length > 0) this.#whenIdle(() => this.#createOwnClaims(created, own));
    return created;
  }

  /** Another controller creates the claims of ephemeral volumes. Until then the scheduler refuses the pod, and pods that are created at the same time come first. */
  #createOwnClaims(pod: Pod, own: ReturnType<typeof ephemeralVolumesOf>): void {
    if (this.#cluster.get('Pod', podKey(pod))?.metadata?.uid !== pod.metadata?.uid) return;
    for (const { claim } of own) this.claim(claim);
  }
}

/** Classes that every cluster has. */
const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** `NAMESPACE/NAME`. */
export function podKey({ metadata }: KubeObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

function isSameTemplate(a: PodTemplateSpec = {}, b: PodTemplateSpec = {}): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** As the API server completes it. */
function withUpdateStrategy(spec: StatefulSet['spec']): NonNullable<StatefulSet['spec']> {
  const { type = 'RollingUpdate', rollingUpdate = { partition: 0 } } = spec?.updateStrategy ?? {};
  return {
    ...spec,
    updateStrategy: type === 'RollingUpdate' ? { type, rollingUpdate } : { type },
  };
}

const ready = { type: 'Ready', status: 'True' } as const;

function asRunning(pod: Pod): Pod {
  if ((pod.spec?.nodeName ?? '') === '') return { ...pod, status: { phase: 'Pending' } };
  return { ...pod, status: { phase: 'Running', conditions: [ready] } };
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
