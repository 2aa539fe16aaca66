import { expect, test } from 'vitest';
import { type Fault, type RobustnessReport, runRobustness } from './run-robustness.ts';
import { canLimitFiles } from './server-process.ts';

const allFaults: readonly Fault[] = ['kill', 'damage', ...(canLimitFiles() ? ['full-disk' as const] : [])];

test('acknowledged writes survive a kill, damage and a full disk, and the history is linearizable', async () => {
  const report = await runRobustness({ seed: 'short', rounds: allFaults.length, faults: allFaults });
  expect(report.problems).toEqual([]);
  expect(report.kills).toBe(allFaults.length);
  expect(report.acknowledged).toBeGreaterThan(20);
  expect(report.events).toBeGreaterThan(20);
  if (canLimitFiles()) expect(report.refused).toBeGreaterThan(0);
  expect(report.copiesRefused).toBeGreaterThan(0);
});

/** `npm run soak:server -- --minutes N`: other seeds for that long; the output has the seed of each run. */
const minutes = Number(process.env.ROBUSTNESS_MINUTES ?? 0);
const firstSeed = Number(process.env.ROBUSTNESS_SEED ?? 1);

test.runIf(minutes > 0)('the same for a long time', { timeout: (minutes + 5) * 60_000 }, async () => {
  const untilMs = Date.now() + minutes * 60_000;
  const totals = new Map<string, number>();
  for (let seed = firstSeed; Date.now() < untilMs; seed += 1) {
    const report = await runRobustness({
      seed,
      rounds: 6,
      faults: allFaults,
      operations: 300,
      damagedCopies: 40,
    });
    addTo(totals, report);
    process.stdout.write(`seed ${seed}: ${JSON.stringify(Object.fromEntries(totals))}\n`);
    expect(report.problems, `seed ${seed}`).toEqual([]);
  }
});

function addTo(totals: Map<string, number>, { problems, ...counts }: RobustnessReport): void {
  totals.set('runs', (totals.get('runs') ?? 0) + 1);
  totals.set('problems', (totals.get('problems') ?? 0) + problems.length);
  for (const [name, count] of Object.entries(counts)) totals.set(name, (totals.get(name) ?? 0) + count);
}
