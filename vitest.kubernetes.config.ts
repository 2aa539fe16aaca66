import { defineConfig } from 'vitest/config';

// Processes, as tests start many programs and must not share signals and folders; two at a time, as each bed is a whole cluster.
// biome-ignore lint/style/noDefaultExport: vitest loads its configuration by the default export.
export default defineConfig({
  test: {
    include: ['test/kubernetes/**/*.test.ts', 'test/console/**/*.test.ts'],
    globalSetup: ['./test/kubernetes/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Only for tests that hang: a busy machine takes several times as long as an idle one, and a test waits for many things.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 100 } },
    // Real programs race each other on a loaded machine, and some lose now and then; what fails twice in a row is ours to fix. Each try
    // has a bed or a namespace of its own, and the report names what needed the second.
    retry: 1,
    reporters: [process.env.VITEST_REPORTER ?? 'default', './test/tally-reporter.ts'],
  },
});
