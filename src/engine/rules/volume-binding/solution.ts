import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { areDrivesAwaited } from '../../cluster-index/pools/pool-lookup.ts';
import type { ChosenVolumes, Cycle } from '../framework/cycle.ts';
import type { AttachDemand } from '../volume-limits/attach-demand.ts';
import { AttachCheck, type ChosenVolume } from './attach-check.ts';
import {
  type ClaimRequestGroup,
  compareRequests,
  groupOfRequest,
  groupsOf,
  serveLargest,
  VolumeWalk,
} from './claim-request-groups.ts';
import { FreeCapacity, type PoolPlan, withoutGroup } from './free-capacity.ts';
import type { ClaimRequest, VolumeNeeds } from './needs.ts';
import { type NodeSearch, type SearchResult, searchNode } from './node-search.ts';
import { StaticChoice } from './static-choice.ts';
import { bit } from './verdict-bits.ts';
import { WorkBudget } from './work-budget.ts';

/** Steps of exact search in one plan: some tenths of a second for any input. */
const searchStepsMax = 10_000_000;
/** The cost of checking a pod's volumes against a node's attach limits, in steps. */
const attachCost = 100;

/**
 * How a pod would get the volumes that it wants, on every node.
 *
 * First the fast way, for all nodes together: each group takes its smallest volumes, and the remaining requests are provisioned. That decides a
 * node, unless requests of different groups compete for the same volumes, or capacity or attach slots run out while another division of the
 * requests might need fewer. Those nodes are searched one by one.
 */
export class Solution implements ChosenVolumes {
  readonly choice: StaticChoice;
  readonly capacity: FreeCapacity;
  readonly #groups: readonly ClaimRequestGroup[];
  readonly #index: ClusterIndex;
  readonly #needs: VolumeNeeds;
  readonly #budget = new WorkBudget(searchStepsMax);
  readonly #isExact: boolean;
  /** kube-scheduler's order of the volumes to provision: pinned claims in the pod's order, then by size. */
  readonly #provisioningOrder: readonly ClaimRequest[];
  readonly #attach: AttachCheck;
  readonly #hasPins: boolean;
  readonly #hasContention: boolean;
  readonly #hasLargeFamilies: boolean;

