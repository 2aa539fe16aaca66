import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { type Domains, noDomain } from '../../cluster-index/nodes/domain-table.ts';
import type { SpreadConstraint } from '../../records/pod-shape/spread-constraints.ts';
import type { Cycle } from '../framework/cycle.ts';
import { countByDomain, SpreadNodes } from './spread-nodes.ts';

export interface SoftSpread {
  readonly constraints: readonly SpreadConstraint[];
  /** A node that lacks one of the labels scores 0. Does not apply to the default constraints. */
  readonly needsEveryKey: boolean;
}

interface ScoredConstraint {
  readonly constraint: SpreadConstraint;
  readonly domains: Domains;
  /** Pods by domain; by node row if each node is a domain. */
  readonly counts: Int32Array;
  readonly isByNode: boolean;
  /** Balances keys with few and many values, so that many pods in few zones do not outweigh few pods on many nodes. */
  readonly weight: number;
}

const bestScore = 100;
const ignored = -1;

/** The fewer pods a node's domains have, the better. The node with the fewest scores highest, but not always 100. */
export function scoreBySpread(spread: SoftSpread, cycle: Cycle, scores: Float64Array): void {
  if (spread.constraints.length === 0) return;
  const { rows, count } = cycle.feasibleRows();
  const nodes = rows.subarray(0, count);
  const { scored, labelled } = prepareScore(spread, cycle, nodes);
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    const weight = labelled[node] === 0 ? ignored : podWeightAt(scored, node);
    scores[node] = weight;
    if (weight === ignored) continue;
    if (weight < least) least = weight;
    if (weight > most) most = weight;
  }
  for (let position = 0; position < count; position++) {
    scores[nodes[position]!] = normalised(scores[nodes[position]!]!, least, most);
  }
}

function normalised(weight: number, least: number, most: number): number {
  if (weight === ignored) return 0;
  return most === 0 ? bestScore : Math.trunc((bestScore * (most + least - weight)) / most);
}

function podWeightAt(scored: readonly ScoredConstraint[], node: number): number {
  let sum = 0;
  for (let at = 0; at < scored.length; at++) {
    const { constraint, domains, counts, isByNode, weight } = scored[at]!;
    const domain = domains.of[node]!;
    if (domain === noDomain) continue;
    sum += Math.max(counts[isByNode ? node : domain]!, 0) * weight + (constraint.maxSkew - 1);
  }
  return Math.round(sum);
}

interface PreparedScore {
  readonly scored: readonly ScoredConstraint[];
  /** Indexed by node row: 0 if the node scores 0 because it lacks a label. */
  readonly labelled: Uint8Array;
}

function prepareScore(
  { constraints, needsEveryKey }: SoftSpread,
  { index, pod }: Cycle,
  feasible: Int32Array,
): PreparedScore {
  const nodes = new SpreadNodes(index, pod);
  const keys = constraints.map((constraint) => nodes.domainsOf(constraint));
  const labelled = nodes.withAll(needsEveryKey ? keys : []);
  const ranked = needsEveryKey ? feasible.filter((node) => labelled[node] !== 0) : feasible;
  const scored = constraints.map((constraint, at) => {
    const domains = keys[at]!;
    const pods = nodes.podsOf(constraint);
    if (constraint.topologyKey === wellKnownLabels.hostname)
      return { constraint, domains, counts: pods, isByNode: true, weight: weightOf(ranked.length) };
    const masks = [labelled, nodes.counted(constraint)] as const;
    const counts = countByDomain(domains, pods, masks);
    addUnlabelled(domains, counts, pods, masks);
    return { constraint, domains, counts, isByNode: false, weight: weightOf(valuesAmong(domains, ranked)) };
  });
  return { scored, labelled };
}

/** kube-scheduler treats a node without the label like one with an empty value, which matters if there are both. */
function addUnlabelled(
  domains: Domains,
  counts: Int32Array,
  pods: Int32Array,
  [labelled, counted]: readonly [Uint8Array, Uint8Array | undefined],
): void {
  const empty = domains.numberOf('');
  if (empty === noDomain) return;
  for (let row = 0; row < labelled.length; row++) {
    if (domains.of[row] !== noDomain || labelled[row] === 0 || counted?.[row] === 0) continue;
    counts[empty] = Math.max(counts[empty]!, 0) + pods[row]!;
  }
}

/** How many values of the label the nodes have; a missing label counts as one more value. */
function valuesAmong(domains: Domains, nodes: Int32Array): number {
  const seen = new Uint8Array(domains.count + 1);
  const empty = domains.numberOf('');
  const unlabelled = empty === noDomain ? domains.count : empty;
  let values = 0;
  for (let position = 0; position < nodes.length; position++) {
    const domain = domains.of[nodes[position]!]!;
    const value = domain === noDomain ? unlabelled : domain;
    if (seen[value] === 1) continue;
    seen[value] = 1;
    values += 1;
  }
  return values;
}

function weightOf(values: number): number {
  return Math.log(values + 2);
}
