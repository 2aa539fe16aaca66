import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { areDrivesAwaited } from '../../cluster-index/pools/pool-lookup.ts';
import type { ChosenVolumes, Cycle } from '../framework/cycle.ts';
import type { AttachDemand } from '../volume-limits/attach-demand.ts';
import { AttachCheck, type ChosenVolume } from './attach-check.ts';
import { FreeCapacity, type PoolPlan, withoutGroup } from './free-capacity.ts';
import type { VolumeNeeds, Want } from './needs.ts';
import { type NodeSearch, type SearchResult, searchNode } from './node-search.ts';
import { StaticChoice } from './static-choice.ts';
import { bit } from './verdict-bits.ts';
import {
  compareWants,
  familiesOf,
  familyOfWant,
  serveLargest,
  VolumeWalk,
  type WantFamily,
} from './want-families.ts';
import { WorkBudget } from './work-budget.ts';

/** Steps of exact search in one plan: some tenths of a second for any input. */
const searchStepsMax = 10_000_000;
/** The cost of checking a pod's volumes against a node's attach limits, in steps. */
const attachCost = 100;

/**
 * How a pod would get the volumes that it wants, on every node.
 *
 * First the fast way, for all nodes at once: each family takes its smallest volumes, and the remaining wants are provisioned. That decides a
 * node, unless wants of different families compete for the same volumes, or capacity or attach slots run out while another division of the
 * wants might need fewer. Those nodes are searched one by one.
 */
export class Solution implements ChosenVolumes {
  readonly choice: StaticChoice;
  readonly capacity: FreeCapacity;
  readonly #families: readonly WantFamily[];
  readonly #index: ClusterIndex;
  readonly #needs: VolumeNeeds;
  readonly #budget = new WorkBudget(searchStepsMax);
  readonly #isExact: boolean;
  /** kube-scheduler's order of the volumes to provision: pinned claims in the pod's order, then by size. */
  readonly #provisioningOrder: readonly Want[];
  readonly #attach: AttachCheck;
  readonly #hasPins: boolean;
  readonly #hasContention: boolean;
  readonly #hasLargeFamilies: boolean;

