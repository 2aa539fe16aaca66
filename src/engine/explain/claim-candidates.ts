import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { StorageCandidate } from '../rules/framework/finding.ts';
import { NearbyVolumesCache } from '../rules/volume-binding/nearby-volumes.ts';
import { wantOfClaim } from '../rules/volume-binding/needs.ts';

/** The existing volumes that come closest to serving a claim without a pod. A volume without obstacles fits. */
export function claimCandidates(
  claim: ClaimRecord,
  index: ClusterIndex,
  max: number,
): { readonly candidates: readonly StorageCandidate[]; readonly omitted: number } {
  const nearby = new NearbyVolumesCache(index).of(wantOfClaim(index, claim, { position: 0 }));
  const { candidates, total } = nearby?.anywhere(max) ?? { candidates: [], total: 0 };
  return { candidates, omitted: total - candidates.length };
}
