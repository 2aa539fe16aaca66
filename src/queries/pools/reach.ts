import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Topology } from '../../engine/cluster-index/nodes/topology-table.ts';
import type { MatcherTerm, NodeMatcher } from '../../engine/records/node-matcher.ts';

/** The nodes that can reach a volume or pool. */
export interface Reach {
  readonly nodeCount: number;
  /** The first nodes by name. */
  readonly nodes: readonly string[];
  /** The selector: `every node`, `no node`, or labels. */
  readonly selector: string;
}

/** A longer list of names is not useful to users. */
const nodesNamedMax = 50;
const nodesShownMax = 3;

/** Looks up each topology once, because many volumes share one. */
export class ReachReader {
  readonly #index: ClusterIndex;
  readonly #known = new Map<Topology, Reach>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  of(topology: Topology): Reach {
    const known = this.#known.get(topology);
    if (known !== undefined) return known;
    const names = topology.nodes.rows().map((row) => this.#index.nodes.record(row)!.key);
    const reach = {
      nodeCount: names.length,
      nodes: names.sort().slice(0, nodesNamedMax),
      selector: selectorText(topology.matcher),
    };
    this.#known.set(topology, reach);
    return reach;
  }
}

/** The text for a table column. */
export function reachText({ nodeCount, nodes, selector }: Reach): string {
  if (selector === 'every node' || selector === 'no node') return selector;
  if (nodeCount === 0) return `no node (${selector})`;
  if (nodeCount <= nodesShownMax) return nodes.join(', ');
  return `${nodeCount.toLocaleString('en-US')} nodes (${selector})`;
}

function selectorText({ terms }: NodeMatcher): string {
  if (terms.length === 0) return 'no node';
  const texts = terms.map(termText);
  return texts.includes('') ? 'every node' : texts.join(' or ');
}

function termText({ requirements, names }: MatcherTerm): string {
  const labels = requirements.map(({ key, operator, values, bound }) =>
    conditionText(key, operator, bound === undefined ? [...values] : [String(bound)]),
  );
  return [
    ...labels,
    ...names.map(({ operator, values }) => conditionText('name', operator, [...values])),
  ].join(', ');
}

function conditionText(key: string, operator: string, values: readonly string[]): string {
  const list = values.length > nodesShownMax ? [...values.slice(0, nodesShownMax), '…'] : values;
  if (operator === 'In') return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${list.join(',')})`;
  return values.length === 0 ? `${key} ${operator}` : `${key} ${operator} (${list.join(',')})`;
}
