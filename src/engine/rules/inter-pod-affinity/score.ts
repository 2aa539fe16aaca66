import { noDomain } from '../../cluster-index/nodes/domain-table.ts';
import type { Cycle } from '../framework/cycle.ts';
import { type DomainCounts, type PodAffinityState, SumsByKey } from './affinity-state.ts';

/** The weights of all terms that match in a node's domains, scaled so that the best node has 100 and the worst 0. */
export function scoreByAffinity(
  { terms, ranking }: PodAffinityState,
  cycle: Cycle,
  scores: Float64Array,
): void {
  if (terms.preferred.length + ranking.length === 0) return;
  const sums = new SumsByKey(cycle.index);
  for (const term of terms.preferred) sums.addTerm(cycle.pod, term, term.weight);
  for (const existing of ranking) sums.addExisting(existing, existing.term.weight);
  const { rows: nodes, count } = cycle.feasibleRows();
  const weights = sums.all();
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let position = 0; position < count; position++) {
    const weight = weightOf(weights, nodes[position]!);
    scores[nodes[position]!] = weight;
    if (weight < least) least = weight;
    if (weight > most) most = weight;
  }
  scaleScores(scores, nodes.subarray(0, count), least, most);
}

function weightOf(weights: readonly DomainCounts[], node: number): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at++) {
    const { domains, counts } = weights[at]!;
    const domain = domains.of[node]!;
    if (domain !== noDomain) sum += counts[domain]!;
  }
  return sum;
}

function scaleScores(scores: Float64Array, nodes: Int32Array, least: number, most: number): void {
  const range = most - least;
  for (let position = 0; position < nodes.length; position++) {
    const node = nodes[position]!;
    scores[node] = range > 0 ? Math.trunc(100 * ((scores[node]! - least) / range)) : 0;
  }
}
