import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';

/**
 * Who has a claim's volume mounted. The mark is also the lock of volumes that only one node or one pod may have: each holder is
 * written onto the version of the claim that named the one before, so that of two who start at once exactly one wins.
 */
export interface VolumeHolder {
  readonly nodeName: string;
  readonly podUid: string;
}

export function holderOf({ metadata }: PersistentVolumeClaim): VolumeHolder | undefined {
  const text = metadata?.annotations?.[annotations.mounted];
  if (text === undefined) return undefined;
  const [nodeName = '', podUid = ''] = text.split('/');
  return { nodeName, podUid };
}

export function mountedAnnotationValue({ nodeName, podUid }: VolumeHolder): string {
  return `${nodeName}/${podUid}`;
}

export function isUnderRollback({ metadata }: PersistentVolumeClaim): boolean {
  return metadata?.annotations?.[annotations.rollback] !== undefined;
}
