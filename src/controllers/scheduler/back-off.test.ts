import { expect, test } from 'vitest';
import { attempts } from './scenarios/testing/furniture.ts';
import { SchedulerWorld } from './testing/scheduler-world.ts';

const provisioner = 'nobody.example.com';

test.each([
  { initialMs: 1_000, maxMs: 1_000, expected: 5 },
  { initialMs: 20_000, maxMs: 60_000, expected: 2 },
])('a pod whose volumes are not made in time waits as long as it is told: $initialMs ms', async (given) => {
  const { initialMs, maxMs, expected } = given;
  const scheduler = { bindTimeoutMs: 5_000, backOff: { initialMs, maxMs } };
  await using world = await SchedulerWorld.start({ nodes: ['n1'], beside: ['pv-binder'], scheduler });
  await world.storageClass('slow', { provisioner });
  await world.claim('data', '1Gi', { storageClassName: 'slow' });
  await world.pod('web', ['data']);
  await world.settle(32_000);
  expect(attempts(world)).toBe(expected);
});
