import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { NodePartition } from '../../cluster-index/nodes/node-partition.ts';
import type { VolumeGroup } from '../../cluster-index/volumes/volume-table.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import { compareSizes, type Size } from '../../size.ts';
import type { ClaimRequest } from './needs.ts';

/**
 * ClaimRequests that accept the same volumes, apart from the size: same class, mode, attributes class, access modes and selector.
 *
 * Within a group the volumes that fit a larger request also fit a smaller one. So giving each request, smallest request first, the smallest
 * remaining volume serves the largest possible number with the least bytes. No search is needed.
 */
export interface ClaimRequestGroup {
  /** Ascending by size, then in the pod's order. */
  readonly requests: readonly ClaimRequest[];
  readonly volumeGroups: readonly VolumeGroup[];
  readonly partition: NodePartition;
  readonly accepts: ((row: number) => boolean) | undefined;
  /** Another group can use some of the same volumes, so their choices may conflict. */
  readonly isContended: boolean;
}

/** ClaimRequests with a pinned node or a reserved volume have no choice and belong to no group. */
export function groupsOf(index: ClusterIndex, requests: readonly ClaimRequest[]): ClaimRequestGroup[] {
  const byFilter = new Map<string, ClaimRequest[]>();
  for (const request of requests) {
    if (request.claim === undefined || request.pinnedNode !== undefined || request.reserved.length > 0)
      continue;
    const { className, mode, attributesClass, accessModes, selectorKey } = request.claim;
    const filter = `${className}\n${mode}\n${attributesClass}\n${accessModes}\n${selectorKey}`;
    const members = byFilter.get(filter);
    if (members === undefined) byFilter.set(filter, [request]);
    else members.push(request);
  }
  const groupsByFamily = [...byFilter.values()].map((members) => index.volumes.groupsFor(members[0]!.claim!));
  return [...byFilter.values()].map((members, position) => {
    const volumeGroups = groupsByFamily[position]!;
    return {
      requests: members.sort(compareRequests),
      volumeGroups,
      partition: index.volumes.partitionFor(volumeGroups, index.nodes.rowCount),
      accepts: acceptance(index, members[0]!.claim),
      isContended: groupsByFamily.some(
        (others, other) => other !== position && others.some((group) => volumeGroups.includes(group)),
      ),
    };
  });
}

/** Undefined for a request that has no choice. */
export function groupOfRequest(
  groups: readonly ClaimRequestGroup[],
  request: ClaimRequest,
): ClaimRequestGroup | undefined {
  return groups.find((group) => group.requests.includes(request));
}

export function compareRequests(a: ClaimRequest, b: ClaimRequest): number {
  return compareSizes(a.size, b.size) || a.position - b.position;
}

/** Whether a claim's selector accepts a volume row; undefined if there is no selector. */
export function acceptance(
  index: ClusterIndex,
  claim: ClaimRecord | undefined,
): ((row: number) => boolean) | undefined {
  const selector = claim?.selector;
  if (selector === undefined) return undefined;
  return (row) => matchesLabels(selector, index.volumes.record(row).labels);
}

/**
 * The best assignment for a group that the volumes of a node can't serve completely: as many requests as possible, and among those the
 * largest, because they waste least. Returns volume rows by member, -1 for a request that gets none.
 *
 * It visits the requests from the largest, and takes each one if there are more volumes of its size than requests already taken. This ends in
 * the largest set that can be served. Its members then get the smallest volumes that fit, smallest request first. Among equal requests the
 * earlier one is served.
 */
export function serveLargest(
  index: ClusterIndex,
  group: ClaimRequestGroup,
  lists: readonly number[],
): number[] {
  const served = new Set<ClaimRequest>();
  const largestFirst = [...group.requests].sort(
    (a, b) => compareSizes(b.size, a.size) || a.position - b.position,
  );
  for (const request of largestFirst) {
    if (countFits(index, group, lists, { size: request.size, max: served.size + 1 }) > served.size)
      served.add(request);
  }
  const walk = new VolumeWalk(index, lists, group.accepts);
  return group.requests.map((request) => (served.has(request) ? walk.next(request.size) : -1));
}

interface CountQuery {
  readonly size: Size;
  /** Counting stops here. */
  readonly max: number;
}

function countFits(
  index: ClusterIndex,
  group: ClaimRequestGroup,
  lists: readonly number[],
  { size, max }: CountQuery,
): number {
  const walk = new VolumeWalk(index, lists, group.accepts);
  let count = 0;
  while (count < max && walk.next(size) >= 0) count += 1;
  return count;
}

/**
 * Walks several sorted lists together, smallest volume first: the volumes of one node (or cell) that a group accepts. Each call of `next`
 * must ask for at least the size of the call before.
 */
export class VolumeWalk {
  readonly #index: ClusterIndex;
  readonly #accepts: ((row: number) => boolean) | undefined;
  readonly #lists: readonly number[];
  readonly #slots: number[];

  constructor(
    index: ClusterIndex,
    lists: readonly number[],
    accepts: ((row: number) => boolean) | undefined,
  ) {
    this.#index = index;
    this.#accepts = accepts;
    this.#lists = lists;
    this.#slots = lists.map((list) => index.volumes.lists.starts[list]!);
  }

  /** The row of the smallest volume of at least `size` that has not been returned yet; -1 if there is none. */
  next(size: Size): number {
    const slot = this.nextSlot(size);
    return slot < 0 ? -1 : this.#index.volumes.lists.rows[slot]!;
  }

  /** The same, but returns the slot of the volume in the lists. */
  nextSlot(size: Size): number {
    const { lists } = this.#index.volumes;
    let best = -1;
    let bestAt = -1;
    for (let position = 0; position < this.#lists.length; position++) {
      const list = this.#lists[position]!;
      const slot = firstFit(this.#index, list, {
        size,
        from: this.#slots[position]!,
        accepts: this.#accepts,
      });
      this.#slots[position] = slot;
      if (slot === lists.ends[list]) continue;
      if (best >= 0 && this.#index.volumes.compareRows(lists.rows[slot]!, lists.rows[best]!) >= 0) continue;
      best = slot;
      bestAt = position;
    }
    if (bestAt >= 0) this.#slots[bestAt]! += 1;
    return best;
  }
}

interface FitQuery {
  readonly size: Size;
  readonly from: number;
  readonly accepts: ((row: number) => boolean) | undefined;
}

/** The first slot of a list, from `from` on, that holds an acceptable volume of the size; the list's end if none does. */
export function firstFit(index: ClusterIndex, list: number, { size, from, accepts }: FitQuery): number {
  const { lists } = index.volumes;
  const end = lists.ends[list]!;
  let slot = lists.lowerBound(list, size.bytes, from);
  // Sizes that a double can't represent exactly may tie without being equal.
  while (
    slot < end &&
    lists.bytes[slot] === size.bytes &&
    compareSizes(index.volumes.record(lists.rows[slot]!).size, size) < 0
  )
    slot += 1;
  if (accepts === undefined) return slot;
  while (slot < end && !accepts(lists.rows[slot]!)) slot += 1;
  return slot;
}
