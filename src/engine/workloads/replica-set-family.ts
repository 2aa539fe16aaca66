import type { Deployment, ReplicaSet } from '../../kube/api/apps.ts';
import type { PodTemplateSpec } from '../../kube/api/core.ts';
import type { StringMap } from '../../kube/api/meta.ts';
import { canonicalJson } from '../../kube/go/json-text.ts';
import { controllerReference } from '../../kube/owner-references.ts';
import { deployments } from '../../kube/resources.ts';
import { scaledValue } from './scaled-value.ts';
import { shortHash } from './template-hash.ts';

const templateHashLabel = 'pod-template-hash';
const nameLengthMax = 253;

/** A deployment's replica sets: the one that has its template, and those that had. */
export interface ReplicaSetFamily {
  readonly current: ReplicaSet | undefined;
  /** From the oldest to the youngest. */
  readonly old: readonly ReplicaSet[];
}

export function familyOf({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSetFamily {
  const byAge = oldestFirst(sets);
  const wanted = comparable(spec?.template);
  const current = byAge.find((set) => comparable(set.spec?.template) === wanted);
  return { current, old: byAge.filter((set) => set !== current) };
}

export function allOf({ current, old }: ReplicaSetFamily): readonly ReplicaSet[] {
  return current === undefined ? old : [...old, current];
}

/** The replica set for the deployment's template, without replicas yet. Its name has the template's hash, so there can be only one. */
export function newReplicaSet(deployment: Deployment): ReplicaSet {
  const { metadata = {}, spec = {} } = deployment;
  const { template = {}, minReadySeconds, selector } = spec;
  const hash = shortHash(canonicalJson(template), deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash };
  const name = `${(metadata.name ?? '').slice(0, nameLengthMax - hash.length - 1)}-${hash}`;
  return {
    metadata: {
      namespace: metadata.namespace ?? '',
      name,
      labels,
      ownerReferences: [controllerReference(deployment, deployments)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [templateHashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

export function hasTemplateOf({ spec }: ReplicaSet, deployment: Deployment): boolean {
  return comparable(spec?.template) === comparable(deployment.spec?.template);
}

export function specReplicasOf({ spec }: ReplicaSet | Deployment): number {
  return spec?.replicas ?? 1;
}

/** The sum of the replicas of all these sets. */
export function totalReplicas(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + specReplicasOf(set), 0);
}

export function activeOf(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return sets.filter((set) => specReplicasOf(set) > 0);
}

export function isRolling({ spec }: Deployment): boolean {
  return spec?.strategy?.type !== 'Recreate';
}

/** Pods above the desired number that may exist during an update. */
export function maxSurgeOf(deployment: Deployment): number {
  return isRolling(deployment) ? roundedLimits(deployment).surge : 0;
}

/** Pods below the desired number that may be missing during an update. */
export function maxUnavailableOf(deployment: Deployment): number {
  if (!isRolling(deployment) || specReplicasOf(deployment) === 0) return 0;
  return Math.min(roundedLimits(deployment).unavailable, specReplicasOf(deployment));
}

/** If both round to 0, one pod may be missing: otherwise an update could never proceed. */
function roundedLimits(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, specReplicasOf(deployment), 'up');
  const unavailable = scaledValue(maxUnavailable, specReplicasOf(deployment), 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function oldestFirst(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return sets.toSorted((a, b) => compareAge(a, b));
}

/** Negative if `a` is older; names decide between sets of the same second. */
export function compareAge(a: ReplicaSet, b: ReplicaSet): number {
  return (
    compare(a.metadata?.creationTimestamp, b.metadata?.creationTimestamp) ||
    compare(a.metadata?.name, b.metadata?.name)
  );
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A template without the label that replica sets add to it. */
function comparable({ metadata = {}, spec }: PodTemplateSpec = {}): string {
  const { labels = {}, creationTimestamp: _, ...rest } = metadata;
  const { [templateHashLabel]: _hash, ...own }: StringMap = labels;
  return canonicalJson({ metadata: { ...rest, labels: own }, spec });
}
