/**
 * A child process that simulates the seeds `from` to `to`, except those in `skip` and those that are not about `subject`, with the compiled program in `build`, until an
 * invariant is broken. With `module` and `mutated`, that module of the program is replaced. Prints one line of JSON for each seed.
 */
import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const options = {
  build: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  skip: { type: 'string', default: '' },
  subject: { type: 'string' },
  module: { type: 'string' },
  mutated: { type: 'string' },
};
const { build, from, to, skip, subject, module, mutated } = parseArgs({ options }).values;

if (module !== undefined) {
  const url = pathToFileURL(join(build, module)).href;
  register('./mutation-hook.mjs', import.meta.url, { data: { url, file: mutated } });
}

let seed = Number(from);
// A bug may end a task that no other task waits for.
process.on('uncaughtException', (error) => {
  report([{ invariant: 'every exception is caught', detail: String(error) }]);
  process.exit(0);
});

const { scenarioOfSeed } = await import(pathToFileURL(join(build, 'simulation/seed-scenario.js')).href);
const { simulate } = await import(pathToFileURL(join(build, 'simulation/simulation.js')).href);
const skipped = new Set(skip.split(',').map(Number));
for (; seed <= Number(to); seed += 1) {
  if (skipped.has(seed)) continue;
  if (subject !== undefined && (scenarioOfSeed(seed).subject ?? 'pods') !== subject) continue;
  const violations = await violationsOf(seed);
  report(violations);
  if (violations.length > 0) break;
}
process.exit(0);

async function violationsOf(seed) {
  try {
    return (await simulate(scenarioOfSeed(seed))).violations;
  } catch (error) {
    return [{ invariant: 'the simulation runs to its end', detail: String(error?.stack ?? error) }];
  }
}

function report(violations) {
  const [first] = violations;
  process.stdout.write(`${JSON.stringify({ seed, violation: first ?? null })}\n`);
}
