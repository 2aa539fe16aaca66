import type { PersistentVolumeClaim } from '../../../../kube/api/core.ts';
import { annotations } from '../../../../kube/well-known.ts';

/**
 * The pod that has a claim's volume mounted. The annotation is also the lock of volumes for one node or one pod: each holder is
 * written to the version of the claim that named the previous one, so that of two concurrent starts exactly one wins.
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
