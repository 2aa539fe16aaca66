import type { Cycle } from './cycle.ts';
import type { AnyRule, PodRefusal } from './rule.ts';

/** A rule that has to do with the pod, with what it prepared. */
export interface ActiveRule {
  readonly rule: AnyRule;
  readonly state: unknown;
  /** Its place among all rules; verdicts name it by this. */
  readonly position: number;
}

export interface PreparedRules {
  readonly active: readonly ActiveRule[];
  readonly refusals: readonly PodRefusal[];
  /** The rule that refused the pod altogether. */
  readonly refusedBy: AnyRule | undefined;
}

/** The first rule that refuses the pod wherever it would run ends the preparation. */
export function prepareRules(cycle: Cycle, rules: readonly AnyRule[]): PreparedRules {
  const active: ActiveRule[] = [];
  for (const [position, rule] of rules.entries()) {
    // A rule that narrows the nodes down at once rejects the others in its own name.
    cycle.startRule(position);
    const prepared = rule.prepare(cycle);
    if (prepared.kind === 'refuse') return { active, refusals: prepared.refusals, refusedBy: rule };
    if (prepared.kind === 'ready') active.push({ rule, state: prepared.state, position });
  }
  return { active, refusals: [], refusedBy: undefined };
}
