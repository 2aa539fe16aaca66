import { expect, test } from 'vitest';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import { type AnyRule, skip } from '../../engine/rules/rule.ts';
import { SchedulerWorld } from './testing/scheduler-world.ts';

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
  await using world = await SchedulerWorld.start({
    scheduler: { rules: [...defaultRules, tripsOver(poisonous)] },
  });
  await world.pod('odd');
  await world.pod('web');
  await world.settle(2_000);
  expect(await world.place('web')).toMatch(/^n/);
  expect(await world.place('odd')).toContain('a field that nobody expected');
  poisonous.clear();
  await world.settle(15_000);
  expect(await world.place('odd')).toMatch(/^n/);
});
