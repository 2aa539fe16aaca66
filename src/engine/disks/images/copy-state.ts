import type { DiskVerdict } from '../../../kube/stowage/disk-schedule.ts';
import type { CopyView } from './image-view.ts';

export function isCopyReady({ state }: CopyView): boolean {
  return state === 'ready';
}

/** Its data was reported complete, and can be read now. */
export function isCopyHealthy(copy: CopyView): boolean {
  return isCopyReady(copy) && copy.isDiskReady;
}

/** Its data is there or on the way, or may be there: an agent that does not find the disk reports `unknown`. */
export function hasProgress({ state }: CopyView): boolean {
  return state !== undefined && state !== 'pending' && state !== 'failed';
}

/** The verdict, if it answers the request as it is now. */
export function copyVerdict({ entry }: CopyView): DiskVerdict | undefined {
  const { askedBytes, verdict } = entry;
  return askedBytes !== undefined && verdict?.observedSize === askedBytes ? verdict : undefined;
}

export function isRefused(copy: CopyView): boolean {
  return copyVerdict(copy)?.state === 'rejected';
}

/** It has its bytes; none has them while no size is known. */
export function isGranted(copy: CopyView, bytes: number | undefined): boolean {
  const answer = copyVerdict(copy);
  return bytes !== undefined && answer?.state === 'scheduled' && answer.scheduledSize === bytes;
}

export function copyGrantedBytes({ entry }: CopyView): number {
  return entry.askedBytes === undefined ? 0 : (entry.verdict?.scheduledSize ?? 0);
}
