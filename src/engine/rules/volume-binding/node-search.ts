import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { compareVolumes } from '../../cluster-index/volumes/volume-table.ts';
import { addSizes, compareSizes, type Size, subtractSizes, zeroSize } from '../../size.ts';
import { assignAll } from './assignment.ts';
import type { ChosenVolume } from './attach-check.ts';
import {
  type ClaimRequestGroup,
  compareRequests,
  groupOfRequest,
  VolumeWalk,
} from './claim-request-groups.ts';
import type { FreeCapacity } from './free-capacity.ts';
import type { ClaimRequest } from './needs.ts';
import { exactItemsMax } from './packing.ts';
import type { WorkBudget } from './work-budget.ts';

/** For each request of the search, its volume row, or -1 for a new volume. */
export type SearchResult =
  | { readonly kind: 'found'; readonly volumes: readonly number[] }
  | { readonly kind: 'impossible' }
  | { readonly kind: 'gave-up' };

export interface NodeSearch {
  readonly index: ClusterIndex;
  readonly node: number;
  readonly groups: readonly ClaimRequestGroup[];
  /** ClaimRequests outside the groups that will be provisioned in any case. */
  readonly provisioned: readonly ClaimRequest[];
  readonly capacity: FreeCapacity;
  readonly budget: WorkBudget;
  /** Whether a new volume could be provisioned alone; together with others there may be too little capacity. */
  canProvision(request: ClaimRequest): boolean;
  /** Whether the node can attach these volumes; undefined if nothing limits it. */
  readonly canAttach: ((chosen: readonly ChosenVolume[]) => boolean) | undefined;
}

/**
 * Searches all ways to serve the requests of a pod that have a choice, on one node: which get an existing volume, and which a new one. Most
 * existing volumes first, then least waste, then by name. Used if the fast way (each group on its own) does not decide.
 *
 * Exact for up to eight requests, which is 256 ways to divide them. For more requests it tries a single division: requests that can't be provisioned
 * get existing volumes, then as many others as possible. If even the first ones can't be served, that result is certain too.
 */
export function searchNode(search: NodeSearch): SearchResult {
  const requests = search.groups.flatMap((group) => group.requests).sort(compareRequests);
  const options = optionsOf(search, requests);
  const isSmall = requests.length <= exactItemsMax;
  const divisions = isSmall ? allDivisions(options) : [largestDivision(search, options)];
  const possible = divisions.filter((division) => isPossible(options, division));
  let isIncomplete = (!isSmall && possible.length > 0) || options.some((option) => option.isCut);
  for (const level of byNewVolumes(possible)) {
    const { best, isUnknown } = bestOf(search, options, level);
    if (best !== undefined) return found(requests, best);
    isIncomplete ||= isUnknown;
  }
  return isIncomplete || search.budget.isSpent ? gaveUp : impossible;
}

/** The best result of one level; stops with the best so far when the budget is spent. */
function bestOf(search: NodeSearch, options: readonly Option[], level: readonly Division[]) {
  let best: Serving | undefined;
  let isUnknown = false;
  for (const division of level) {
    if (search.budget.isSpent) break;
    const serving = serve(search, options, division);
    if (serving === 'unknown') isUnknown = true;
    else if (serving !== undefined && (best === undefined || compareServings(search, serving, best) < 0))
      best = serving;
  }
  return { best, isUnknown };
}

const impossible: SearchResult = { kind: 'impossible' };
const gaveUp: SearchResult = { kind: 'gave-up' };

/** The volumes that one request can use on this node, and whether a new one can be provisioned. */
interface Option {
  readonly request: ClaimRequest;
  /** As many of the smallest volumes as there are requests: the other requests can't use all of them. */
  readonly volumes: readonly number[];
  readonly isCut: boolean;
  readonly canProvision: boolean;
}

/** For each request: does it get a new volume? */
type Division = readonly boolean[];

interface Serving {
  readonly division: Division;
  readonly volumes: readonly number[];
  readonly waste: Size;
}

function found(requests: readonly ClaimRequest[], serving: Serving): SearchResult {
  const volumes: number[] = [];
  for (const [position, request] of requests.entries())
    volumes[request.position] = serving.volumes[position]!;
  return { kind: 'found', volumes };
}

function optionsOf(search: NodeSearch, requests: readonly ClaimRequest[]): Option[] {
  return requests.map((request) => ({
    request,
    ...smallestVolumes(search, request, requests.length),
    canProvision: search.canProvision(request),
  }));
}

/** If drivers have attach limits, a larger volume may fit, if it has another driver or is already attached. */
const attachCandidatesMax = 64;

/** The smallest volumes that a request accepts here, as many as can matter. */
function smallestVolumes(search: NodeSearch, request: ClaimRequest, wantCount: number): VolumeChoice {
  const { index, node, groups, canAttach, budget } = search;
  const group = groupOfRequest(groups, request)!;
  const max = canAttach === undefined ? wantCount : attachCandidatesMax;
  const walk = new VolumeWalk(index, group.partition.itemsAt(node), group.accepts);
  const volumes: number[] = [];
  let row = walk.next(request.size);
  while (row >= 0 && volumes.length < max && budget.spend(1)) {
    volumes.push(row);
    row = walk.next(request.size);
  }
  return { volumes, isCut: canAttach !== undefined && row >= 0 };
}

