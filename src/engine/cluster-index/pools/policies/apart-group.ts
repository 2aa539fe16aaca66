import type { ClaimRecord } from '../../../records/claim-record.ts';
import type { PodRecord } from '../../../records/pod-record.ts';
import { policyOfClaim } from './policy-of-claim.ts';
import { type GroupSources, ownerGroupOf } from './spread-group.ts';

/** The owner whose volumes are kept on different nodes or in different zones; undefined if the policy of the claim does not say so, or it has no owner. */
export function apartGroupOf(
  sources: GroupSources,
  claim: ClaimRecord,
  asking?: PodRecord,
): string | undefined {
  const { apart } = policyOfClaim(sources, claim);
  return apart.has('nodes') || apart.has('zones') ? ownerGroupOf(sources, claim, asking) : undefined;
}
