import type { RunnerTestCase } from 'vitest';

/** Whether the test is being retried: on a shared test bed, objects of the first attempt still exist. */
export function isRetry({ result }: Readonly<RunnerTestCase>): boolean {
  return (result?.retryCount ?? 0) > 0;
}
