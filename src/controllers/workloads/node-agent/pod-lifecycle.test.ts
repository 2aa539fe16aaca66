import { expect, test } from 'vitest';
import type { Pod, PodPhase } from '../../../kube/api/core.ts';
import type { ObjectMeta } from '../../../kube/api/meta.ts';
import { holdsVolumes, nextLifecycleStep, type PodLifecycleStep } from './pod-lifecycle.ts';

const nowMs = Date.parse('2025-01-01T00:01:00Z');
const deleted = (time: string, graceSeconds: number): ObjectMeta => ({
  deletionTimestamp: time,
  deletionGracePeriodSeconds: graceSeconds,
});
const runFor = (seconds: string): ObjectMeta => ({ annotations: { 'stowage.dev/run-seconds': seconds } });

const cases: readonly {
  readonly what: string;
  readonly phase: PodPhase;
  readonly metadata?: ObjectMeta;
  readonly restartPolicy?: 'Always' | 'Never';
  readonly step: PodLifecycleStep;
  readonly holds: boolean;
}[] = [
  { what: 'is new', phase: 'Pending', step: { kind: 'start' }, holds: true },
  { what: 'runs', phase: 'Running', step: { kind: 'keep', finishMs: undefined }, holds: true },
  { what: 'has finished', phase: 'Succeeded', step: { kind: 'nothing' }, holds: false },
  { what: 'has failed', phase: 'Failed', step: { kind: 'nothing' }, holds: false },
  {
    what: 'should run for two minutes',
    phase: 'Running',
    metadata: runFor('120'),
    restartPolicy: 'Never',
    step: { kind: 'keep', finishMs: nowMs + 60_000 },
    holds: true,
  },
  {
    what: 'should have run for a minute',
    phase: 'Running',
    metadata: runFor('60'),
    restartPolicy: 'Never',
    step: { kind: 'finish' },
    holds: true,
  },
  {
    what: 'should run for a while but always restarts',
    phase: 'Running',
    metadata: runFor('0'),
    step: { kind: 'keep', finishMs: undefined },
    holds: true,
  },
  {
    what: 'has an invalid run time',
    phase: 'Running',
    metadata: runFor('soon'),
    restartPolicy: 'Never',
    step: { kind: 'keep', finishMs: undefined },
    holds: true,
  },
  {
    what: 'is deleted and has half a minute left',
    phase: 'Running',
    metadata: deleted('2025-01-01T00:01:30Z', 30),
    step: { kind: 'wait', untilMs: nowMs + 30_000 },
    holds: true,
  },
  {
    what: 'is deleted and has no time left',
    phase: 'Running',
    metadata: deleted('2025-01-01T00:01:00Z', 30),
    step: { kind: 'finish' },
    holds: true,
  },
  {
    what: 'is deleted and never ran',
    phase: 'Pending',
    metadata: deleted('2025-01-01T00:01:30Z', 30),
    step: { kind: 'remove' },
    holds: true,
  },
  {
    what: 'is deleted and has finished',
    phase: 'Succeeded',
    metadata: deleted('2025-01-01T00:01:30Z', 30),
    step: { kind: 'remove' },
    holds: false,
  },
  {
    what: 'is deleted and only held by finalizers',
    phase: 'Succeeded',
    metadata: deleted('2025-01-01T00:01:00Z', 0),
    step: { kind: 'nothing' },
    holds: false,
  },
];

test.each(cases)('a pod that $what', ({ phase, metadata = {}, restartPolicy = 'Always', step, holds }) => {
  const pod: Pod = {
    metadata,
    spec: { nodeName: 'n1', restartPolicy },
    status: { phase, startTime: '2025-01-01T00:00:00Z' },
  };
  expect(nextLifecycleStep(pod, nowMs)).toEqual(step);
  expect(holdsVolumes(pod)).toBe(holds);
});
