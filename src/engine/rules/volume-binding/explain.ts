import type { ClusterIndex } from '../../index/cluster-index.ts';
import { addSizes, zeroSize } from '../../size.ts';
import type { Cycle } from '../cycle.ts';
import type { Finding } from '../finding.ts';
import type { NodeReason } from '../reasons.ts';
import { attachFindings } from '../volume-limits/attach-demand.ts';
import { reaches } from './bound-volumes.ts';
import { poolCandidate, poolMargin, rankedPools } from './nearby-pools.ts';
import type { VolumeNeeds, Want } from './needs.ts';
import type { BindingState, Solution } from './solution.ts';
import { type BindingReason, bit } from './verdict-bits.ts';

/** Closest first; the rest is counted. */
const candidatesMax = 5;
const ruleName = 'VolumeBinding';

/** Everything that stands in the way on one node, claim by claim, with what came close. */
export function explainVolumes(
  { needs, solution }: BindingState,
  cycle: Cycle,
  node: number,
): readonly Finding[] {
  const findings = explainBound(cycle.index, needs, node);
  if (needs.wants.length === 0) return findings;
  const obstacles = solution.solve(node);
  if (obstacles === 0) return findings;
  const alone = needs.wants.flatMap((want) => explainWant(cycle, solution, want, node));
  const unexplained = alone.reduce(
    (rest, { reason }) => rest & ~(bit[reason as BindingReason] ?? 0),
    obstacles,
  );
  if (unexplained === 0) return [...findings, ...alone];
  return [
    ...findings,
    ...alone,
    ...explainTogether(cycle, needs, solution, { node, obstacles: unexplained }),
  ];
}

function explainBound(index: ClusterIndex, needs: VolumeNeeds, node: number): Finding[] {
  return needs.bound.flatMap(({ claim, row }) => {
    if (row === undefined) return [finding('BoundVolumeMissing', claim.key)];
    if (reaches(index, row, node)) return [];
    const volume = index.volumes.record(row);
    return [
      {
        ...finding('BoundVolumeUnreachable', claim.key),
        candidates: [
          { kind: 'volume', name: volume.key, obstacles: [{ code: 'OtherNode', margin: undefined }] },
        ],
      } as const,
    ];
  });
}

/** What stops one want by itself; nothing if it could be served alone. */
function explainWant(cycle: Cycle, solution: Solution, want: Want, node: number): Finding[] {
  const { index } = cycle;
  const nodeName = index.nodes.record(node)!.key;
  if (want.pinnedNode !== undefined && want.pinnedNode !== nodeName)
    return [finding('ClaimPinnedElsewhere', want.name)];
  if (want.reserved.some((row) => index.volumes.topology(row).nodes.has(node))) return [];
  if (want.reserved.length > 0 && index.profile.preboundIsFinal) {
    return [withVolumes(solution, 'PreboundVolumeElsewhere', want, node)];
  }
  if (want.pinnedNode === undefined && solution.nearby(want)?.servesAlone(node) === true) return [];
  const making = want.making;
  if (making === undefined) return [withVolumes(solution, 'NoVolumeFits', want, node)];
  if (!making.allowed.nodes.has(node)) return [withVolumes(solution, 'TopologyNotAllowed', want, node)];
  if (solution.room.isTracked(want) && solution.room.column(want)[node]! < 0) {
    return [withPools(cycle, 'NotEnoughCapacity', { solution, want, node })];
  }
  return [];
}

/** Each could be served alone: say what they compete for. */
function explainTogether(
  cycle: Cycle,
  needs: VolumeNeeds,
  solution: Solution,
  { node, obstacles }: { readonly node: number; readonly obstacles: number },
): Finding[] {
  if ((obstacles & (bit.AttachLimitReached | bit.DriverNotInstalled)) !== 0) {
    return attachFindings(ruleName, solution.attachDemand(node), cycle.index.nodes.record(node)!.key);
  }
  if ((obstacles & bit.SearchBoundReached) !== 0) return [finding('SearchBoundReached', undefined)];
  const free = needs.wants.filter((want) => want.pinnedNode === undefined && want.reserved.length === 0);
  const tracked = free.filter((want) => solution.room.isTracked(want));
  const needed = tracked.reduce((sum, { size }) => addSizes(sum, size), zeroSize);
  return free.map((want) => {
    if ((obstacles & bit.NotEnoughCapacity) === 0 || !tracked.includes(want)) {
      return betweenSiblings(withVolumes(solution, 'VolumesNotTogether', want, node));
    }
    const found = betweenSiblings(withPools(cycle, 'CapacityNotTogether', { solution, want, node }));
    return { ...found, margin: found.margin && { ...found.margin, needed } };
  });
}

/** A candidate that nothing stops was taken by another claim of the pod. */
function betweenSiblings(found: Finding): Finding {
  const candidates = found.candidates.map((candidate) =>
    candidate.obstacles.length > 0
      ? candidate
      : { ...candidate, obstacles: [{ code: 'TakenBySibling', margin: undefined } as const] },
  );
  return { ...found, candidates };
}

function withVolumes(solution: Solution, reason: NodeReason, want: Want, node: number): Finding {
  const { candidates, total } = solution.nearby(want)?.at(node, candidatesMax) ?? {
    candidates: [],
    total: 0,
  };
  return { ...finding(reason, want.name), candidates, omitted: total - candidates.length };
}

interface PoolQuestion {
  readonly solution: Solution;
  readonly want: Want;
  readonly node: number;
}

function withPools({ index }: Cycle, reason: NodeReason, { solution, want, node }: PoolQuestion): Finding {
  const [best, ...others] = rankedPools(index, solution.room, want, node);
  const candidates = (best === undefined ? [] : [best, ...others]).map((row) =>
    poolCandidate(index, solution.room, want, row),
  );
  return {
    ...finding(reason, want.name),
    candidates: candidates.slice(0, candidatesMax),
    omitted: Math.max(0, candidates.length - candidatesMax),
    margin: best === undefined ? undefined : poolMargin(index, want, best),
  };
}

function finding(reason: NodeReason, claim: string | undefined): Finding {
  return { rule: ruleName, reason, claim, candidates: [], omitted: 0, margin: undefined };
}
