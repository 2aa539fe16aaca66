import { expect, test } from 'vitest';
import type { Pod } from '../../../../kube/api/core.ts';
import { FreezableClock } from '../../../../runtime/freezable-clock.ts';
import { VirtualClock } from '../../../../runtime/virtual-clock.ts';
import { PodTime } from './pod-time.ts';

const startedAt = '2025-01-01T00:00:10Z';
const running: Pod = {
  metadata: { name: 'web', uid: 'u1' },
  status: { startTime: startedAt, containerStatuses: [{ name: 'main', state: { running: { startedAt } } }] },
};

test('a clock that is set back does not put a pod before its start', async () => {
  const time = new VirtualClock();
  const clock = new FreezableClock(time);
  const podTime = new PodTime(clock);
  await time.advance(15_000);
  expect(podTime.nowMs(running)).toBe(clock.nowMs());
  clock.shiftWall(-300_000);
  const startMs = Date.parse(startedAt);
  expect(podTime.nowMs(running)).toBe(startMs);
  await time.advance(20_000);
  expect(podTime.nowMs(running)).toBe(startMs + 20_000);
});

test('the grace period counts from when the deletion is seen', async () => {
  const time = new VirtualClock();
  const clock = new FreezableClock(time);
  clock.shiftWall(-300_000);
  const podTime = new PodTime(clock);
  const deletion = { deletionTimestamp: '2025-01-01T00:01:30Z', deletionGracePeriodSeconds: 30 };
  const deleted = { ...running, metadata: { ...running.metadata, ...deletion } };
  const requestedMs = Date.parse('2025-01-01T00:01:00Z');
  expect(podTime.nowMs(deleted)).toBe(requestedMs);
  await time.advance(30_000);
  expect(podTime.nowMs(deleted)).toBe(requestedMs + 30_000);
});
