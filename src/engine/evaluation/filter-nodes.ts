import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { defaultRules } from '../rules/default-rules.ts';
import { Cycle } from '../rules/framework/cycle.ts';
import { type PreparedRules, prepareRules } from '../rules/framework/prepare-rules.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { rulePositionOf } from '../rules/framework/verdict.ts';

export interface FilterOptions {
  /** The current time, for capacity reports that expire, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly rules?: readonly AnyRule[];
  /** The names of the nodes to evaluate; all nodes if undefined. */
  readonly onlyNodes?: Iterable<string> | undefined;
}

export interface FilteredNodes {
  readonly cycle: Cycle;
  readonly rules: readonly AnyRule[];
  /** If a rule refused the pod as a whole, no node was evaluated. */
  readonly prepared: PreparedRules;
}

/** Runs the rules in order, each on the nodes that the rules before it left. The verdicts are valid until the next evaluation. */
export function filterNodes(pod: PodRecord, index: ClusterIndex, options: FilterOptions): FilteredNodes {
  const { rules = defaultRules, nowMs, onlyNodes } = options;
  index.settle(nowMs);
  const cycle = new Cycle(index, pod, nowMs, onlyNodes);
  const prepared = prepareRules(cycle, rules);
  if (prepared.refusedBy !== undefined) return { cycle, rules, prepared };
  for (const { rule, state, position } of prepared.active) {
    cycle.startRule(position);
    rule.filter(state, cycle);
  }
  return { cycle, rules, prepared };
}

/** One verdict, and the number of nodes that got it. */
export interface NodeVerdict {
  readonly rule: AnyRule;
  readonly verdict: number;
  readonly nodeCount: number;
  /** Each fills the placeholder of the reason's text, if it has one, and is counted separately. */
  readonly notes: readonly string[];
}

/** Why the node in this row was rejected. */
export function verdictOn(
  { cycle, rules }: Pick<FilteredNodes, 'cycle' | 'rules'>,
  row: number,
): NodeVerdict {
  const verdict = cycle.verdicts[row]!;
  const rule = rules[rulePositionOf(verdict)]!;
  return { rule, verdict, nodeCount: 1, notes: cycle.notes.get(row) ?? [] };
}
