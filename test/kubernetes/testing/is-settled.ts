import type { Deployment, StatefulSet } from '../../../src/kube/api/apps.ts';
import type { PersistentVolumeClaim, PersistentVolumeSpec } from '../../../src/kube/api/core.ts';
import { annotations } from '../../../src/kube/well-known.ts';
import { fakeProvisionerName, lateClass } from './fake-provisioner.ts';
import type { Seen, Snapshot } from './masked-state.ts';

/** Kinds whose controller reports the generation that it has observed. */
const observed = [
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'DaemonSet',
  'PodDisruptionBudget',
];
const replicated = ['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet'];

/**
 * Whether no change is pending: every controller has observed the newest generation, nothing is being deleted, every pod runs and is
 * counted, and every rollout has finished. Less is checked for a scenario that is stuck on purpose.
 */
export function isSettled({ objects }: Snapshot, isStuck: boolean): boolean {
  return objects.every(
    (seen) =>
      isSeen(seen) &&
      (isStuck || isThrough(seen)) &&
      isCounted(seen, isStuck) &&
      !waitsForVolume(seen, objects),
  );
}

/** A volume that the PV controller has not seen, or a claim whose volume exists or is being provisioned. */
function waitsForVolume({ kind, object }: Seen, objects: readonly Seen[]): boolean {
  const { metadata = {}, status } = object;
  const { phase } = (status ?? {}) as { readonly phase?: string };
  if (kind === 'PersistentVolume') return phase === 'Pending';
  if (kind !== 'PersistentVolumeClaim' || phase !== 'Pending') return false;
  const isItsOwn = ({ spec }: Seen['object']) =>
    (spec as PersistentVolumeSpec).claimRef?.uid === metadata.uid;
  if (objects.some((other) => other.kind === 'PersistentVolume' && isItsOwn(other.object))) return true;
  const isToBeMade = metadata.annotations?.[annotations.storageProvisioner] === fakeProvisionerName;
  const { storageClassName } = (object as PersistentVolumeClaim).spec ?? {};
  const hasPlace =
    storageClassName !== lateClass || metadata.annotations?.[annotations.selectedNode] !== undefined;
  return isToBeMade && hasPlace;
}

function isSeen({ kind, object }: Seen): boolean {
  const { observedGeneration } = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  return !observed.includes(kind) || observedGeneration === object.metadata?.generation;
}

/** The remaining objects of a namespace are reported some time after its deletion. */
function isCounted({ kind, object }: Seen, isStuck: boolean): boolean {
  if (kind !== 'Namespace' || object.metadata?.deletionTimestamp === undefined) return true;
  const { conditions } = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  return isStuck && conditions !== undefined;
}

function isThrough({ kind, object }: Seen): boolean {
  if (object.metadata?.deletionTimestamp !== undefined) return false;
  if (kind === 'Pod') return (object.status as { readonly phase?: string }).phase !== 'Pending';
  if (kind === 'DaemonSet') return isEverywhere(object);
  if (!replicated.includes(kind)) return true;
  const { spec = {}, status = {} } = object as Deployment;
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  if ([replicas, readyReplicas, availableReplicas].some((count) => count !== spec.replicas)) return false;
  if (kind === 'Deployment') return spec.paused === true || (status.updatedReplicas ?? 0) === spec.replicas;
  return kind !== 'StatefulSet' || isUpdated(object as StatefulSet);
}

function isEverywhere({ spec, status }: Seen['object']): boolean {
  const { updateStrategy } = spec as { readonly updateStrategy?: { readonly type?: string } };
  const counts = status as Readonly<Record<string, number | undefined>>;
  const wanted = counts.desiredNumberScheduled;
  if (counts.currentNumberScheduled !== wanted || counts.numberReady !== wanted) return false;
  const isUpdated = (counts.updatedNumberScheduled ?? 0) === wanted || updateStrategy?.type === 'OnDelete';
  return isUpdated && (counts.numberMisscheduled ?? 0) === 0;
}

function isUpdated({ spec = {}, status = {} }: StatefulSet): boolean {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const isMeantToStay = type === 'OnDelete' || (rollingUpdate?.partition ?? 0) > 0 || spec.replicas === 0;
  return isMeantToStay || status.currentRevision === status.updateRevision;
}
