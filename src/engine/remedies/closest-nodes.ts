import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import type { Finding, Margin } from '../rules/framework/finding.ts';

/**
 * Nodes by how close they come: the fewest obstacles, then the smallest missing fraction, then by name. Groups of nodes with different
 * reasons take turns, so that every combination of reasons is considered.
 */
export class ClosestNodes {
  readonly #queues: readonly (readonly Ranked[])[];

  constructor(nodes: readonly NodeExplanation[]) {
    const groups = new Map<string, Ranked[]>();
    for (const explanation of nodes) {
      const { findings } = explanation;
      const key = [...new Set(findings.map(({ reason, claim }) => `${reason} ${claim ?? ''}`))].sort().join();
      const ranked = {
        explanation,
        shortage: findings.reduce((sum, finding) => sum + shortageOf(finding), 0),
      };
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [ranked]);
      else group.push(ranked);
    }
    this.#queues = [...groups.values()]
      .map((group) => group.sort((a, b) => a.shortage - b.shortage))
      .sort((a, b) => findingsOf(a) - findingsOf(b));
  }

  take(max: number): readonly NodeExplanation[] {
    return roundRobin(this.#queues, max);
  }
}

interface Ranked {
  readonly explanation: NodeExplanation;
  readonly shortage: number;
}

function findingsOf([first]: readonly Ranked[]): number {
  return first?.explanation.findings.length ?? 0;
}

function roundRobin(queues: readonly (readonly Ranked[])[], max: number): NodeExplanation[] {
  const chosen: NodeExplanation[] = [];
  for (let round = 0; chosen.length < max; round += 1) {
    const next = queues.flatMap((queue) => queue.slice(round, round + 1));
    if (next.length === 0) break;
    chosen.push(...next.slice(0, max - chosen.length).map(({ explanation }) => explanation));
  }
  return chosen;
}

/** From 0 to 1: the missing fraction of what is needed, for the closest candidate. */
function shortageOf({ margin, candidates }: Finding): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { obstacles } of candidates) {
    const only = obstacles.length === 1 ? obstacles[0]!.margin : undefined;
    if (only !== undefined) least = Math.min(least, missing(only));
  }
  if (least !== Number.POSITIVE_INFINITY) return least;
  return margin === undefined ? 1 : missing(margin);
}

function missing(margin: Margin): number {
  if (margin.unit === 'bytes') {
    const { needed, free, promised } = margin;
    return part(needed.bytes, free.bytes - promised.bytes);
  }
  return part(margin.needed, margin.free);
}

function part(needed: number, free: number): number {
  return needed <= 0 ? 1 : (needed - free) / needed;
}
