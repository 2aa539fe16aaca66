import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { configDefaults, defineConfig } from 'vitest/config';
import { compiledFiles, compiledSources } from './test/compiled-sources.ts';
import { LongestFirst } from './test/longest-first.ts';

// For the threads that will run the tests: with more space for new objects there are half as many garbage collections, which are a tenth of
// the work of a simulation.
setFlagsFromString('--min-semi-space-size=32');
setFlagsFromString('--max-semi-space-size=64');
// A function is optimized after fifteen times as much work as by default: most tests end before optimized code pays for its compilation, which
// was two fifths of the CPU time of a run.
// Only the V8 of Node 20 has the flag.
if (process.version.startsWith('v20.')) setFlagsFromString('--interrupt-budget=2000000');
// Until then a function runs as unoptimized machine code from its first call, and is not interpreted for a while: a sixteenth less CPU time for
// the seeds of the simulation.
setFlagsFromString('--always-sparkplug');

/** `npm run test:quick` leaves these out: tests that run controllers, servers or other processes, that read large input, or that repeat a case many times. */
const slowTests = [
  'test/{up,golden,fidelity,robustness,simulation}/**',
  'test/tally-reporter.test.ts',
  'src/{controllers,drives,embedded,extender,simulation}/**',
  'src/apiserver/{server,store}/**',
  'src/reconcile/informer/**',
  'src/engine/properties/**',
  'src/cluster/contract.test.ts',
  'src/cli/{drain-plan,move,up/demo}/**',
  'src/cli/disks/image/**',
  '**/*{hostile,-limits,-safety,property,equals-oracle,golden}*.test.ts',
  '**/{bounded-pattern,first-list,large-agreement,large-numbers,missing-permission,pod-node-write,snapshot-cache}.test.ts',
];

// Threads without isolation: the tests share no state, and a whole run takes seconds instead of a minute.
export default defineConfig(({ mode }) => ({
  // `npm test` has the mode `compiled`, and `npm run test:quick` the mode `quick`. In no mode, a single file needs no compiler, and vitest can watch the sources.
  plugins: ['compiled', 'quick'].includes(mode) ? [compiledSources()] : [],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    // They need the programs of Kubernetes or Chromium: npm run test:kubernetes.
    exclude: [
      ...configDefaults.exclude,
      'test/kubernetes/**',
      'test/console/**',
      ...(mode === 'quick' ? slowTests : []),
    ],
    setupFiles: ['./test/property-seed.ts'],
    server: { deps: { external: [compiledFiles] } },
    pool: 'threads',
    isolate: false,
    // Many tests wait for programs that they have started: with more workers than cores, no core is idle meanwhile. Each worker loads and
    // compiles the sources for itself, so not many more.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // Only for tests that hang: on a busy machine a test may take ten times as long as on an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    reporters: [process.env.VITEST_REPORTER ?? 'default', './test/tally-reporter.ts'],
  },
}));
