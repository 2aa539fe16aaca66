import type { RunnerTestCase } from 'vitest';

/** Whether this is the second try of the test: what the first one left behind is still there, where the bed is shared. */
export function isRetry({ result }: Readonly<RunnerTestCase>): boolean {
  return (result?.retryCount ?? 0) > 0;
}
