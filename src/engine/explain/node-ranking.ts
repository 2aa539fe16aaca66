import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type FilterOptions, filterNodes } from '../evaluation/filter-nodes.ts';
import { readPod } from '../records/pod-record.ts';

/** How the nodes that fit rank, and by which rules. */
export interface NodeRanking {
  /** The number of nodes that fit. */
  readonly feasibleNodes: number;
  /** The best first; equals by name. */
  readonly nodes: readonly NodeScores[];
}

export interface NodeScores {
  readonly node: string;
  readonly total: number;
  /** The weighted score of each rule, including rules that score every node the same. */
  readonly byRule: Readonly<Record<string, number>>;
}

/** The scores that a plan adds up, for each rule separately. `also`: nodes to include wherever they rank, if they fit. */
export function rankNodes(
  pod: Pod,
  index: ClusterIndex,
  options: FilterOptions & { readonly max: number; readonly also?: readonly string[] },
): NodeRanking {
  const { cycle, prepared } = filterNodes(readPod(pod), index, options);
  if (prepared.refusedBy !== undefined) return { feasibleNodes: 0, nodes: [] };
  const columns = prepared.active.flatMap(({ rule, state }) => {
    if (rule.score === undefined) return [];
    const scores = new Float64Array(cycle.rowCount);
    rule.score.run(state, cycle, scores);
    return [{ name: rule.name, weight: rule.score.weight, scores }];
  });
  const ranked = index.nodes.rowsByName
    .filter((row) => cycle.isFeasible(row))
    .map((row) => ({
      row,
      total: columns.reduce((sum, { weight, scores }) => sum + weight * scores[row]!, 0),
    }))
    .sort((a, b) => b.total - a.total);
  const also = new Set(options.also);
  const shown = ranked.filter(({ row }, at) => at < options.max || also.has(index.nodes.record(row)!.key));
  const nodes = shown.map(({ row, total }) => ({
    node: index.nodes.record(row)!.key,
    total,
    byRule: Object.fromEntries(columns.map(({ name, weight, scores }) => [name, weight * scores[row]!])),
  }));
  return { feasibleNodes: ranked.length, nodes };
}
