import { expect, test } from 'vitest';
import type { ReplicaHealth } from './replica-health.ts';
import { replicaHealth } from './replica-health.ts';
import { volumeRobustness } from './volume-health.ts';

const ready = { kind: 'ready', limitBytes: 1 } as const;
const away = { kind: 'unknown', message: '' } as const;
const complete = { spec: { diskID: 'd' }, status: { healthyAt: 'x' } };

test.each([
  ['healthy', complete, ready],
  ['unreachable', complete, away],
  ['unreachable', complete, undefined],
  ['unreachable', { spec: { diskID: 'd' } }, away],
  ['failed', { ...complete, status: { healthyAt: 'x', failedAt: 'y' } }, ready],
  ['incomplete', { spec: { diskID: 'd' } }, ready],
  ['incomplete', {}, undefined],
  ['deleting', { ...complete, metadata: { deletionTimestamp: 'z' } }, ready],
] as const)('a replica is %s', (health, replica, disk) => {
  expect(replicaHealth(replica, disk)).toBe(health);
});

test.each([
  ['healthy', ['healthy', 'healthy'], true],
  ['degraded', ['healthy', 'unreachable'], true],
  ['degraded', ['healthy'], true],
  ['faulted', ['unreachable', 'failed'], true],
  ['faulted', [], true],
  ['unknown', ['incomplete'], false],
] as readonly [string, readonly ReplicaHealth[], boolean][])(
  'a volume of two is %s',
  (robustness, healths, hadData) => {
    expect(volumeRobustness(healths, { wanted: 2, hadData })).toBe(robustness);
  },
);
