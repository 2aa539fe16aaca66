import { controllerOf } from '../owner-references.ts';
import type { Replica } from './replica.ts';
import type { DiskVolume } from './volume.ts';

/**
 * Whether the replica belongs to this volume, and not to a deleted one of the same name, whose replicas may still be there. The replicas of other programs
 * have no owner: then the name decides.
 */
export function belongsTo(replica: Replica, { metadata }: Pick<DiskVolume, 'metadata'>): boolean {
  const owner = controllerOf(replica);
  return replica.spec?.volumeName === metadata?.name && (owner === undefined || owner.uid === metadata?.uid);
}

/** Whether both replicas belong to the same volume. */
export function haveSameVolume(one: Replica, other: Replica): boolean {
  const [owner, otherOwner] = [controllerOf(one), controllerOf(other)];
  const isSameOwner = owner === undefined || otherOwner === undefined || owner.uid === otherOwner.uid;
  return one.spec?.volumeName === other.spec?.volumeName && isSameOwner;
}
