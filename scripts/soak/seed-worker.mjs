/** A thread of `npm run soak`: simulates the seeds that it is sent, one after the other, and sends what each gave. */
import { parentPort } from 'node:worker_threads';
import { scenarioOfSeed } from '../../dist/simulation/seed-scenario.js';
import { simulate } from '../../dist/simulation/simulation.js';

parentPort.on('message', async (seed) => {
  const { violations, coverage, faults, versions, elapsedMs } = await simulate(scenarioOfSeed(seed));
  parentPort.postMessage({ seed, violations, coverage: coverage.record, faults, versions, elapsedMs });
});
