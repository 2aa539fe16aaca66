import { describe, expect, test } from 'vitest';
import type { Scenario } from '../fidelity/scenario.ts';
import { compareWrites, type WritesComparison } from './apply/compare-writes.ts';
import { randomCustomWrites } from './apply/random-custom-writes.ts';
import { randomWrites } from './apply/random-writes.ts';
import { type BothServers, bothServers } from './testing/both-servers.ts';
import { lacks, serverPrograms } from './vitest-beds.ts';

/**
 * Random objects and writers, the same in every run. To see others, more, or one again:
 *
 *     APPLY_SEED=1234 APPLY_OBJECTS=500 APPLY_CUSTOM_OBJECTS=50 npm run test:kubernetes -- test/kubernetes/apply.test.ts
 */
const firstSeed = Number(process.env.APPLY_SEED ?? 1);
const objectCount = Number(process.env.APPLY_OBJECTS ?? 40);
const stepsPerObject = 16;
const objectMaxMs = 15_000;
/** For custom kinds; each run has its own definition. */
const customObjectCount = Number(process.env.APPLY_CUSTOM_OBJECTS ?? 6);
const stepsPerCustomObject = 50;
const customObjectMaxMs = 60_000;
/** The number of differences that a failure shows; the others are only counted. */
const shownMax = 5;

describe.skipIf(lacks('1.36', ...serverPrograms))('server-side apply compared with the real server', () => {
  const { servers, bugs } = bothServers();

  test(
    'gives the same objects, field owners and errors',
    async () => {
      const scenarios = seeds(objectCount).map((seed) => randomWrites(seed, stepsPerObject));
      const { count } = check('server-side apply', await compareAll(servers(), scenarios));
      expect(bugs).toEqual([]);
      if (objectCount > 20) expect(Math.min(count(200), count(409))).toBeGreaterThan(objectCount);
    },
    60_000 + objectCount * objectMaxMs,
  );

  test(
    'gives the same for custom kinds with any schemas of lists and maps',
    async () => {
      const scenarios = seeds(customObjectCount).map((seed) =>
        randomCustomWrites(seed, stepsPerCustomObject),
      );
      const { count } = check('custom kinds', await compareAll(servers(), scenarios));
      expect(bugs).toEqual([]);
      if (customObjectCount > 5) expect(Math.min(count(200), count(409))).toBeGreaterThan(customObjectCount);
    },
    60_000 + customObjectCount * customObjectMaxMs,
  );
});

function seeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => firstSeed + i);
}

async function compareAll(
  servers: BothServers,
  scenarios: readonly Scenario[],
): Promise<readonly WritesComparison[]> {
  const compared: WritesComparison[] = [];
  for (const writes of scenarios) compared.push(await compareWrites(servers, writes));
  return compared;
}

/** Fails if the two servers differ, and checks that enough different outcomes occurred. */
function check(what: string, compared: readonly WritesComparison[]): { count(status: number): number } {
  const outcomes = compared.flatMap((each) => each.outcomes);
  const count = (status: number): number => outcomes.filter((each) => each === status).length;
  const tally = `${outcomes.length} answers, ${count(200)} writes, ${count(409)} conflicts`;
  process.stdout.write(`${what}, from seed ${firstSeed}: ${tally}\n`);
  const problems = compared.map(({ text }) => text).filter((text) => text !== '');
  if (problems.length > 0) {
    expect.fail(`${problems.length} scenarios differ\n${problems.slice(0, shownMax).join('\n\n')}`);
  }
  return { count };
}
