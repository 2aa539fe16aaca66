import type { ClaimRecord } from '../../../records/claim-record.ts';
import type { ClassRecord } from '../../../records/class-record.ts';
import type { NamespaceRecord } from '../../../records/namespace-record.ts';
import { noPolicy, type VolumePolicy } from '../../../records/volume-policy.ts';
import type { Profile } from '../../profile.ts';

export interface PolicySources {
  readonly profile: Pick<Profile, 'honoursVolumePolicies'>;
  readonly classes: ReadonlyMap<string, ClassRecord>;
  readonly namespaces: ReadonlyMap<string, NamespaceRecord>;
}

/**
 * The policy for the new volume of a claim. A placement is a preference, so the nearest one counts: of the claim, its namespace, its class.
 * The other two protect volumes, so a claim can only add to what its class demands: the larger reserve counts, and everything that either
 * wants apart.
 */
export function policyOfClaim(
  { profile, classes, namespaces }: PolicySources,
  claim: ClaimRecord,
): VolumePolicy {
  if (!profile.honoursVolumePolicies) return noPolicy;
  const own = claim.policy;
  const { policy: general } = classes.get(claim.className) ?? { policy: noPolicy };
  const placement = own.placement ?? namespaces.get(claim.namespace)?.placement ?? general.placement;
  if (own === noPolicy && placement === general.placement) return general;
  return {
    placement,
    growthReservePercent: Math.max(own.growthReservePercent, general.growthReservePercent),
    apart: new Set([...own.apart, ...general.apart]),
  };
}
