import type { ClusterIndex } from './index/cluster-index.ts';
import type { PodRecord } from './records/pod-record.ts';
import { Cycle } from './rules/cycle.ts';
import { defaultRules } from './rules/default-rules.ts';
import { type PreparedRules, prepareRules } from './rules/prepare-rules.ts';
import type { AnyRule } from './rules/rule.ts';

export interface JudgeOptions {
  /** The time that expiring figures are held against, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly rules?: readonly AnyRule[];
  /** The only nodes that are looked at, by name; all of them where it is left out. */
  readonly onlyNodes?: Iterable<string> | undefined;
}

export interface Judged {
  readonly cycle: Cycle;
  readonly rules: readonly AnyRule[];
  /** If a rule refused the pod altogether, the nodes were not looked at. */
  readonly prepared: PreparedRules;
}

/** Runs the rules in order, each on the nodes that those before it left. The verdicts are there until somebody judges again. */
export function judge(pod: PodRecord, index: ClusterIndex, options: JudgeOptions): Judged {
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
