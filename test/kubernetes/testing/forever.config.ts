import { defineConfig } from 'vitest/config';

// A run of its own with one test that never ends; see bed.test.ts, which kills it.
// biome-ignore lint/style/noDefaultExport: vitest loads its configuration by the default export.
export default defineConfig({
  test: {
    include: ['test/kubernetes/testing/forever.case.mjs'],
    globalSetup: ['./test/kubernetes/global-setup.ts'],
    pool: 'forks',
    reporters: ['default', './test/tally-reporter.ts'],
  },
});
