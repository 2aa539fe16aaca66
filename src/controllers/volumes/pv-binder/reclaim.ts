import { hasAnnotation } from '../../../kube/annotations.ts';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { BinderEvent } from './binder-events.ts';

/**
 * Why a released volume cannot be reclaimed by its policy; undefined if it is kept, or if its provisioner deletes it: the provisioner
 * acts on the phase. We have no deleters and no recyclers: users delete the volumes that they created.
 */
export function reclaimProblem(volume: PersistentVolume): BinderEvent | undefined {
  if ((volume.metadata?.annotations?.[annotations.migratedTo] ?? '') !== '') return undefined;
  const policy: string = volume.spec?.persistentVolumeReclaimPolicy ?? 'Retain';
  switch (policy) {
    case 'Retain':
      return undefined;
    case 'Delete':
      return deletionProblem(volume);
    case 'Recycle':
      return warning('VolumeFailedRecycle', 'No recycler plugin found for the volume!');
    default:
      return warning('VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy');
  }
}

function deletionProblem(volume: PersistentVolume): BinderEvent | undefined {
  const provisioner = volume.metadata?.annotations?.[annotations.provisionedBy] ?? '';
  if (provisioner !== '') {
    const isExternal = !provisioner.startsWith('kubernetes.io/');
    return isExternal
      ? undefined
      : warning('VolumeFailedDelete', `no volume plugin matched name: ${provisioner}`);
  }
  if (hasAnnotation(volume, annotations.migratedTo) || volume.spec?.csi !== undefined) return undefined;
  return warning('VolumeFailedDelete', noDeleter(volume));
}

/** The texts of kube-controller-manager, for the sources that it still supports. */
function noDeleter({ metadata, spec }: PersistentVolume): string {
  const path = spec?.hostPath?.path ?? '';
  if (spec?.hostPath !== undefined && !/^\/tmp\/.+/.test(path))
    return `host_path deleter only supports /tmp/.+ but received provided ${path}`;
  const isKnown = spec?.hostPath !== undefined || spec?.nfs !== undefined;
  const why = isKnown ? 'no deletable volume plugin matched' : 'no volume plugin matched';
  return `error getting deleter volume plugin for volume "${metadata?.name}": ${why}`;
}

function warning(reason: string, note: string): BinderEvent {
  return { type: 'Warning', reason, note };
}
