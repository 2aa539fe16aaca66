import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends every run in one line that people and machines read alike: `N passed, N failed`. What is not a test but fails
 * the run (a file that does not load, a hook, an error nobody caught) counts as failed: a red run never reads green.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a reporter by the default export of its file.
export default class TallyReporter implements Reporter {
  #passed = 0;
  #failed = 0;

  constructor() {
    // After the default reporter's summary, and also when the run breaks off, so that it is the last line.
    process.on('exit', (exitCode) => {
      const failed = this.#failed === 0 && exitCode !== 0 ? 1 : this.#failed;
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
  }
}
