import type { ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { Interest } from '../framework/rule.ts';

/** Whether one of the pod's own claims was created or changed. Every volume rule then has to decide again. */
export function isOwnClaimChange(
  interest: Interest,
  { after }: ObjectChange<'PersistentVolumeClaim'>,
): boolean {
  return after !== undefined && interest.claimKeys.has(after.key);
}
