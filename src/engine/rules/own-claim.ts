import type { ObjectChange } from '../cluster-index/change.ts';
import type { Interest } from './rule.ts';

/** One of the pod's own claims came or changed; every volume rule looks again then. */
export function isOwnClaim(interest: Interest, { after }: ObjectChange<'PersistentVolumeClaim'>): boolean {
  return after !== undefined && interest.claimKeys.has(after.key);
}
