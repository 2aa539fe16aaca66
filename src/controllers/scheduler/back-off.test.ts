import { expect, test } from 'vitest';
import { schedulingAttempts } from './scenarios/testing/fixtures.ts';
import { SchedulerFixture } from './testing/scheduler-fixture.ts';

const provisioner = 'missing.example.com';

test.each([
  { initialMs: 1_000, maxMs: 1_000, expected: 5 },
  { initialMs: 20_000, maxMs: 60_000, expected: 2 },
])(
  'a pod whose volumes are not provisioned in time backs off as configured: $initialMs ms',
  async (given) => {
    const { initialMs, maxMs, expected } = given;
    const scheduler = { bindTimeoutMs: 5_000, backOff: { initialMs, maxMs } };
    await using fixture = await SchedulerFixture.start({
      nodes: ['n1'],
      otherControllers: ['pv-binder'],
      scheduler,
    });
    await fixture.storageClass('slow', { provisioner });
    await fixture.claim('data', '1Gi', { storageClassName: 'slow' });
    await fixture.pod('web', ['data']);
    await fixture.settle(32_000);
    expect(schedulingAttempts(fixture)).toBe(expected);
  },
);
