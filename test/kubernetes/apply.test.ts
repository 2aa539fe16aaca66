import { describe, expect, test } from 'vitest';
import type { Scenario } from '../fidelity/scenario.ts';
import { type Compared, compareLife } from './apply/beside-real.ts';
import { randomCustomLife } from './apply/random-custom-life.ts';
import { randomLife } from './apply/random-life.ts';
import { lacks, serverPrograms } from './bed-in-test.ts';
import { type BothServers, bothServers } from './testing/both-servers.ts';

/**
 * Random objects and writers, the same in every run. To see others, more, or one again:
 *
 *     APPLY_SEED=1234 APPLY_OBJECTS=500 APPLY_CUSTOM_OBJECTS=50 npm run test:kubernetes -- test/kubernetes/apply.test.ts
 */
const firstSeed = Number(process.env.APPLY_SEED ?? 1);
const lifeCount = Number(process.env.APPLY_LIVES ?? 40);
const stepsPerLife = 16;
const lifeMaxMs = 5_000;
/** For custom kinds; each run has its own definition. */
const customLifeCount = Number(process.env.APPLY_CUSTOM_LIVES ?? 6);
const stepsPerCustomLife = 50;
const customLifeMaxMs = 20_000;
/** The number of differences that a failure shows; the others are only counted. */
const shownMax = 5;

describe.skipIf(lacks('1.36', ...serverPrograms))('server-side apply compared with the real server', () => {
  const { servers, bugs } = bothServers();

  test(
    'gives the same objects, field owners and errors',
    async () => {
      const lives = seeds(lifeCount).map((seed) => randomLife(seed, stepsPerLife));
      const { count } = check('server-side apply', await compareAll(servers(), lives));
      expect(bugs).toEqual([]);
      if (lifeCount > 20) expect(Math.min(count(200), count(409))).toBeGreaterThan(lifeCount);
    },
    60_000 + lifeCount * lifeMaxMs,
  );

  test(
    'gives the same for custom kinds with any schemas of lists and maps',
    async () => {
      const lives = seeds(customLifeCount).map((seed) => randomCustomLife(seed, stepsPerCustomLife));
      const { count } = check('custom kinds', await compareAll(servers(), lives));
      expect(bugs).toEqual([]);
      if (customLifeCount > 5) expect(Math.min(count(200), count(409))).toBeGreaterThan(customLifeCount);
    },
    60_000 + customLifeCount * customLifeMaxMs,
  );
});

function seeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => firstSeed + i);
}

async function compareAll(servers: BothServers, lives: readonly Scenario[]): Promise<readonly Compared[]> {
  const compared: Compared[] = [];
  for (const life of lives) compared.push(await compareLife(servers, life));
  return compared;
}

/** Fails if the two servers differ, and checks that enough different outcomes occurred. */
function check(what: string, compared: readonly Compared[]): { count(status: number): number } {
  const outcomes = compared.flatMap((each) => each.outcomes);
  const count = (status: number): number => outcomes.filter((each) => each === status).length;
  const tally = `${outcomes.length} answers, ${count(200)} writes, ${count(409)} conflicts`;
  process.stdout.write(`${what}, from seed ${firstSeed}: ${tally}\n`);
  const problems = compared.map(({ text }) => text).filter((text) => text !== '');
  if (problems.length > 0) {
    expect.fail(`${problems.length} lives differ\n${problems.slice(0, shownMax).join('\n\n')}`);
  }
  return { count };
}
