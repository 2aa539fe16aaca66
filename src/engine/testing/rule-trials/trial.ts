import fc from 'fast-check';
import { expect } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import type { Change } from '../../cluster-index/change.ts';
import { interestOf } from '../../interest.ts';
import { plan } from '../../plan.ts';
import { readPod } from '../../records/pod-record.ts';
import type { AnyRule } from '../../rules/rule.ts';
import { Book, type TrialEvent } from './book.ts';
import { arbAsking, arbTrialEvent } from './fixture.ts';
import { type Judgement, judge } from './judge.ts';

/** Says what the rule should, the slow way, from the objects themselves. */
export type Oracle = (book: Book, asking: Pod) => Judgement;

type Step = { readonly tell: TrialEvent } | { readonly pretend: readonly TrialEvent[] };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: arbTrialEvent.map((tell) => ({ tell })) },
  { weight: 1, arbitrary: fc.array(arbTrialEvent, { maxLength: 6 }).map((pretend) => ({ pretend })) },
);

export interface TrialOptions {
  readonly runs?: number;
  /** How many times a node must have been refused, below which nothing is proved. */
  readonly refusedMin?: number;
}

/**
 * Whatever happens, in whatever order, the rule says what the oracle says; a pod that fits by what happened has been woken; and an
 * answer that has become another was called stale.
 */
export function expectSameAsOracle(rule: AnyRule, oracle: Oracle, options: TrialOptions = {}): void {
  const { runs = 150, refusedMin = 100 } = options;
  let refused = 0;
  fc.assert(
    fc.property(
      arbAsking,
      fc.array(arbTrialEvent, { minLength: 8, maxLength: 20 }),
      fc.array(steps, { maxLength: 10 }),
      (asking, past, life) => {
        const book = new Book();
        for (const event of past) book.tell(event);
        for (const step of life) {
          expectChangeTold(rule, book, asking, step);
          const now = judge(rule, book.index, asking);
          expect(now).toEqual(oracle(book, asking));
          refused += now.refusals.length + Object.keys(now.refused).length;
        }
      },
    ),
    { numRuns: runs },
  );
  expect(refused).toBeGreaterThanOrEqual(refusedMin);
}

function expectChangeTold(rule: AnyRule, book: Book, asking: Pod, step: Step): void {
  const answer = () => plan(asking, book.index, { nowMs: 0, rules: [rule] });
  const before = { answer: answer(), judgement: judge(rule, book.index, asking) };
  const interest = interestOf(book.index, readPod(asking));
  if ('pretend' in step) {
    book.pretend(step.pretend);
    expect(judge(rule, book.index, asking)).toEqual(before.judgement);
    return;
  }
  const change: Change | undefined = book.tell(step.tell);
  if (change === undefined) return;
  // A rule that refuses nobody is nobody's to wake.
  const canRefuse = rule.reasons.length > 0;
  if (canRefuse && before.answer.kind === 'refusal' && answer().kind === 'placement') {
    expect(before.answer.wokenBy(change), `woken by ${JSON.stringify(step)}`).toBe(true);
  }
  const isOther = JSON.stringify(judge(rule, book.index, asking)) !== JSON.stringify(before.judgement);
  if (isOther)
    expect(rule.invalidates(interest, change, book.index), `stale by ${JSON.stringify(step)}`).toBe(true);
}
