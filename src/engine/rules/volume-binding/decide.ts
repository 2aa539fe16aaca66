import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { Decisions, PoolChoice } from '../framework/decisions.ts';
import type { ClaimRequest, VolumeNeeds } from './needs.ts';
import type { Solution } from './solution.ts';

interface Target {
  readonly index: ClusterIndex;
  readonly node: number;
  readonly decisions: Decisions;
}

/** Records, for the chosen node, which volume or pool each request gets. */
export function decideVolumes(needs: VolumeNeeds, solution: Solution, target: Target): void {
  const { index, node, decisions } = target;
  const provisioned = solution.provisionedAt(node);
  const packing = solution.poolsAt(node);
  const poolOf = new Map(
    packing.kind === 'packed'
      ? provisioned.map((request, position) => [request, packing.pools[position]!])
      : [],
  );
  for (const request of needs.requests) {
    const row = solution.choice.at(request.position, node);
    if (row >= 0) bindTo(index, request, row, decisions);
    else provisionNew(index, request, poolOf.get(request) ?? -1, decisions);
  }
}

function bindTo(index: ClusterIndex, request: ClaimRequest, row: number, decisions: Decisions): void {
  const volume = index.volumes.record(row);
  const claim = request.claim!;
  decisions.bindings.push({
    claim: claim.key,
    claimUid: claim.uid,
    claimVersion: claim.version,
    volume: volume.key,
    volumeVersion: volume.version,
    requested: request.size,
    capacity: volume.size,
  });
}

function provisionNew(
  index: ClusterIndex,
  request: ClaimRequest,
  poolRow: number,
  decisions: Decisions,
): void {
  const { claim, provisioning, size } = request;
  const pool: PoolChoice | undefined = poolRow < 0 ? undefined : poolChoice(index, poolRow);
  if (claim === undefined) {
    if (pool !== undefined)
      decisions.inlineVolumes.push({
        volume: request.name,
        driver: provisioning!.driver,
        requested: size,
        pool,
      });
    return;
  }
  decisions.provisions.push({
    claim: claim.key,
    claimUid: claim.uid,
    claimVersion: claim.version,
    className: claim.className,
    driver: provisioning!.driver,
    requested: size,
    pool,
    ...(provisioning!.spreadGroup !== undefined && { spreadGroup: provisioning!.spreadGroup }),
  });
}

function poolChoice(index: ClusterIndex, row: number): PoolChoice {
  const { key, name, form } = index.pools.record(row);
  return form === 'Drive' ? { key, name, isDrive: true } : { key, name };
}
