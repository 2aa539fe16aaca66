import type { Cycle } from './cycle.ts';
import type { AnyRule, PodRefusal } from './rule.ts';

/** A rule that applies to the pod, with the state that it prepared. */
export interface ActiveRule {
  readonly rule: AnyRule;
  readonly state: unknown;
  /** Its position among all rules; verdicts identify the rule by it. */
  readonly position: number;
}

export interface PreparedRules {
  readonly active: readonly ActiveRule[];
  readonly refusals: readonly PodRefusal[];
  /** The rule that refused the pod on every node. */
  readonly refusedBy: AnyRule | undefined;
}

/** Prepares the rules; stops at the first rule that refuses the pod on every node. */
export function prepareRules(cycle: Cycle, rules: readonly AnyRule[]): PreparedRules {
  const active: ActiveRule[] = [];
  for (const [position, rule] of rules.entries()) {
    // A rule may already reject nodes in `prepare`; the verdicts then name this rule.
    cycle.startRule(position);
    const prepared = rule.prepare(cycle);
    if (prepared.kind === 'refuse') return { active, refusals: prepared.refusals, refusedBy: rule };
    if (prepared.kind === 'ready') active.push({ rule, state: prepared.state, position });
  }
  return { active, refusals: [], refusedBy: undefined };
}
