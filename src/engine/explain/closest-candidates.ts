import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import type { StorageCandidate } from '../rules/framework/finding.ts';

/** The volumes and pools that came closest to serving one claim, over all nodes. */
export interface ClaimCandidates {
  readonly claim: string;
  readonly candidates: readonly PlacedCandidate[];
  /** How many more there are, which came less close. */
  readonly omitted: number;
}

export interface PlacedCandidate extends StorageCandidate {
  /** The node for which it has these obstacles. */
  readonly node: string;
}

/** Each volume and pool once, with the node for which it came closest. */
export function closestCandidates(
  nodes: readonly NodeExplanation[],
  max: number,
): readonly ClaimCandidates[] {
  const byClaim = new Map<string, SeenByKind>();
  for (const { node, findings } of nodes) {
    for (const { claim, candidates } of findings) {
      if (claim === undefined || candidates.length === 0) continue;
      const known = byClaim.get(claim) ?? { volume: new Map(), pool: new Map(), drive: new Map() };
      byClaim.set(claim, known);
      for (const candidate of candidates) keepCloser(known, candidate, node);
    }
  }
  return [...byClaim].map(([claim, known]) => {
    const ranked = [...known.volume.values(), ...known.pool.values(), ...known.drive.values()].sort(
      ({ candidate: a }, { candidate: b }) => compare(a, b) || (a.name < b.name ? -1 : 1),
    );
    const candidates = ranked.slice(0, max).map(({ candidate, node }) => ({ ...candidate, node }));
    return { claim, candidates, omitted: ranked.length - candidates.length };
  });
}

interface SeenCandidate {
  readonly candidate: StorageCandidate;
  readonly node: string;
}

/** Keyed by name. */
type SeenByKind = { readonly [K in StorageCandidate['kind']]: Map<string, SeenCandidate> };

/** A volume has the same obstacles for most nodes, so one entry for each volume is enough. */
function keepCloser(known: SeenByKind, candidate: StorageCandidate, node: string): void {
  const { kind, name } = candidate;
  const before = known[kind].get(name);
  if (before === undefined || compare(candidate, before.candidate) < 0)
    known[kind].set(name, { candidate, node });
}

function compare(a: StorageCandidate, b: StorageCandidate): number {
  return obstacleCount(a) - obstacleCount(b) || shortageOf(a) - shortageOf(b);
}

/** A full pool is short of free capacity, and therefore of the largest volume too; that is one obstacle, not two. */
function obstacleCount({ obstacles }: StorageCandidate): number {
  const others = obstacles.filter(({ margin }) => margin === undefined).length;
  return others + (others < obstacles.length ? 1 : 0);
}

/** A candidate that is not short of bytes counts as close as any other with the same number of obstacles. */
function shortageOf({ obstacles }: StorageCandidate): number {
  return obstacles.reduce((most, { margin }) => {
    if (margin === undefined) return most;
    return Math.max(most, margin.needed.bytes - (margin.free.bytes - margin.promised.bytes));
  }, 0);
}
