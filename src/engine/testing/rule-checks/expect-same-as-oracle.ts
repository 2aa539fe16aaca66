import fc from 'fast-check';
import { expect } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import { plan } from '../../plan.ts';
import { readPod } from '../../records/pod-record.ts';
import type { AnyRule } from '../../rules/framework/rule.ts';
import { interestOf } from '../../waking/interest.ts';
import { type ModelEvent, ObjectModel } from './object-model.ts';
import { arbModelEvent, arbPodToPlace } from './random-objects.ts';
import { evaluateRule, type RuleResult } from './rule-result.ts';

/** Computes the correct result of the rule from the objects, in a slow and simple way. */
export type RuleOracle = (model: ObjectModel, pod: Pod) => RuleResult;

type Step = { readonly apply: ModelEvent } | { readonly tryOut: readonly ModelEvent[] };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: arbModelEvent.map((apply) => ({ apply })) },
  { weight: 1, arbitrary: fc.array(arbModelEvent, { maxLength: 6 }).map((tryOut) => ({ tryOut })) },
);

export interface OracleCheckOptions {
  readonly runs?: number;
  /** The least number of refusals over all runs. With fewer, the test would prove nothing. */
  readonly refusedMin?: number;
}

/**
 * After any history of events the rule gives the oracle's result, an event that makes the pod fit wakes it, and an event that changes
 * the result invalidates it.
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
      arbPodToPlace,
      fc.array(arbModelEvent, { minLength: 8, maxLength: 20 }),
      fc.array(steps, { maxLength: 10 }),
      (pod, setup, history) => {
        const model = new ObjectModel();
        for (const event of setup) model.apply(event);
        for (const step of history) {
          expectChangeReported(rule, model, pod, step);
          const now = evaluateRule(rule, model.index, pod);
          expect(now).toEqual(oracle(model, pod));
          refused += now.refusals.length + Object.keys(now.refused).length;
        }
      },
    ),
    { numRuns: runs },
  );
  expect(refused).toBeGreaterThanOrEqual(refusedMin);
}

function expectChangeReported(rule: AnyRule, model: ObjectModel, pod: Pod, step: Step): void {
  const answer = () => plan(pod, model.index, { nowMs: 0, rules: [rule] });
  const before = { answer: answer(), result: evaluateRule(rule, model.index, pod) };
  const interest = interestOf(model.index, readPod(pod));
  if ('tryOut' in step) {
    model.applyAndRollBack(step.tryOut);
    expect(evaluateRule(rule, model.index, pod)).toEqual(before.result);
    return;
  }
  const change: ClusterChange | undefined = model.apply(step.apply);
  if (change === undefined) return;
  // A rule that never refuses a pod has no pods to wake.
  const canRefuse = rule.reasons.length > 0;
  if (canRefuse && before.answer.kind === 'refusal' && answer().kind === 'placement') {
    expect(before.answer.wokenBy(change), `woken by ${JSON.stringify(step)}`).toBe(true);
  }
  const hasChanged = JSON.stringify(evaluateRule(rule, model.index, pod)) !== JSON.stringify(before.result);
  if (hasChanged)
    expect(rule.invalidates(interest, change, model.index), `stale by ${JSON.stringify(step)}`).toBe(true);
}
