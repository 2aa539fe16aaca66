import type { PersistentVolumeClaim } from '../../../kube/core-volume.ts';

/**
 * On a claim: its volume has been mounted, or is about to be, as `NODE/UID OF THE POD`. It is written before the first byte can be,
 * and never taken off: a binding whose claim has it can't be undone.
 *
 * It is also the lock of volumes that only one node or one pod may have. Each holder is written onto the version of the claim that
 * named the one before, so that of two who start at once exactly one wins.
 */
export const mountedAnnotation = 'stowage.dev/mounted';

/** On a claim: its binding is being undone. Nothing may mount it. Written only onto a version without {@link mountedAnnotation}. */
const rollbackAnnotation = 'stowage.dev/rollback';

export interface Holder {
  readonly nodeName: string;
  readonly podUid: string;
}

export function holderOf({ metadata }: PersistentVolumeClaim): Holder | undefined {
  const text = metadata?.annotations?.[mountedAnnotation];
  if (text === undefined) return undefined;
  const [nodeName = '', podUid = ''] = text.split('/');
  return { nodeName, podUid };
}

export function markOf({ nodeName, podUid }: Holder): string {
  return `${nodeName}/${podUid}`;
}

export function isUnderRollback({ metadata }: PersistentVolumeClaim): boolean {
  return metadata?.annotations?.[rollbackAnnotation] !== undefined;
}
