/**
 * Spreads pods evenly over the values of a node label. If the difference to the domain with the fewest pods would exceed maxSkew, the rule
 * refuses the node (DoNotSchedule) or scores it lower (ScheduleAnyway).
 */
import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { type Domains, noDomain } from '../../cluster-index/nodes/domain-table.ts';
import {
  type SpreadConstraint,
  selectorFor,
  spreadConstraintsOf,
} from '../../records/pod-shape/spread-constraints.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Prepared, type Rule, skip } from '../framework/rule.ts';
import { podMessage } from '../reasons.ts';
import { defaultConstraints } from './default-constraints.ts';
import { type SoftSpread, scoreBySpread } from './score.ts';
import { countByDomain, notCounted, SpreadNodes } from './spread-nodes.ts';
import { spreadInvalidates, spreadWakes } from './wakes.ts';

interface SpreadState {
  readonly hard: readonly HardSpread[];
  readonly soft: SoftSpread;
}

interface HardSpread {
  readonly constraint: SpreadConstraint;
  readonly domains: Domains;
  /** Pods by domain. */
  readonly counts: Int32Array;
  /** The number of pods in the domain with the fewest. */
  readonly floor: number;
  /** 1 if the constraint selects the pod itself, else 0. */
  readonly self: number;
}

const exceededBit = 1;
const labelMissingBit = 2;

export const topologySpreadRule: Rule<SpreadState> = {
  name: 'PodTopologySpread',
  reasons: ['SpreadExceeded', 'SpreadLabelMissing'],
  prepare,
  filter,
  score: { weight: 2, run: ({ soft }, cycle, scores) => scoreBySpread(soft, cycle, scores) },
  explain,
  wakes: spreadWakes,
  invalidates: spreadInvalidates,
};

function prepare(cycle: Cycle): Prepared<SpreadState> {
  const { index, pod } = cycle;
  const { hard, soft, isEmpty, problem } = spreadConstraintsOf(pod.shape);
  if (problem !== undefined) {
    const message = podMessage('MalformedSpread', { problem });
    return { kind: 'refuse', refusals: [{ reason: 'MalformedSpread', claim: undefined, message }] };
  }
  const preferred = isEmpty ? defaultConstraints(index, pod) : soft;
  if (hard.length + preferred.length === 0) return skip;
  return {
    kind: 'ready',
    state: { hard: prepareHard(cycle, hard), soft: { constraints: preferred, needsEveryKey: !isEmpty } },
  };
}

function prepareHard({ index, pod }: Cycle, constraints: readonly SpreadConstraint[]): HardSpread[] {
  if (constraints.length === 0) return [];
  const nodes = new SpreadNodes(index, pod);
  const keys = constraints.map((constraint) => nodes.domainsOf(constraint));
  const labelled = nodes.withAll(keys);
  return constraints.map((constraint, at) => {
    const domains = keys[at]!;
    const counts = countByDomain(domains, nodes.podsOf(constraint), [labelled, nodes.counted(constraint)]);
    const self = matchesLabels(selectorFor(constraint, pod.labels), pod.labels) ? 1 : 0;
    return { constraint, domains, counts, floor: floorOf(counts, constraint.minDomains), self };
  });
}

function floorOf(counts: Int32Array, minDomains: number): number {
  let floor = Number.MAX_SAFE_INTEGER;
  let domains = 0;
  for (let domain = 0; domain < counts.length; domain++) {
    const count = counts[domain]!;
    if (count === notCounted) continue;
    domains += 1;
    if (count < floor) floor = count;
  }
  return domains < minDomains || domains === 0 ? 0 : floor;
}

function filter({ hard }: SpreadState, cycle: Cycle): void {
  if (hard.length === 0) return;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const verdict = firstVerdict(hard, nodes[position]!);
    if (verdict !== 0) cycle.reject(nodes[position]!, verdict);
  }
}

function firstVerdict(hard: readonly HardSpread[], node: number): number {
  for (let at = 0; at < hard.length; at++) {
    const verdict = verdictOf(hard[at]!, node);
    if (verdict !== 0) return verdict;
  }
  return 0;
}

function verdictOf(spread: HardSpread, node: number): number {
  if (spread.domains.of[node] === noDomain) return labelMissingBit;
  return skewAt(spread, node) > spread.constraint.maxSkew ? exceededBit : 0;
}

/** The skew with the pod on the node. */
function skewAt({ domains, counts, floor, self }: HardSpread, node: number): number {
  return Math.max(counts[domains.of[node]!]!, 0) + self - floor;
}

function explain({ hard }: SpreadState, _cycle: Cycle, node: number): readonly Finding[] {
  return hard.flatMap((spread) => {
    const verdict = verdictOf(spread, node);
    if (verdict === 0) return [];
    if (verdict === labelMissingBit) return plainFinding(topologySpreadRule.name, 'SpreadLabelMissing');
    return { ...plainFinding(topologySpreadRule.name, 'SpreadExceeded'), margin: marginAt(spread, node) };
  });
}

function marginAt(spread: HardSpread, node: number): Finding['margin'] {
  const { topologyKey, maxSkew } = spread.constraint;
  return {
    unit: 'resource',
    resource: `skew over ${topologyKey}`,
    needed: skewAt(spread, node),
    free: maxSkew,
  };
}
