import type { Deployment, StatefulSet } from '../../../src/kube/apps.ts';
import type { Seen, Snapshot } from './masked-state.ts';

/** Kinds whose controller says which version it has seen. */
const observed = ['Deployment', 'ReplicaSet', 'StatefulSet', 'PodDisruptionBudget'];
const replicated = ['Deployment', 'ReplicaSet', 'StatefulSet'];

/**
 * Whether nothing is on its way that has to come: every controller has seen the newest, nothing goes, every pod runs and is counted,
 * every update is over. Of a scene that is stuck on purpose there is less to be known.
 */
export function isAtRest({ objects }: Snapshot, isStuck: boolean): boolean {
  return objects.every((seen) => isSeen(seen) && (isStuck || isThrough(seen)) && isCounted(seen, isStuck));
}

function isSeen({ kind, object }: Seen): boolean {
  const { observedGeneration } = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  return !observed.includes(kind) || observedGeneration === object.metadata?.generation;
}

/** What is left in a namespace is counted a while after its deletion. */
function isCounted({ kind, object }: Seen, isStuck: boolean): boolean {
  if (kind !== 'Namespace' || object.metadata?.deletionTimestamp === undefined) return true;
  const { conditions } = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  return isStuck && conditions !== undefined;
}

function isThrough({ kind, object }: Seen): boolean {
  if (object.metadata?.deletionTimestamp !== undefined) return false;
  if (kind === 'Pod') return (object.status as { readonly phase?: string }).phase !== 'Pending';
  if (!replicated.includes(kind)) return true;
  const { spec = {}, status = {} } = object as Deployment;
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  if ([replicas, readyReplicas, availableReplicas].some((count) => count !== spec.replicas)) return false;
  if (kind === 'Deployment') return spec.paused === true || (status.updatedReplicas ?? 0) === spec.replicas;
  return kind !== 'StatefulSet' || isUpdated(object as StatefulSet);
}

function isUpdated({ spec = {}, status = {} }: StatefulSet): boolean {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const isMeantToStay = type === 'OnDelete' || (rollingUpdate?.partition ?? 0) > 0 || spec.replicas === 0;
  return isMeantToStay || status.currentRevision === status.updateRevision;
}
