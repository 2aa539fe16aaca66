import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { addSizes, zeroSize } from '../../size.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import type { NodeReason } from '../reasons.ts';
import { attachFindings } from '../volume-limits/attach-demand.ts';
import type { BindingState } from './binding-state.ts';
import { reaches } from './bound-volumes.ts';
import { otherDriveCandidate, poolCandidate, poolMargin, rankedPools } from './nearby-pools.ts';
import type { BoundNeed, ClaimRequest } from './needs.ts';
import { type BindingReason, bindingReasons, bit } from './verdict-bits.ts';

/** The closest candidates are listed, the others only counted. */
const candidatesMax = 5;
const ruleName = 'VolumeBinding';

/** All obstacles on one node, claim by claim, with the candidates that came close. */
export function explainVolumes(state: BindingState, cycle: Cycle, node: number): readonly Finding[] {
  const question = { index: cycle.index, state, node };
  const bound = state.needs.bound.flatMap((need) => explainBound(question, need));
  const obstacles = state.needs.requests.length === 0 ? 0 : state.solution.solve(node);
  if (obstacles === 0) return bound;
  const alone = state.needs.requests.flatMap((request) => explainAlone(question, request));
  const unexplained = alone.reduce(
    (rest, { reason }) => rest & ~(bit[reason as BindingReason] ?? 0),
    obstacles,
  );
  return [...bound, ...alone, ...(unexplained === 0 ? [] : explainTogether(question, unexplained))];
}

interface Question {
  readonly index: ClusterIndex;
  readonly state: BindingState;
  readonly node: number;
}

function explainBound({ index, node }: Question, { claim, row }: BoundNeed): Finding[] {
  if (row === undefined) return [finding('BoundVolumeMissing', claim.key)];
  if (reaches(index, row, node)) return [];
  const { key } = index.volumes.record(row);
  const obstacles = [{ code: 'OtherNode', margin: undefined } as const];
  return [
    {
      ...finding('BoundVolumeUnreachable', claim.key),
      candidates: [{ kind: 'volume', name: key, obstacles }],
    },
  ];
}

/** The obstacles of one request alone; empty if it could be served alone. */
function explainAlone(question: Question, request: ClaimRequest): Finding[] {
  const { index, state, node } = question;
  if (request.pinnedNode !== undefined && request.pinnedNode !== index.nodes.record(node)!.key) {
    return [finding('ClaimPinnedElsewhere', request.name)];
  }
  if (request.reserved.some((row) => index.volumes.topology(row).nodes.has(node))) return [];
  // A request that is pinned or has a reserved volume can't choose among the available volumes.
  const mayChoose = request.pinnedNode === undefined && request.reserved.length === 0;
  if (mayChoose && state.nearby.of(request)?.servesAlone(node) === true) return [];
  const obstacle = state.solution.provisioningObstacle(request, node);
  return bindingReasons
    .filter((reason) => (obstacle & bit[reason]) !== 0)
    .map((reason) => {
      if (reason === 'NoDriveOfKind') return withOtherDrives(question, request);
      return reason === 'NotEnoughCapacity' || reason === 'TooFewDrivesToSpread'
        ? withPools(question, reason, request)
        : withVolumes(question, reason, request);
    });
}

/** The drives of the node, each with the reason that excludes it. */
function withOtherDrives({ index, state, node }: Question, request: ClaimRequest): Finding {
  const rows = state.solution.capacity.drivesAt(node);
  return {
    ...finding('NoDriveOfKind', request.name),
    candidates: rows.slice(0, candidatesMax).map((row) => otherDriveCandidate(index, request, row)),
    omitted: Math.max(0, rows.length - candidatesMax),
  };
}

/** Each request could be served alone: lists what they compete for. */
function explainTogether(question: Question, obstacles: number): Finding[] {
  const { index, state, node } = question;
  const { solution, needs } = state;
  if ((obstacles & (bit.AttachLimitReached | bit.DriverNotInstalled)) !== 0) {
    return attachFindings(ruleName, solution.attachDemand(node), index.nodes.record(node)!.key);
  }
  if ((obstacles & bit.SearchBoundReached) !== 0) return [finding('SearchBoundReached', undefined)];
  const free = needs.requests.filter(
    (request) => request.pinnedNode === undefined && request.reserved.length === 0,
  );
  const tracked = free.filter((request) => solution.capacity.isTracked(request));
  const needed = tracked.reduce((sum, { size }) => addSizes(sum, size), zeroSize);
  return free.map((request) => {
    const isOfPools = (obstacles & (bit.NotEnoughCapacity | bit.TooFewDrivesToSpread)) !== 0;
    if (!isOfPools || !tracked.includes(request))
      return betweenSiblings(withVolumes(question, 'VolumesNotTogether', request));
    if ((obstacles & bit.TooFewDrivesToSpread) !== 0)
      return betweenSiblings(withPools(question, 'TooFewDrivesToSpread', request));
    const found = betweenSiblings(withPools(question, 'CapacityNotTogether', request));
    return found.margin?.unit === 'bytes' ? { ...found, margin: { ...found.margin, needed } } : found;
  });
}

/** A candidate without obstacles is used by another claim of the pod. */
function betweenSiblings(found: Finding): Finding {
  const taken = [{ code: 'TakenBySibling', margin: undefined } as const];
  const candidates = found.candidates.map((candidate) =>
    candidate.obstacles.length > 0 ? candidate : { ...candidate, obstacles: taken },
  );
  return { ...found, candidates };
}

function withVolumes({ state, node }: Question, reason: NodeReason, request: ClaimRequest): Finding {
  const close = state.nearby.of(request)?.at(node, candidatesMax);
  const candidates = close?.candidates ?? [];
  return { ...finding(reason, request.name), candidates, omitted: (close?.total ?? 0) - candidates.length };
}

function withPools({ index, state, node }: Question, reason: NodeReason, request: ClaimRequest): Finding {
  const { capacity } = state.solution;
  const rows = rankedPools(index, capacity, request, node);
  const [best] = rows;
  return {
    ...finding(reason, request.name),
    candidates: rows.slice(0, candidatesMax).map((row) => poolCandidate(index, capacity, request, row)),
    omitted: Math.max(0, rows.length - candidatesMax),
    margin: best === undefined ? undefined : poolMargin(index, request, best),
  };
}

function finding(reason: NodeReason, claim: string | undefined): Finding {
  return { rule: ruleName, reason, claim, candidates: [], omitted: 0, margin: undefined };
}
