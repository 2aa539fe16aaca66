import { expect, test } from 'vitest';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import { readDiskCandidate } from './disk-candidate.ts';

test('requests without a verdict count as demand, and those that were rejected do not', () => {
  const schedule: DiskSchedule = {
    metadata: { name: 'd1' },
    spec: { replicas: { granted: 10, growing: 20, pending: 40, rejected: 80, again: 160, refused: 320 } },
    status: {
      replicas: {
        granted: { state: 'scheduled', scheduledSize: 10, observedSize: 10 },
        growing: { state: 'scheduled', scheduledSize: 5, observedSize: 5 },
        rejected: { state: 'rejected', scheduledSize: 0, observedSize: 80 },
        // The verdict answers a larger request; the new one is pending.
        again: { state: 'rejected', scheduledSize: 0, observedSize: 500 },
        // A refused expansion keeps its bytes.
        refused: { state: 'rejected', scheduledSize: 7, observedSize: 320 },
      },
    },
  };
  const { demandBytes, grantedBytes } = readDiskCandidate(schedule, undefined);
  expect(demandBytes).toBe(10 + 20 + 40 + 160 + 7);
  expect(grantedBytes).toBe(10 + 5 + 7);
});
