import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { defaultRules } from '../rules/default-rules.ts';
import { Cycle } from '../rules/framework/cycle.ts';
import { type PreparedRules, prepareRules } from '../rules/framework/prepare-rules.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { rulePositionOf } from '../rules/framework/verdict.ts';

export interface FilterOptions {
  /** The time that expiring figures are held against, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly rules?: readonly AnyRule[];
  /** The only nodes that are looked at, by name; all of them where it is left out. */
  readonly onlyNodes?: Iterable<string> | undefined;
}

export interface FilteredNodes {
  readonly cycle: Cycle;
  readonly rules: readonly AnyRule[];
  /** If a rule refused the pod altogether, the nodes were not looked at. */
  readonly prepared: PreparedRules;
}

/** Runs the rules in order, each on the nodes that those before it left. The verdicts are there until somebody judges again. */
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

/** What so many nodes were rejected for alike. */
export interface NodeVerdict {
  readonly rule: AnyRule;
  readonly verdict: number;
  readonly nodeCount: number;
  /** Each fills the text's placeholder, where it has one, and is counted apart. */
  readonly notes: readonly string[];
}

/** What a node was rejected for, by its row. */
export function verdictOn(
  { cycle, rules }: Pick<FilteredNodes, 'cycle' | 'rules'>,
  row: number,
): NodeVerdict {
  const verdict = cycle.verdicts[row]!;
  const rule = rules[rulePositionOf(verdict)]!;
  return { rule, verdict, nodeCount: 1, notes: cycle.notes.get(row) ?? [] };
}
