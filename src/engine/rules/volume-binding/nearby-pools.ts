import { quantityOfBytes } from '../../../kube/quantities/bytes.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { bytesTaken, publishedCapacity } from '../../cluster-index/pools/published-capacity-reports.ts';
import { driveExclusions } from '../../drives/drive-record.ts';
import { compareSizes, subtractSizes, zeroSize } from '../../size.ts';
import type { ByteMargin, Obstacle, StorageCandidate } from '../framework/finding.ts';
import { type FreeCapacity, growthReserveOf } from './free-capacity.ts';
import type { ClaimRequest } from './needs.ts';

/** The pools that a node reaches for a request, those with the most capacity that it may use first. */
export function rankedPools(
  index: ClusterIndex,
  capacity: FreeCapacity,
  request: ClaimRequest,
  node: number,
): number[] {
  const rows = [...capacity.reachable(request, node)];
  const usable = (row: number) =>
    subtractSizes(index.pools.available(row), growthReserveOf(index, request, row));
  return rows.sort((a, b) => compareSizes(usable(b), usable(a)) || compareKeys(index, a, b));
}

function compareKeys({ pools }: ClusterIndex, a: number, b: number): number {
  return pools.record(a).key < pools.record(b).key ? -1 : 1;
}

export function poolCandidate(
  index: ClusterIndex,
  capacity: FreeCapacity,
  request: ClaimRequest,
  row: number,
): StorageCandidate {
  const { key, name, form } = index.pools.record(row);
  return {
    kind: form === 'Drive' ? 'drive' : 'pool',
    name,
    poolKey: key,
    obstacles: obstaclesOfPool(index, capacity, request, row),
  };
}

/** A drive that has not what the request asks for. */
export function otherDriveCandidate(
  index: ClusterIndex,
  request: ClaimRequest,
  row: number,
): StorageCandidate {
  const { key, name, drive } = index.pools.record(row);
  const { tier, labels = {} } = request.provisioning?.driveKind ?? {};
  const missing = Object.entries(labels).filter(([label, value]) => drive?.labels[label] !== value);
  const lacks = [
    ...(tier === undefined || drive?.tier === tier
      ? []
      : [`has access tier ${drive?.tier}, and ${tier} is asked`]),
    ...missing.map(([label, value]) => `lacks the label ${label}=${value}`),
  ];
  const obstacle = {
    code: 'OtherDriveKind',
    margin: undefined,
    detail: `it ${lacks.join(', and ')}`,
  } as const;
  return { kind: 'drive', name, poolKey: key, obstacles: [obstacle] };
}

function obstaclesOfPool(
  index: ClusterIndex,
  capacity: FreeCapacity,
  request: ClaimRequest,
  row: number,
): Obstacle[] {
  const margin = poolMargin(index, request, row);
  const found: Obstacle[] = [];
  const exclusion = index.pools.exclusion(row);
  if (exclusion !== undefined)
    return [{ code: 'NoNewVolumes', margin: undefined, detail: `it ${driveExclusions[exclusion]}` }];
  const limit = index.pools.limit(row) ?? zeroSize;
  const policy = request.provisioning!.policy;
  const group = request.provisioning!.spreadGroup;
  if (group !== undefined && capacity.hasGroup(row, group))
    found.push({ code: 'SameOwner', margin: undefined, detail: `it already has a volume of ${group}` });
  if (capacity.isExpired(row)) found.push(expiryObstacle(index, row, margin));
  if (compareSizes(limit, request.size) < 0)
    found.push({ code: 'VolumeTooLarge', margin: { ...margin, free: limit, promised: zeroSize } });
  if (policy === 'one-at-a-time' && index.pools.hasPromises(row)) found.push({ code: 'Busy', margin });
  if (policy === 'linear' && compareSizes(index.pools.available(row), margin.needed) < 0)
    found.push({
      code: 'InsufficientCapacity',
      // Even without the part that is kept for expansions.
      margin: { ...margin, free: publishedCapacity(index.pools.record(row)) },
    });
  if (found.length === 0 && !capacity.admits(row, request))
    found.push({ code: 'GrowthReserve', margin, detail: growthReserveText(index, request, row) });
  return found;
}

function expiryObstacle({ pools }: ClusterIndex, row: number, margin: ByteMargin): Obstacle {
  const { publisherLease } = pools.record(row);
  if (pools.expiry.atMs[row] !== pools.expiry.trustedUntilMs(publisherLease))
    return { code: 'Expired', margin };
  const detail = `its publisher no longer renews Lease ${publisherLease}, so its capacity reports are not used`;
  return { code: 'PublisherGone', margin, detail };
}

function growthReserveText(index: ClusterIndex, request: ClaimRequest, row: number): string {
  const reserve = growthReserveOf(index, request, row);
  return `it keeps ${quantityOfBytes(reserve.bytes)} (${request.provisioning!.growthReservePercent} %) free for expansions`;
}

/** The bytes that the request needs, and the free bytes of the pool. Bytes that a drive keeps for expansions are not free. */
export function poolMargin(index: ClusterIndex, request: ClaimRequest, row: number): ByteMargin {
  const published = publishedCapacity(index.pools.record(row));
  const unreserved = subtractSizes(published, growthReserveOf(index, request, row));
  const free = compareSizes(unreserved, zeroSize) < 0 ? zeroSize : unreserved;
  return {
    unit: 'bytes',
    needed: bytesTaken(index.pools.record(row), request.size),
    free,
    promised: subtractSizes(published, index.pools.available(row)),
  };
}
