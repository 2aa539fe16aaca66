/**
 * Headroom N means that N more fit and N + 1 do not, in random clusters with the real scheduler. To try more of them, or others:
 *
 *     HEADROOM_CLUSTERS=1000 HEADROOM_SEED=mine npx vitest run src/cli/headroom/headroom.property.test.ts
 */
import { expect, test } from 'vitest';
import { namespace } from '../../controllers/scheduler/testing/scheduler-fixture.ts';
import { RandomWorkloads } from '../plan/testing/random-workloads.ts';
import { countMore, measureAgain, randomQuestion } from './testing/headroom-question.ts';

const clusters = Number(process.env.HEADROOM_CLUSTERS ?? 5);
const seed = process.env.HEADROOM_SEED ?? 'headroom';
const clustersPerTest = 10;

const starts = Array.from({ length: Math.ceil(clusters / clustersPerTest) }, (_, at) => at * clustersPerTest);

test.each(starts)('headroom N means that N fit and N + 1 do not, in clusters from %s', async (start) => {
  const counts = new Set<number>();
  for (let at = start; at < Math.min(start + clustersPerTest, clusters); at += 1) {
    await using workloads = await RandomWorkloads.start(`${seed} ${at}`);
    const question = await randomQuestion(workloads, `${seed} ${at}`);
    const count = await measureAgain(workloads, question);
    counts.add(count);
    const detail = `cluster ${seed} ${at}: ${count} in ${namespace} of ${JSON.stringify(question)}`;
    expect(await countMore(workloads, question, { from: 0, to: count }), detail).toBe(count);
    expect(await countMore(workloads, question, { from: count, to: count + 1 }), detail).toBe(count);
  }
  // The clusters must differ, or the test proves little.
  expect(counts.size).toBeGreaterThan(1);
});
