import { afterAll, beforeAll, inject, onTestFinished, type RunnerTask, type RunnerTestSuite } from 'vitest';
import { type KubernetesRelease, kubernetesRelease, type ProgramName } from './programs.ts';
import { TestBed, type TestBedOptions } from './test-bed.ts';
import './global-setup.ts';

type Options = Omit<TestBedOptions, 'programs'>;

/**
 * For `describe.skipIf`: true if a program or the release is missing. The global setup has already reported which and why. Our server and
 * the profile `upstream` are compared exactly with 1.36.
 */
export function lacks(...names: readonly (ProgramName | KubernetesRelease)[]): boolean {
  const there: Readonly<Record<string, unknown>> = {
    ...inject('kubernetesPrograms'),
    [kubernetesRelease(process.env)]: true,
  };
  return names.some((name) => there[name] === undefined);
}

/** What a Kubernetes API server needs. */
export const serverPrograms = ['etcd', 'kube-apiserver', 'kubectl'] as const;

/** A test bed for one test; it ends with the test. If the test fails, the logs are shown, otherwise they are removed. */
export async function startTestBed(options: Options = {}): Promise<TestBed> {
  const bed = await TestBed.start({ ...options, programs: inject('kubernetesPrograms') });
  onTestFinished(async ({ task }) => {
    await closeAfter(bed, task.result?.state === 'fail');
  });
  return bed;
}

/** A test bed for all tests of a file or a `describe`: `const bed = sharedTestBed()`, then `bed()` within tests. */
export function sharedTestBed(options: Options = {}): () => TestBed {
  let bed: TestBed | undefined;
  beforeAll(async () => {
    bed = await TestBed.start({ ...options, programs: inject('kubernetesPrograms') });
  });
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from it, and wants none here.
  afterAll(async ({}, suite) => {
    if (bed !== undefined) await closeAfter(bed, hasFailed(suite));
  });
  return () => {
    if (bed === undefined) throw new Error('the test bed has not been started');
    return bed;
  };
}

async function closeAfter(bed: TestBed, isFailed: boolean): Promise<void> {
  const logs = isFailed ? bed.describeLogs() : '';
  await bed.close();
  if (isFailed) process.stderr.write(`${logs}\n`);
  else await bed.removeLogs();
}

function hasFailed(task: Readonly<RunnerTestSuite | RunnerTask>): boolean {
  if (task.result?.state === 'fail') return true;
  return 'tasks' in task && task.tasks.some(hasFailed);
}

/** A worker whose parent process was killed cannot report results; without this it would run its tests to the end. */
process.once('disconnect', () => process.exit(1));
