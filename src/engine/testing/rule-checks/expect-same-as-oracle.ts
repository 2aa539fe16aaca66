import fc from 'fast-check';
import { expect } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import { plan } from '../../plan.ts';
import { readPod } from '../../records/pod-record.ts';
import type { AnyRule } from '../../rules/framework/rule.ts';
import { interestOf } from '../../waking/interest.ts';
import { type ModelEvent, ObjectModel } from './object-model.ts';
import { arbModelEvent, arbPendingPod } from './random-objects.ts';
import { evaluateRule, type RuleResult } from './rule-result.ts';

/** Says what the rule should, the slow way, from the objects themselves. */
export type RuleOracle = (model: ObjectModel, asking: Pod) => RuleResult;

type Step = { readonly tell: ModelEvent } | { readonly pretend: readonly ModelEvent[] };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: arbModelEvent.map((tell) => ({ tell })) },
  { weight: 1, arbitrary: fc.array(arbModelEvent, { maxLength: 6 }).map((pretend) => ({ pretend })) },
);

export interface OracleCheckOptions {
  readonly runs?: number;
  /** How many times a node must have been refused, below which nothing is proved. */
  readonly refusedMin?: number;
}

/**
 * Whatever happens, in whatever order, the rule says what the oracle says; a pod that fits by what happened has been woken; and an
 * answer that has become another was called stale.
 */
export function expectSameAsOracle(
  rule: AnyRule,
  oracle: RuleOracle,
  options: OracleCheckOptions = {},
): void {
  const { runs = 150, refusedMin = 100 } = options;
  let refused = 0;
  fc.assert(
    fc.property(
      arbPendingPod,
      fc.array(arbModelEvent, { minLength: 8, maxLength: 20 }),
      fc.array(steps, { maxLength: 10 }),
      (asking, past, life) => {
        const model = new ObjectModel();
        for (const event of past) model.apply(event);
        for (const step of life) {
          expectChangeTold(rule, model, asking, step);
          const now = evaluateRule(rule, model.index, asking);
          expect(now).toEqual(oracle(model, asking));
          refused += now.refusals.length + Object.keys(now.refused).length;
        }
      },
    ),
    { numRuns: runs },
  );
  expect(refused).toBeGreaterThanOrEqual(refusedMin);
}

function expectChangeTold(rule: AnyRule, model: ObjectModel, asking: Pod, step: Step): void {
  const answer = () => plan(asking, model.index, { nowMs: 0, rules: [rule] });
  const before = { answer: answer(), judgement: evaluateRule(rule, model.index, asking) };
  const interest = interestOf(model.index, readPod(asking));
  if ('pretend' in step) {
    model.applyAndRollBack(step.pretend);
    expect(evaluateRule(rule, model.index, asking)).toEqual(before.judgement);
    return;
  }
  const change: ClusterChange | undefined = model.apply(step.tell);
  if (change === undefined) return;
  // A rule that refuses nobody is nobody's to wake.
  const canRefuse = rule.reasons.length > 0;
  if (canRefuse && before.answer.kind === 'refusal' && answer().kind === 'placement') {
    expect(before.answer.wokenBy(change), `woken by ${JSON.stringify(step)}`).toBe(true);
  }
  const isOther = JSON.stringify(evaluateRule(rule, model.index, asking)) !== JSON.stringify(before.judgement);
  if (isOther)
    expect(rule.invalidates(interest, change, model.index), `stale by ${JSON.stringify(step)}`).toBe(true);
}
