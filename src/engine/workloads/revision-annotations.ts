import type { Deployment, ReplicaSet } from '../../kube/api/apps.ts';
import type { KubeObject, StringMap } from '../../kube/api/meta.ts';
import { maxSurgeOf, type ReplicaSetFamily, specReplicasOf } from './replica-set-family.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maxAnnotation = 'deployment.kubernetes.io/max-replicas';
const historyLengthMax = 2000;

/** Annotations of the deployment or the replica set alone, which are not copied. */
const notHandedDown = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
]);

/** Annotations that the current replica set lacks. */
export function annotationsToAdd(
  deployment: Deployment,
  set: ReplicaSet,
  { old }: ReplicaSetFamily,
): StringMap {
  const present = set.metadata?.annotations ?? {};
  const handedDown = Object.entries(deployment.metadata?.annotations ?? {}).filter(
    ([key, value]) => !notHandedDown.has(key) && present[key] !== value,
  );
  return { ...Object.fromEntries(handedDown), ...revisionToAdd(present, nextRevision(old)) };
}

/** The intended sizes when a set was last scaled: they show whether the deployment was scaled since. */
export function sizeAnnotations(deployment: Deployment): StringMap {
  const desired = specReplicasOf(deployment);
  return { [desiredAnnotation]: String(desired), [maxAnnotation]: String(desired + maxSurgeOf(deployment)) };
}

export function desiredReplicasOf(set: ReplicaSet): number | undefined {
  return countIn(set, desiredAnnotation);
}

export function maxReplicasOf(set: ReplicaSet): number | undefined {
  return countIn(set, maxAnnotation);
}

/** A signed integer of 64 bits, as in Go; what is not one counts as 0. */
export function revisionNumberOf({ metadata }: KubeObject): bigint {
  return parseRevision(metadata?.annotations?.[revisionAnnotation] ?? '0') ?? 0n;
}

function parseRevision(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,100}$/.test(text)) return undefined;
  const number = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, number) === number ? number : undefined;
}

/** One more than the highest of these sets. */
function nextRevision(old: readonly ReplicaSet[]): bigint {
  let highest = 0n;
  for (const number of old.map(revisionNumberOf)) if (number > highest) highest = number;
  return BigInt.asIntN(64, highest + 1n);
}

/** A set that becomes current again gets a new number and keeps its earlier ones in its history. */
function revisionToAdd(present: StringMap, revision: bigint): StringMap {
  const before = present[revisionAnnotation];
  const current = parseRevision(before ?? '0');
  if (current === undefined || current >= revision) return {};
  const numbered = { [revisionAnnotation]: String(revision) };
  if (before === undefined) return numbered;
  const history = [...(present[historyAnnotation] ?? '').split(',').filter((text) => text !== ''), before];
  while (history.join(',').length > historyLengthMax) history.shift();
  return { ...numbered, [historyAnnotation]: history.join(',') };
}

function countIn({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata?.annotations?.[annotation] ?? '';
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
