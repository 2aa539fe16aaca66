// npm run soak:server -- --minutes N [--seed S]: faults against real servers, with a check of all that clients saw.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
});
const env = { ...process.env, ROBUSTNESS_MINUTES: values.minutes, ROBUSTNESS_SEED: values.seed };
const args = [
  'vitest',
  'run',
  'test/robustness/server-faults',
  '--maxWorkers=1',
  '--disable-console-intercept',
];
process.exitCode = spawnSync('npx', args, { env, stdio: 'inherit' }).status ?? 1;
