import { expect, test } from 'vitest';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import { type AnyRule, skip } from '../../engine/rules/framework/rule.ts';
import { SchedulerFixture } from './testing/scheduler-fixture.ts';

/** Trips over the pods that a test names. */
function tripsOver(names: ReadonlySet<string>): AnyRule {
  return {
    name: 'Brittle',
    reasons: [],
    prepare: ({ pod }) => {
      if (names.has(pod.name)) throw new Error('a field that nobody expected');
      return skip;
    },
    filter: () => {},
    explain: () => [],
    wakes: () => false,
    invalidates: () => false,
  };
}

test('a pod that a rule trips over stops no other; its owner hears of it, and it is tried again', async () => {
  const poisonous = new Set(['odd']);
  await using fixture = await SchedulerFixture.start({
    scheduler: { rules: [...defaultRules, tripsOver(poisonous)] },
  });
  await fixture.pod('odd');
  await fixture.pod('web');
  await fixture.settle(2_000);
  expect(await fixture.place('web')).toMatch(/^n/);
  expect(await fixture.place('odd')).toContain('a field that nobody expected');
  poisonous.clear();
  await fixture.settle(15_000);
  expect(await fixture.place('odd')).toMatch(/^n/);
});
