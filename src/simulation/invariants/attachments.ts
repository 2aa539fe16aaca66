import type { PersistentVolume, Pod } from '../../kube/api/core.ts';
import type { VolumeAttachment } from '../../kube/api/storage.ts';
import { isFinished } from '../../kube/pods.ts';
import {
  csiDrivers,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttachments,
} from '../../kube/resources.ts';
import { ephemeralClaimName } from '../../kube/volumes.ts';
import type { Invariant } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

export const runningPodsAreAttached: Invariant = {
  name: 'a pod runs only when its volumes are attached to its node',
  onVersion: ({ resource, key, before, after }, state, storage) => {
    if (resource !== 'pods' || after === undefined || storage === undefined) return undefined;
    if (!isRunning(after as Pod) || isRunning(before as Pod | undefined)) return undefined;
    const node = (after as Pod).spec?.nodeName ?? '';
    const missing = attachableVolumesOf(after as Pod, state).filter(
      (volume) => !storage.attached.has(`${volume} ${node}`),
    );
    return missing.length === 0 ? undefined : `pod ${key} on ${node}: ${missing.join(', ')}`;
  },
};

/** A node that is gone runs no pods, whatever is stored. */
export const attachmentsInUseStay: Invariant = {
  name: 'no volume is detached from a node while a pod runs there with it',
  onVersion: ({ resource, before, after }, state) => {
    if (resource !== 'volumeattachments.storage.k8s.io' || after !== undefined) return undefined;
    const { nodeName = '', source } = (before as VolumeAttachment).spec ?? {};
    const volume = source?.persistentVolumeName ?? '';
    return isMounted(volume, nodeName, state) ? `${volume} is detached from ${nodeName}` : undefined;
  },
  atRest: (_, { detachedInUse }) => detachedInUse.map((which) => `the driver detached ${which}`),
};

export const attachmentsAreRecorded: Invariant = {
  name: 'when the system is at rest, every attached volume has a VolumeAttachment, and the other way round',
  atRest: (state, { attached }) => {
    const recorded = new Set(
      [...state.values(volumeAttachments)].map(
        ({ spec }) => `${spec?.source?.persistentVolumeName} ${spec?.nodeName}`,
      ),
    );
    const deleted = [...state.values(volumeAttachments)].filter(
      ({ metadata }) => metadata?.deletionTimestamp !== undefined,
    );
    return [
      ...deleted.map(({ metadata }) => `VolumeAttachment ${metadata?.name} is being deleted`),
      ...[...attached].filter((each) => !recorded.has(each)).map((each) => `${each} has no VolumeAttachment`),
      ...[...recorded].filter((each) => !attached.has(each)).map((each) => `${each} is not attached`),
    ];
  },
};

/** Whether a pod runs on the node with the volume. */
export function isMounted(volume: string, nodeName: string, state: StoredObjects): boolean {
  if (state.get(nodes, nodeName) === undefined) return false;
  return [...state.values(pods)].some(
    (pod) =>
      pod.spec?.nodeName === nodeName &&
      isRunning(pod) &&
      !isFinished(pod) &&
      attachableVolumesOf(pod, state).includes(volume),
  );
}

/** Whether a claim is bound to the volume. */
export function hasClaim(volumeName: string, state: StoredObjects): boolean {
  const ref = state.get(persistentVolumes, volumeName)?.spec?.claimRef;
  const claim = state.get(persistentVolumeClaims, `${ref?.namespace}/${ref?.name}`);
  return claim !== undefined && claim.metadata?.uid === ref?.uid && claim.spec?.volumeName === volumeName;
}

/** The PersistentVolumes of the pod that have to be attached. */
function attachableVolumesOf(pod: Pod, state: StoredObjects): readonly string[] {
  return boundVolumesOf(pod, state)
    .filter(({ spec }) => state.get(csiDrivers, spec?.csi?.driver ?? '')?.spec?.attachRequired === true)
    .map(({ metadata }) => metadata?.name ?? '');
}

/** The PersistentVolumes that the claims of the pod name. */
export function boundVolumesOf({ metadata, spec }: Pod, state: StoredObjects): readonly PersistentVolume[] {
  return (spec?.volumes ?? []).flatMap(({ name = '', persistentVolumeClaim, ephemeral }) => {
    const claim = ephemeral
      ? ephemeralClaimName(metadata?.name ?? '', name)
      : persistentVolumeClaim?.claimName;
    const bound = state.get(persistentVolumeClaims, `${metadata?.namespace}/${claim}`)?.spec?.volumeName;
    return state.get(persistentVolumes, bound ?? '') ?? [];
  });
}

function isRunning(pod: Pod | undefined): boolean {
  return pod?.status?.phase === 'Running';
}