  constructor(cycle: Cycle, needs: VolumeNeeds) {
    this.#index = cycle.index;
    this.#needs = needs;
    this.capacity = new FreeCapacity(cycle, needs.wants, this.#budget);
    this.#families = familiesOf(cycle.index, needs.wants);
    this.choice = new StaticChoice(cycle.index, needs.wants);
    this.#isExact = cycle.index.profile.assignment === 'exact';
    this.#attach = new AttachCheck(cycle, needs);
    this.#provisioningOrder = [...needs.wants].sort(compareProvisioning);
    this.#hasPins = needs.wants.some((want) => want.pinnedNode !== undefined);
    this.#hasContention = this.#families.some((family) => family.isContended);
    this.#hasLargeFamilies = this.#families.some((family) => family.wants.length > 1);
    for (const want of needs.wants) this.choice.fillReserved(want);
    for (const family of this.#families) this.choice.fillFamily(family, cycle.onlyRow);
  }

  /** Whether the fast way has decided that the node fits. Most nodes are decided this way, so this must be very cheap. */
  isServed(node: number): boolean {
    const isPlain = !this.#hasPins && !this.#hasContention;
    return (
      isPlain && this.choice.servesAll(this.#needs.wants.length, node) && this.#attach.hasEnoughSlots(node)
    );
  }

  /** Decides a node and returns its obstacles as verdict bits; 0 if it fits. */
  solve(node: number): number {
    if (this.#hasPins && this.#isPinnedElsewhere(node)) return bit.ClaimPinnedElsewhere;
    if (this.#hasContention && this.#hasConflict(node)) {
      return this.#isExact ? this.#resolveConflict(node) : this.#takeAscending(node);
    }
    if (this.#isExact && this.#hasLargeFamilies) this.#serveLargestWants(node);
    const obstacles = this.#provisioningObstacles(node);
    if (obstacles === 0) return this.#checkLimits(node);
    return this.#hasAlternatives(node, obstacles) ? this.#search(node, obstacles) : obstacles;
  }

  /** Wants that get a new volume on a node that has been solved. */
  provisionedAt(node: number): Want[] {
    return this.#provisioningOrder.filter((want) => this.choice.at(want.position, node) < 0);
  }

  /** What each want gets on a node that has been solved. */
  chosenAt(node: number): ChosenVolume[] {
    return this.#needs.wants.map((want) => ({ want, row: this.choice.at(want.position, node) }));
  }

  /** Pools for the wants that get a new volume on a node that has been solved. A solution exists, so the search has a budget of its own. */
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
    for (const { pinnedNode } of this.#needs.wants) {
      if (pinnedNode !== undefined && pinnedNode !== this.#index.nodes.record(node)!.key) return true;
    }
    return false;
  }

  /** Whether two wants of different families chose the same volume, or one got none while families share volumes. */
  #hasConflict(node: number): boolean {
    const seen: number[] = [];
    for (const family of this.#families) {
      if (!family.isContended) continue;
      for (const want of family.wants) {
        const row = this.choice.at(want.position, node);
        if (row < 0 || seen.includes(row)) return true;
        seen.push(row);
      }
    }
    return false;
  }

  /** Wants without a choice come first: if one of them fails, no division of the others helps. */
  #resolveConflict(node: number): number {
    const unavoidable = this.#provisioningOrder
      .filter((want) => !this.#isFree(want) && this.choice.at(want.position, node) < 0)
      .reduce((obstacles, want) => obstacles | this.provisioningObstacle(want, node), 0);
    if (unavoidable !== 0) return unavoidable;
    return this.#search(node, this.#provisioningObstacles(node) || bit.NoVolumeFits);
  }

  #isFree(want: Want): boolean {
    return familyOfWant(this.#families, want) !== undefined;
  }

  /** Why the wants without a volume can't be provisioned here; for the profile `upstream` only the first obstacle, as in kube-scheduler. */
  #provisioningObstacles(node: number): number {
    let obstacles = 0;
    let tracked = 0;
    for (const want of this.#provisioningOrder) {
      if (this.choice.at(want.position, node) >= 0) continue;
      const obstacle = this.provisioningObstacle(want, node);
      obstacles |= obstacle;
      if (obstacle !== 0 && !this.#isExact) return obstacle;
      if (this.capacity.isTracked(want)) tracked += 1;
    }
    if (obstacles !== 0 || tracked < 2) return obstacles;
    const fits = this.capacity.fitsOnePool(node, tracked);
    if (fits !== undefined) return fits ? 0 : bit.NotEnoughCapacity;
    return this.#jointProvisioningObstacle(node);
  }

  /** Why a want alone can't get a new volume here; 0 if it can. */
  provisioningObstacle(want: Want, node: number): number {
    if (want.reserved.length > 0 && this.#index.profile.preboundIsFinal) return bit.PreboundVolumeElsewhere;
    if (want.provisioning === undefined) return bit.NoVolumeFits;
    const { allowed } = want.provisioning;
    if (allowed !== this.#index.everyNode && !allowed.nodes.has(node)) return bit.TopologyNotAllowed;
    if (!this.capacity.isTracked(want) || this.capacity.column(want)[node]! >= 0) return 0;
    if (areDrivesAwaited(this.#index, want.provisioning.driver)) return bit.NoDriveAdded;
    if (this.capacity.isOfOtherKind(want, node)) return bit.NoDriveOfKind;
    return this.capacity.isKeptAway(want, node) ? bit.TooFewDrivesToSpread : bit.NotEnoughCapacity;
  }

  #jointProvisioningObstacle(node: number): number {
    const wants = this.provisionedAt(node);
    const packing = this.capacity.packAt(node, wants);
    if (packing.kind === 'packed') return 0;
    if (packing.kind === 'unknown') return bit.SearchBoundReached;
    const isSpread = wants.some((want) => want.provisioning?.spreadGroup !== undefined);
    const isKeptAway = isSpread && this.capacity.packAt(node, wants.map(withoutGroup)).kind === 'packed';
    return isKeptAway ? bit.TooFewDrivesToSpread : bit.NotEnoughCapacity;
  }

  /** Whether another division of the wants could help. Not if no want has an existing volume here, or if other obstacles remain. */
  #hasAlternatives(node: number, obstacles: number): boolean {
    if (!this.#isExact || (obstacles & ~avoidableObstacles) !== 0) return false;
    return this.#families.some(({ wants }) => wants.some((want) => this.choice.at(want.position, node) >= 0));
  }

  /** If a family is served only in part, it matters which of its wants get the volumes: the largest waste least. */
  #serveLargestWants(node: number): void {
    for (const family of this.#families) {
      const { wants } = family;
      const isPartlyServed =
        this.choice.at(wants[0]!.position, node) >= 0 && this.choice.at(wants.at(-1)!.position, node) < 0;
      if (!isPartlyServed || wants[0]!.provisioning === undefined) continue;
      const rows = serveLargest(this.#index, family, family.partition.itemsAt(node));
      for (const [member, want] of wants.entries()) this.choice.set(want.position, node, rows[member]!);
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
      families: this.#families,
      provisioned: this.provisionedAt(node).filter((want) => !this.#isFree(want)),
      capacity: this.capacity,
      budget: this.#budget,
      canProvision: (want) => this.provisioningObstacle(want, node) === 0,
      canAttach,
    });
  }

  #take(node: number, volumes: readonly number[]): void {
    for (const family of this.#families) {
      for (const want of family.wants) this.choice.set(want.position, node, volumes[want.position]!);
    }
  }

  /** kube-scheduler's way if families compete: all wants from the smallest, each gets the smallest remaining volume. */
  #takeAscending(node: number): number {
    const taken = new Set<number>();
    for (const want of [...this.#families.flatMap((family) => family.wants)].sort(compareWants)) {
      const family = familyOfWant(this.#families, want)!;
      const walk = new VolumeWalk(this.#index, family.partition.itemsAt(node), family.accepts);
      let row = walk.next(want.size);
      while (taken.has(row)) row = walk.next(want.size);
      if (row >= 0) taken.add(row);
      this.choice.set(want.position, node, row);
    }
    return this.#provisioningObstacles(node);
  }

  #checkLimits(node: number): number {
    if (this.#attach.hasEnoughSlots(node)) return 0;
    const obstacles = this.#attach.obstacles(node, this.chosenAt(node));
    if (obstacles === 0 || !this.#hasAlternatives(node, obstacles)) return obstacles;
    const fixed = this.chosenAt(node).filter(({ want }) => !this.#isFree(want));
    const result = this.#searchWith(node, (chosen) => {
      this.#budget.spend(attachCost);
      return this.#attach.obstacles(node, [...fixed, ...chosen]) === 0;
    });
    if (result.kind !== 'found') return result.kind === 'gave-up' ? bit.SearchBoundReached : obstacles;
    this.#take(node, result.volumes);
    return 0;
  }
}

/** Obstacles that another division of the wants might avoid. */
const avoidableObstacles =
  bit.NotEnoughCapacity |
  bit.NoDriveAdded |
  bit.NoDriveOfKind |
  bit.TooFewDrivesToSpread |
  bit.AttachLimitReached |
  bit.DriverNotInstalled;

function compareProvisioning(a: Want, b: Want): number {
  const isPinned = a.pinnedNode !== undefined;
  if (isPinned !== (b.pinnedNode !== undefined)) return isPinned ? -1 : 1;
  return isPinned ? a.position - b.position : compareWants(a, b);
}
