import type { ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { Interest } from '../framework/rule.ts';

/** One of the pod's own claims came or changed; every volume rule looks again then. */
export function isOwnClaimChange(
  interest: Interest,
  { after }: ObjectChange<'PersistentVolumeClaim'>,
): boolean {
  return after !== undefined && interest.claimKeys.has(after.key);
}