interface VolumeChoice {
  readonly volumes: readonly number[];
  /** There were more volumes that could have mattered. */
  readonly isCut: boolean;
}

function allDivisions(options: readonly Option[]): Division[] {
  return Array.from({ length: 1 << options.length }, (_, set) =>
    options.map((__, position) => (set & (1 << position)) !== 0),
  );
}

function isPossible(options: readonly Option[], division: Division): boolean {
  return options.every(({ volumes, canProvision }, position) =>
    division[position] ? canProvision : volumes.length > 0,
  );
}

/** As many existing volumes as possible: first for requests that can't be provisioned, then for the largest. */
function largestDivision(search: NodeSearch, options: readonly Option[]): Division {
  const order = options.map((_, position) => position).sort((a, b) => rank(a) - rank(b) || b - a);
  const served: number[] = [];
  for (const position of order) {
    const attempt = [...served, position].sort((a, b) => a - b);
    if (
      assign(
        search,
        attempt.map((member) => options[member]!),
      ) !== undefined
    )
      served.push(position);
  }
  return options.map((_, position) => !served.includes(position));

  function rank(position: number): number {
    return options[position]!.canProvision ? 1 : 0;
  }
}

function byNewVolumes(divisions: readonly Division[]): Division[][] {
  const levels: Division[][] = [];
  for (const division of divisions) {
    const newVolumes = division.filter(Boolean).length;
    levels[newVolumes] ??= [];
    levels[newVolumes]!.push(division);
  }
  return levels.filter((level) => level !== undefined);
}

/** Matching comes before packing: it is cheaper, and rules out most divisions. */
function serve(
  search: NodeSearch,
  options: readonly Option[],
  division: Division,
): Serving | 'unknown' | undefined {
  const kept = options.filter((_, position) => !division[position]);
  const assigned = assign(search, kept);
  if (assigned === undefined) return undefined;
  const provisioned = options.filter((_, position) => division[position]).map(({ request }) => request);
  const packing = search.capacity.packAt(search.node, [...search.provisioned, ...provisioned]);
  if (packing.kind !== 'packed') return packing.kind === 'unknown' ? 'unknown' : undefined;
  const volumes = spread(division, assigned);
  if (search.canAttach === undefined || search.canAttach(chosenOf(options, volumes))) {
    return { division, volumes, waste: wasteOf(search.index, options, volumes) };
  }
  return serveWithinLimits(search, options, division);
}

function assign(search: NodeSearch, options: readonly Option[]): number[] | undefined {
  const { volumes } = search.index;
  return assignAll({
    candidates: options.map((option) => option.volumes),
    compare: (a, b) => volumes.compareRows(a, b),
    isSameSize: (a, b) => compareSizes(volumes.record(a).size, volumes.record(b).size) === 0,
    budget: search.budget,
  });
}

/** The cheapest assignment attaches too many volumes of one driver: searches for another one, depth first. */
function serveWithinLimits(
  search: NodeSearch,
  options: readonly Option[],
  division: Division,
): Serving | 'unknown' | undefined {
  const volumes: number[] = new Array(options.length).fill(-1);
  let best: Serving | undefined;
  const visit = (position: number): void => {
    if (!search.budget.spend(1)) return;
    if (position === options.length) {
      if (!search.canAttach!(chosenOf(options, volumes))) return;
      const serving = { division, volumes: [...volumes], waste: wasteOf(search.index, options, volumes) };
      if (best === undefined || compareServings(search, serving, best) < 0) best = serving;
      return;
    }
    if (division[position]) {
      visit(position + 1);
      return;
    }
    for (const row of options[position]!.volumes) {
      if (volumes.includes(row)) continue;
      volumes[position] = row;
      visit(position + 1);
      volumes[position] = -1;
    }
  };
  visit(0);
  return best ?? (search.budget.isSpent ? 'unknown' : undefined);
}

function chosenOf(options: readonly Option[], volumes: readonly number[]): ChosenVolume[] {
  return options.map(({ request }, position) => ({ request, row: volumes[position]! }));
}

function spread(division: Division, assigned: readonly number[]): number[] {
  let next = 0;
  return division.map((isNew) => (isNew ? -1 : assigned[next++]!));
}

function wasteOf(index: ClusterIndex, options: readonly Option[], volumes: readonly number[]): Size {
  let waste = zeroSize;
  for (const [position, row] of volumes.entries()) {
    if (row < 0) continue;
    waste = addSizes(waste, subtractSizes(index.volumes.record(row).size, options[position]!.request.size));
  }
  return waste;
}

/** Less waste first; then the earlier request with an existing, smaller, first-named volume. */
function compareServings({ index }: NodeSearch, a: Serving, b: Serving): number {
  const byWaste = compareSizes(a.waste, b.waste);
  if (byWaste !== 0) return byWaste;
  for (const [position, left] of a.volumes.entries()) {
    const right = b.volumes[position]!;
    if (left === right) continue;
    if (left < 0 || right < 0) return left < 0 ? 1 : -1;
    return compareVolumes(index.volumes.record(left), index.volumes.record(right));
  }
  return 0;
}
