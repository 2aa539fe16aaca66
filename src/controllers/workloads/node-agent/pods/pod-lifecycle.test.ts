import { expect, test } from 'vitest';
import type { Pod, PodPhase } from '../../../../kube/api/core.ts';
import type { ObjectMeta } from '../../../../kube/api/meta.ts';
import { holdsVolumes, nextLifecycleStep, type PodLifecycleStep } from './pod-lifecycle.ts';

const nowMs = Date.parse('2025-01-01T00:01:00Z');
const deleted = (time: string, graceSeconds: number): ObjectMeta => ({
  deletionTimestamp: time,
  deletionGracePeriodSeconds: graceSeconds,
});
const annotated = (values: Readonly<Record<string, string>>): ObjectMeta => ({
  annotations: Object.fromEntries(
    Object.entries(values).map(([key, value]) => [`stowage.dev/${key}`, value]),
  ),
});
const runFor = (seconds: string) => annotated({ 'run-seconds': seconds });

const cases: readonly {
  readonly what: string;
  readonly phase: PodPhase;
  readonly metadata?: ObjectMeta;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly activeDeadlineSeconds?: number;
  readonly step: PodLifecycleStep;
  readonly holds: boolean;
}[] = [
  { what: 'is new', phase: 'Pending', step: { kind: 'start', untilMs: undefined }, holds: true },
  { what: 'runs', phase: 'Running', step: { kind: 'keep', untilMs: undefined }, holds: true },
  { what: 'has finished', phase: 'Succeeded', step: { kind: 'nothing' }, holds: false },
  { what: 'has failed', phase: 'Failed', step: { kind: 'nothing' }, holds: false },
  {
    what: 'should run for two minutes',
    phase: 'Running',
    metadata: runFor('120'),
    restartPolicy: 'Never',
    step: { kind: 'keep', untilMs: nowMs + 60_000 },
    holds: true,
  },
  {
    what: 'should have run for a minute',
    phase: 'Running',
    metadata: runFor('60'),
    restartPolicy: 'Never',
    step: { kind: 'finish', exitCode: 0 },
    holds: true,
  },
  {
    what: 'should run for a while but always restarts',
    phase: 'Running',
    metadata: runFor('0'),
    step: { kind: 'keep', untilMs: undefined },
    holds: true,
  },
  {
    what: 'has an invalid run time',
    phase: 'Running',
    metadata: runFor('soon'),
    restartPolicy: 'Never',
    step: { kind: 'keep', untilMs: undefined },
    holds: true,
  },
  {
    what: 'is deleted and has half a minute left',
    phase: 'Running',
    metadata: deleted('2025-01-01T00:01:30Z', 30),
    step: { kind: 'finish', exitCode: 0 },
    holds: true,
  },
  {
    what: 'is deleted and takes ten seconds to end',
    phase: 'Running',
    metadata: { ...deleted('2025-01-01T00:01:30Z', 30), ...annotated({ 'termination-seconds': '10' }) },
    step: { kind: 'wait', untilMs: nowMs + 10_000 },
    holds: true,
  },
  {
    what: 'is deleted and takes longer to end than its grace period',
    phase: 'Running',
    metadata: { ...deleted('2025-01-01T00:01:30Z', 30), ...annotated({ 'termination-seconds': '100' }) },
    step: { kind: 'wait', untilMs: nowMs + 30_000 },
    holds: true,
  },
  {
    what: 'should have failed',
    phase: 'Running',
    metadata: annotated({ 'run-seconds': '5', 'exit-code': '3' }),
    restartPolicy: 'Never',
    step: { kind: 'finish', exitCode: 3 },
    holds: true,
  },
  {
    what: 'should have failed for the first time',
    phase: 'Running',
    metadata: annotated({ 'run-seconds': '5', 'exit-code': '3' }),
    restartPolicy: 'OnFailure',
    step: { kind: 'restart', exitCode: 3 },
    holds: true,
  },
  {
    what: 'belongs to a Job',
    phase: 'Running',
    metadata: {
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'u', controller: true }],
    },
    restartPolicy: 'Never',
    step: { kind: 'finish', exitCode: 0 },
    holds: true,
  },
  {
    what: 'has a deadline and does not run yet',
    phase: 'Pending',
    activeDeadlineSeconds: 70,
    step: { kind: 'start', untilMs: nowMs + 10_000 },
    holds: true,
  },
  {
    what: 'runs until its deadline',
    phase: 'Running',
    activeDeadlineSeconds: 70,
    step: { kind: 'keep', untilMs: nowMs + 10_000 },
    holds: true,
  },
  {
    what: 'has run until its deadline',
    phase: 'Running',
    activeDeadlineSeconds: 60,
    step: { kind: 'expire' },
    holds: true,
  },
  {
    what: 'is deleted and has no time left',
    phase: 'Running',
    metadata: deleted('2025-01-01T00:01:00Z', 30),
    step: { kind: 'finish', exitCode: 0 },
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

test.each(cases)('a pod that $what', ({ phase, metadata = {}, step, holds, ...given }) => {
  const { restartPolicy = 'Always', activeDeadlineSeconds } = given;
  const deadline = activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds };
  const pod: Pod = {
    metadata,
    spec: { nodeName: 'n1', restartPolicy, ...deadline },
    status: { phase, startTime: '2025-01-01T00:00:00Z' },
  };
  expect(nextLifecycleStep(pod, nowMs)).toEqual(step);
  expect(holdsVolumes(pod)).toBe(holds);
});

test.each([
  { restartCount: 1, delayMs: 10_000 },
  { restartCount: 3, delayMs: 40_000 },
  { restartCount: 50, delayMs: 300_000 },
])('after $restartCount restarts a failed container waits for $delayMs ms', ({ restartCount, delayMs }) => {
  const pod: Pod = {
    metadata: annotated({ 'run-seconds': '0', 'exit-code': '1' }),
    spec: { nodeName: 'n1', restartPolicy: 'OnFailure' },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          restartCount,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { finishedAt: '2025-01-01T00:01:00Z' } },
        },
      ],
    },
  };
  expect(nextLifecycleStep(pod, nowMs)).toEqual({ kind: 'keep', untilMs: nowMs + delayMs });
  expect(nextLifecycleStep(pod, nowMs + delayMs)).toEqual({ kind: 'restart', exitCode: 1 });
});
