import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddedServer } from '../../src/cluster/embedded/embedded-server.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { addressOf } from '../fidelity/http-client.ts';
import { compareLife } from './apply/beside-real.ts';
import { lacks, serverPrograms, sharedBed } from './bed-in-test.ts';

/**
 * Random objects with random writers, the same at every run. To see others, or more, or one again:
 *
 *     APPLY_SEED=1234 APPLY_LIVES=500 npm run test:kubernetes -- test/kubernetes/apply.test.ts
 */
const firstSeed = Number(process.env.APPLY_SEED ?? 1);
const lifeCount = Number(process.env.APPLY_LIVES ?? 40);
const stepsPerLife = 16;
const lifeMaxMs = 5_000;
/** Who is to be shown; the rest is counted. */
const shownMax = 5;

describe.skipIf(lacks(...serverPrograms))('server-side apply beside the real server', () => {
  const bed = sharedBed();
  const bugs: unknown[] = [];
  let embedded: EmbeddedServer;

  beforeAll(async () => {
    embedded = await EmbeddedServer.start({
      clock: realClock,
      ids: systemIds,
      random: systemRandom,
      onError: (error, where) => bugs.push(where, error),
    });
  });

  afterAll(async () => {
    await embedded.close();
  });

  test(
    'gives the same objects, owners and refusals',
    async () => {
      const real = addressOf(readFileSync(bed().kubeconfig, 'utf8'));
      const servers = { real, ours: addressOf(embedded.kubeconfig) };
      const problems: string[] = [];
      const outcomes: number[] = [];
      for (let seed = firstSeed; seed < firstSeed + lifeCount; seed++) {
        const compared = await compareLife(servers, seed, stepsPerLife);
        if (compared.text !== '') problems.push(compared.text);
        outcomes.push(...compared.outcomes);
      }
      const count = (status: number): number => outcomes.filter((each) => each === status).length;
      const tally = `${outcomes.length} answers, ${count(200)} writes, ${count(409)} conflicts`;
      process.stdout.write(`server-side apply, from seed ${firstSeed}: ${tally}\n`);
      expect(bugs).toEqual([]);
      if (problems.length > 0) {
        expect.fail(`${problems.length} lives differ\n${problems.slice(0, shownMax).join('\n\n')}`);
      }
      if (lifeCount > 20) expect(Math.min(count(200), count(409))).toBeGreaterThan(lifeCount);
    },
    60_000 + lifeCount * lifeMaxMs,
  );
});