  constructor(cycle: Cycle, needs: VolumeNeeds) {
    this.#index = cycle.index;
    this.#needs = needs;
    this.capacity = new FreeCapacity(cycle, needs.requests, this.#budget);
    this.#groups = groupsOf(cycle.index, needs.requests);
    this.choice = new StaticChoice(cycle.index, needs.requests);
    this.#isExact = cycle.index.profile.assignment === 'exact';
    this.#attach = new AttachCheck(cycle, needs);
    this.#provisioningOrder = [...needs.requests].sort(compareProvisioning);
    this.#hasPins = needs.requests.some((request) => request.pinnedNode !== undefined);
    this.#hasContention = this.#groups.some((group) => group.isContended);
    this.#hasLargeFamilies = this.#groups.some((group) => group.requests.length > 1);
    for (const request of needs.requests) this.choice.fillReserved(request);
    for (const group of this.#groups) this.choice.fillFamily(group, cycle.onlyRow);
  }

  /** Whether the fast way has decided that the node fits. Most nodes are decided this way, so this must be very cheap. */
  isServed(node: number): boolean {
    const isPlain = !this.#hasPins && !this.#hasContention;
    return (
      isPlain && this.choice.servesAll(this.#needs.requests.length, node) && this.#attach.hasEnoughSlots(node)
    );
  }

  /** Decides a node and returns its obstacles as verdict bits; 0 if it fits. */
  solve(node: number): number {
    if (this.#hasPins && this.#isPinnedElsewhere(node)) return bit.ClaimPinnedElsewhere;
    if (this.#hasContention && this.#hasConflict(node)) {
      return this.#isExact ? this.#resolveConflict(node) : this.#takeAscending(node);
    }
    if (this.#isExact && this.#hasLargeFamilies) this.#serveLargestRequests(node);
    const obstacles = this.#provisioningObstacles(node);
    if (obstacles === 0) return this.#checkLimits(node);
    return this.#hasAlternatives(node, obstacles) ? this.#search(node, obstacles) : obstacles;
  }

  /** ClaimRequests that get a new volume on a node that has been solved. */
  provisionedAt(node: number): ClaimRequest[] {
    return this.#provisioningOrder.filter((request) => this.choice.at(request.position, node) < 0);
  }

  /** The volume that each request gets on a node that has been solved. */
  chosenAt(node: number): ChosenVolume[] {
    return this.#needs.requests.map((request) => ({ request, row: this.choice.at(request.position, node) }));
  }

  /** Pools for the requests that get a new volume on a node that has been solved. A solution exists, so the search has its own budget. */
  poolsAt(node: number): PoolPlan {
    return this.capacity.packAt(node, this.provisionedAt(node), new WorkBudget(searchStepsMax));
  }

  attachDemand(node: number): AttachDemand {
    return this.#attach.demand(node, this.chosenAt(node));
  }

  volumesAt(node: number): number[] {
    return this.chosenAt(node).flatMap(({ row }) => (row < 0 ? [] : [row]));
  }

  #isPinnedElsewhere(node: number): boolean {
    for (const { pinnedNode } of this.#needs.requests) {
      if (pinnedNode !== undefined && pinnedNode !== this.#index.nodes.record(node)!.key) return true;
    }
    return false;
  }

  /** Whether two requests of different groups chose the same volume, or one got none while groups share volumes. */
  #hasConflict(node: number): boolean {
    const seen: number[] = [];
    for (const group of this.#groups) {
      if (!group.isContended) continue;
      for (const request of group.requests) {
        const row = this.choice.at(request.position, node);
        if (row < 0 || seen.includes(row)) return true;
        seen.push(row);
      }
    }
    return false;
  }

  /** ClaimRequests without a choice come first: if one of them fails, no division of the others helps. */
  #resolveConflict(node: number): number {
    const unavoidable = this.#provisioningOrder
      .filter((request) => !this.#isFree(request) && this.choice.at(request.position, node) < 0)
      .reduce((obstacles, request) => obstacles | this.provisioningObstacle(request, node), 0);
    if (unavoidable !== 0) return unavoidable;
    return this.#search(node, this.#provisioningObstacles(node) || bit.NoVolumeFits);
  }

  #isFree(request: ClaimRequest): boolean {
    return groupOfRequest(this.#groups, request) !== undefined;
  }

  /** Why the requests without a volume can't be provisioned here; for the profile `upstream` only the first obstacle, as in kube-scheduler. */
  #provisioningObstacles(node: number): number {
    let obstacles = 0;
    let tracked = 0;
    for (const request of this.#provisioningOrder) {
      if (this.choice.at(request.position, node) >= 0) continue;
      const obstacle = this.provisioningObstacle(request, node);
      obstacles |= obstacle;
      if (obstacle !== 0 && !this.#isExact) return obstacle;
      if (this.capacity.isTracked(request)) tracked += 1;
    }
    if (obstacles !== 0 || tracked < 2) return obstacles;
    const fits = this.capacity.fitsOnePool(node, tracked);
    if (fits !== undefined) return fits ? 0 : bit.NotEnoughCapacity;
    return this.#jointProvisioningObstacle(node);
  }

  /** Why a request alone can't get a new volume here; 0 if it can. */
  provisioningObstacle(request: ClaimRequest, node: number): number {
    if (request.reserved.length > 0 && this.#index.profile.preboundIsFinal)
      return bit.PreboundVolumeElsewhere;
    if (request.provisioning === undefined) return bit.NoVolumeFits;
    const { allowed } = request.provisioning;
    if (allowed !== this.#index.everyNode && !allowed.nodes.has(node)) return bit.TopologyNotAllowed;
    if (!this.capacity.isTracked(request) || this.capacity.column(request)[node]! >= 0) return 0;
    if (areDrivesAwaited(this.#index, request.provisioning.driver)) return bit.NoDriveAdded;
    if (this.capacity.isOfOtherKind(request, node)) return bit.NoDriveOfKind;
    return this.capacity.isKeptAway(request, node) ? bit.TooFewDrivesToSpread : bit.NotEnoughCapacity;
  }

  #jointProvisioningObstacle(node: number): number {
    const requests = this.provisionedAt(node);
    const packing = this.capacity.packAt(node, requests);
    if (packing.kind === 'packed') return 0;
    if (packing.kind === 'unknown') return bit.SearchBoundReached;
    const isSpread = requests.some((request) => request.provisioning?.spreadGroup !== undefined);
    const isKeptAway = isSpread && this.capacity.packAt(node, requests.map(withoutGroup)).kind === 'packed';
    return isKeptAway ? bit.TooFewDrivesToSpread : bit.NotEnoughCapacity;
  }

  /** Whether another division of the requests could help. Not if no request has an existing volume here, or if other obstacles remain. */
  #hasAlternatives(node: number, obstacles: number): boolean {
    if (!this.#isExact || (obstacles & ~avoidableObstacles) !== 0) return false;
    return this.#groups.some(({ requests }) =>
      requests.some((request) => this.choice.at(request.position, node) >= 0),
    );
  }

  /** If a group is served only in part, it matters which of its requests get the volumes: the largest waste least. */
  #serveLargestRequests(node: number): void {
    for (const group of this.#groups) {
      const { requests } = group;
      const isPartlyServed =
        this.choice.at(requests[0]!.position, node) >= 0 &&
        this.choice.at(requests.at(-1)!.position, node) < 0;
      if (!isPartlyServed || requests[0]!.provisioning === undefined) continue;
      const rows = serveLargest(this.#index, group, group.partition.itemsAt(node));
      for (const [member, request] of requests.entries())
        this.choice.set(request.position, node, rows[member]!);
    }
  }

  /** `obstacles` is the result of the fast way; it is the answer if the search finds no solution. */
  #search(node: number, obstacles: number): number {
    if (this.#budget.isSpent) return bit.SearchBoundReached;
    const result = this.#searchWith(node, undefined);
    if (result.kind !== 'found') return result.kind === 'gave-up' ? bit.SearchBoundReached : obstacles;
    this.#take(node, result.volumes);
    return this.#checkLimits(node);
  }

  #searchWith(node: number, canAttach: NodeSearch['canAttach']): SearchResult {
    return searchNode({
      index: this.#index,
      node,
      groups: this.#groups,
      provisioned: this.provisionedAt(node).filter((request) => !this.#isFree(request)),
      capacity: this.capacity,
      budget: this.#budget,
      canProvision: (request) => this.provisioningObstacle(request, node) === 0,
      canAttach,
    });
  }

  #take(node: number, volumes: readonly number[]): void {
    for (const group of this.#groups) {
      for (const request of group.requests)
        this.choice.set(request.position, node, volumes[request.position]!);
    }
  }

  /** kube-scheduler's way if groups compete: all requests from the smallest, each gets the smallest remaining volume. */
  #takeAscending(node: number): number {
    const taken = new Set<number>();
    for (const request of [...this.#groups.flatMap((group) => group.requests)].sort(compareRequests)) {
      const group = groupOfRequest(this.#groups, request)!;
      const walk = new VolumeWalk(this.#index, group.partition.itemsAt(node), group.accepts);
      let row = walk.next(request.size);
      while (taken.has(row)) row = walk.next(request.size);
      if (row >= 0) taken.add(row);
      this.choice.set(request.position, node, row);
    }
    return this.#provisioningObstacles(node);
  }

  #checkLimits(node: number): number {
    if (this.#attach.hasEnoughSlots(node)) return 0;
    const obstacles = this.#attach.obstacles(node, this.chosenAt(node));
    if (obstacles === 0 || !this.#hasAlternatives(node, obstacles)) return obstacles;
    const fixed = this.chosenAt(node).filter(({ request }) => !this.#isFree(request));
    const result = this.#searchWith(node, (chosen) => {
      this.#budget.spend(attachCost);
      return this.#attach.obstacles(node, [...fixed, ...chosen]) === 0;
    });
    if (result.kind !== 'found') return result.kind === 'gave-up' ? bit.SearchBoundReached : obstacles;
    this.#take(node, result.volumes);
    return 0;
  }
}

/** Obstacles that another division of the requests might avoid. */
const avoidableObstacles =
  bit.NotEnoughCapacity |
  bit.NoDriveAdded |
  bit.NoDriveOfKind |
  bit.TooFewDrivesToSpread |
  bit.AttachLimitReached |
  bit.DriverNotInstalled;

function compareProvisioning(a: ClaimRequest, b: ClaimRequest): number {
  const isPinned = a.pinnedNode !== undefined;
  if (isPinned !== (b.pinnedNode !== undefined)) return isPinned ? -1 : 1;
  return isPinned ? a.position - b.position : compareRequests(a, b);
}
