import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The maximum number of characters of the first error of a retried test. */
const shownMax = 4_000;

/**
 * Ends every run with one line for people and machines: `N passed, N failed`. A failure that is not a test (a file that does not load, a
 * hook, an uncaught error) counts as failed, so that a red run never looks green. Above it are the tests that passed only when they were
 * retried, with their first error.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a reporter by the default export of its file.
export default class TallyReporter implements Reporter {
  #passed = 0;
  #failed = 0;
  #retried: readonly string[] = [];

  constructor() {
    // After the default reporter's summary, and also if the run is interrupted, so that it is the last line.
    process.on('exit', (exitCode) => {
      const failed = this.#failed === 0 && exitCode !== 0 ? 1 : this.#failed;
      for (const line of this.#retried) process.stdout.write(`${line}\n`);
      process.stdout.write(`${this.#passed} passed, ${failed} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const groups = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = groups.filter((group) => group.errors().length > 0);
    this.#passed = tests.filter((test) => test.result().state === 'passed').length;
    this.#failed = tests.filter((test) => test.result().state === 'failed').length;
    this.#failed += broken.length + unhandledErrors.length;
    this.#retried = tests.filter((test) => test.diagnostic()?.flaky === true).map(retryLine);
  }
}

function retryLine(test: TestCase): string {
  const before = (test.result().errors ?? []).map(({ message, diff = '' }) => `${message}\n${diff}`);
  const shown = before.map((text) => text.trim().slice(0, shownMax));
  return [`passed when tried again: ${test.module.relativeModuleId} > ${test.fullName}`, ...shown].join('\n');
}
