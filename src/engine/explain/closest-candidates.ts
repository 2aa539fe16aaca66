import type { Candidate } from '../rules/finding.ts';
import type { NodeExplanation } from './explain.ts';

/** What came closest to serving one claim, over all nodes. */
export interface ClaimCandidates {
  readonly claim: string;
  readonly candidates: readonly PlacedCandidate[];
  /** How many more came less close. */
  readonly omitted: number;
}

export interface PlacedCandidate extends Candidate {
  /** A node from which it looked like this. */
  readonly node: string;
}

/** Each volume and pool once, as the node saw it from which it was closest. */
export function closestCandidates(
  nodes: readonly NodeExplanation[],
  max: number,
): readonly ClaimCandidates[] {
  const byClaim = new Map<string, Map<string, PlacedCandidate>>();
  for (const { node, findings } of nodes) {
    for (const { claim, candidates } of findings) {
      if (claim === undefined || candidates.length === 0) continue;
      const known = byClaim.get(claim) ?? new Map<string, PlacedCandidate>();
      byClaim.set(claim, known);
      for (const candidate of candidates) keepCloser(known, { ...candidate, node });
    }
  }
  return [...byClaim].map(([claim, known]) => {
    const ranked = [...known.values()].sort((a, b) => compare(a, b) || (a.name < b.name ? -1 : 1));
    return { claim, candidates: ranked.slice(0, max), omitted: Math.max(0, ranked.length - max) };
  });
}

function keepCloser(known: Map<string, PlacedCandidate>, candidate: PlacedCandidate): void {
  const key = `${candidate.kind} ${candidate.name}`;
  const before = known.get(key);
  if (before === undefined || compare(candidate, before) < 0) known.set(key, candidate);
}

function compare(a: Candidate, b: Candidate): number {
  return a.obstacles.length - b.obstacles.length || shortageOf(a) - shortageOf(b);
}

/** Something that isn't short of bytes is no further away than anything else with as many obstacles. */
function shortageOf({ obstacles }: Candidate): number {
  return obstacles.reduce((sum, { margin }) => {
    if (margin === undefined) return sum;
    return sum + margin.needed.bytes - (margin.free.bytes - margin.promised.bytes);
  }, 0);
}
