import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import type { StorageCandidate } from '../rules/framework/finding.ts';

/** What came closest to serving one claim, over all nodes. */
export interface ClaimCandidates {
  readonly claim: string;
  readonly candidates: readonly PlacedCandidate[];
  /** How many more came less close. */
  readonly omitted: number;
}

export interface PlacedCandidate extends StorageCandidate {
  /** A node from which it looked like this. */
  readonly node: string;
}

/** Each volume and pool once, as the node saw it from which it was closest. */
export function closestCandidates(
  nodes: readonly NodeExplanation[],
  max: number,
): readonly ClaimCandidates[] {
  const byClaim = new Map<string, SeenByKind>();
  for (const { node, findings } of nodes) {
    for (const { claim, candidates } of findings) {
      if (claim === undefined || candidates.length === 0) continue;
      const known = byClaim.get(claim) ?? { volume: new Map(), pool: new Map() };
      byClaim.set(claim, known);
      for (const candidate of candidates) keepCloser(known, candidate, node);
    }
  }
  return [...byClaim].map(([claim, known]) => {
    const ranked = [...known.volume.values(), ...known.pool.values()].sort(
      ({ candidate: a }, { candidate: b }) => compare(a, b) || (a.name < b.name ? -1 : 1),
    );
    const candidates = ranked.slice(0, max).map(({ candidate, node }) => ({ ...candidate, node }));
    return { claim, candidates, omitted: ranked.length - candidates.length };
  });
}

interface Seen {
  readonly candidate: StorageCandidate;
  readonly node: string;
}

/** By name. */
type SeenByKind = { readonly [K in StorageCandidate['kind']]: Map<string, Seen> };

/** A volume is seen from most nodes in the same way, so that little is to be kept. */
function keepCloser(known: SeenByKind, candidate: StorageCandidate, node: string): void {
  const { kind, name } = candidate;
  const before = known[kind].get(name);
  if (before === undefined || compare(candidate, before.candidate) < 0)
    known[kind].set(name, { candidate, node });
}

function compare(a: StorageCandidate, b: StorageCandidate): number {
  return a.obstacles.length - b.obstacles.length || shortageOf(a) - shortageOf(b);
}

/** Something that isn't short of bytes is no further away than anything else with as many obstacles. */
function shortageOf({ obstacles }: StorageCandidate): number {
  return obstacles.reduce((sum, { margin }) => {
    if (margin === undefined) return sum;
    return sum + margin.needed.bytes - (margin.free.bytes - margin.promised.bytes);
  }, 0);
}
