import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { policyOfClaim } from '../cluster-index/pools/policies/policy-of-claim.ts';
import { inFlightPolicy } from '../cluster-index/profile.ts';
import { growthReserveBytes } from '../drives/drive-rule.ts';
import { type FilterOptions, filterNodes } from '../evaluation/filter-nodes.ts';
import { decisionsAt } from '../plan.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { defaultRules } from '../rules/default-rules.ts';
import type { InlineReservation, Provision } from '../rules/framework/decisions.ts';
import { volumeBindingRule } from '../rules/volume-binding/rule.ts';
import { addSizes, type Size, sizeOfBytes } from '../size.ts';
import { returnLeavingVolumes } from './leaving-volumes.ts';

/** Whether the pod may take bytes of pools when it is placed. */
export function mayTakeBytes({ claims, inlineVolumes }: PodRecord): boolean {
  return claims.length + inlineVolumes.length > 0;
}

/**
 * For a dry run: promises the bytes that the volumes of a nominated pod will take on its node. Without that, pods of lower priority could take what victims
 * leave before all of them are deleted, and the pod would evict these too, without end.
 *
 * The pools are those that the pod would get once all leaving pods and their volumes are deleted. If it would get none even then, it has to look for another
 * node, and nothing is promised.
 */
export function promiseNominatedVolumes(pod: PodRecord, index: ClusterIndex, options: FilterOptions): void {
  for (const { id, claimUid, driver, pool, size, spreadGroup } of volumesOnceVacated(pod, index, options)) {
    if (index.promises.get(id) !== undefined || inFlightPolicy(index.profile, driver) === 'off') continue;
    index.setPromise(id, {
      id,
      claimUid,
      nodeName: pod.nominatedNode,
      size,
      poolKey: pool,
      reservations: 1,
      isStored: false,
      settled: undefined,
      spreadGroup,
    });
  }
}

interface NewVolume {
  readonly id: string;
  readonly claimUid: string;
  readonly driver: string;
  /** The key of the pool. */
  readonly pool: string;
  readonly size: Size;
  readonly spreadGroup?: string | undefined;
}

function volumesOnceVacated(
  pod: PodRecord,
  index: ClusterIndex,
  { rules = defaultRules, nowMs }: FilterOptions,
): readonly NewVolume[] {
  const node = index.nodes.row(pod.nominatedNode);
  const choosing = rules.filter(({ name }) => name === volumeBindingRule.name);
  if (!mayTakeBytes(pod) || node === undefined || choosing.length === 0) return [];
  const savepoint = index.savepoint();
  try {
    returnLeavingVolumes(pod, pod.nominatedNode, index);
    const onlyNodes = [pod.nominatedNode];
    const { cycle, prepared } = filterNodes(pod, index, { nowMs, rules: choosing, onlyNodes });
    if (prepared.refusedBy !== undefined || !cycle.isFeasible(node)) return [];
    const { provisions, inlineVolumes } = decisionsAt(cycle, prepared.active, node);
    return [
      ...provisions.flatMap((provision) => ofClaim(provision, index)),
      ...inlineVolumes.map((volume) => ofInline(volume)),
    ];
  } finally {
    index.rollback(savepoint);
  }
}

/** Includes the bytes that the drive must keep for expansions of the volume: another volume must not take these either. */
function ofClaim(provision: Provision, index: ClusterIndex): readonly NewVolume[] {
  const { claim, claimUid, driver, requested, pool, spreadGroup } = provision;
  if (pool === undefined) return [];
  const { drive } = index.pools.get(pool.key)!;
  const percent = policyOfClaim(index, index.claims.get(claim)!).growthReservePercent;
  const reserve = drive === undefined ? 0 : growthReserveBytes(drive.capacityBytes, percent);
  const size = addSizes(requested, sizeOfBytes(reserve));
  return [{ id: claim, claimUid, driver, pool: pool.key, size, spreadGroup }];
}

function ofInline({ volume, driver, requested, pool }: InlineReservation): NewVolume {
  return { id: volume, claimUid: '', driver, pool: pool.key, size: requested };
}
