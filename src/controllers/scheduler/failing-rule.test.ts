import { expect, test } from 'vitest';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import { type AnyRule, skip } from '../../engine/rules/framework/rule.ts';
import { SchedulerFixture } from './testing/scheduler-fixture.ts';

/** A rule that throws for the pods that a test names. */
function tripsOver(names: ReadonlySet<string>): AnyRule {
  return {
    name: 'Failing',
    reasons: [],
    prepare: ({ pod }) => {
      if (names.has(pod.name)) throw new Error('an unexpected field');
      return skip;
    },
    filter: () => {},
    explain: () => [],
    wakes: () => false,
    invalidates: () => false,
  };
}

test('a rule that throws for one pod affects no other; the pod reports the error and is retried', async () => {
  const poisonous = new Set(['odd']);
  await using fixture = await SchedulerFixture.start({
    scheduler: { rules: [...defaultRules, tripsOver(poisonous)] },
  });
  await fixture.pod('odd');
  await fixture.pod('web');
  await fixture.settle(2_000);
  expect(await fixture.place('web')).toMatch(/^n/);
  expect(await fixture.place('odd')).toContain('an unexpected field');
  poisonous.clear();
  await fixture.settle(15_000);
  expect(await fixture.place('odd')).toMatch(/^n/);
});
