import { defineConfig } from 'vitest/config';

// Processes, as tests start many programs and must not share signals and folders; three at a time, as each bed is a whole cluster, and waits half of the time.
// biome-ignore lint/style/noDefaultExport: vitest loads its configuration by the default export.
export default defineConfig({
  test: {
    globalSetup: ['./test/kubernetes/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 3,
    // Only for tests that hang: a busy machine takes several times as long as an idle one, and a test waits for many things.
    testTimeout: 600_000,
    // What a hook does is not tried again.
    hookTimeout: 900_000,
    expect: { poll: { timeout: 240_000, interval: 100 } },
    // Real programs race each other on a loaded machine, and some lose now and then; what fails twice in a row is ours to fix. Each try
    // has a bed or a namespace of its own, and the report names what needed the second.
    retry: 1,
    reporters: [process.env.VITEST_REPORTER ?? 'default', './test/tally-reporter.ts'],
    // One after the other: Chromium gives up all requests (ERR_NETWORK_CHANGED) when a link of this machine gets an address, and tests of
    // real nodes make such links.
    projects: [
      {
        extends: true,
        test: { name: 'console', include: ['test/console/**/*.test.ts'], sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'kubernetes', include: ['test/kubernetes/**/*.test.ts'], sequence: { groupOrder: 2 } },
      },
    ],
  },
});
