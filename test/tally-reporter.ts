import type { Reporter, TestModule } from 'vitest/node';

/** Ends every run in one line that people and machines read alike: `N passed, N failed`. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tally = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state !== 'pending') tally[state] += 1;
      }
      // A module that failed to load has no tests to count; it must not look like success.
      if (module.errors().length > 0) tally.failed += 1;
    }
    const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : '';
    // After the default reporter's summary, so that it is the last line.
    process.on('exit', () => {
      process.stdout.write(`${tally.passed} passed, ${tally.failed} failed${skipped}\n`);
    });
  }
}
