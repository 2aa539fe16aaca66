/**
 * Headroom N means that N more fit and N + 1 do not, in random clusters with the real scheduler. To try more of them, or others:
 *
 *     HEADROOM_CLUSTERS=1000 HEADROOM_SEED=mine npx vitest run src/cli/headroom/headroom.property.test.ts
 */
import { expect, test } from 'vitest';
import { namespace } from '../../controllers/scheduler/testing/scheduler-fixture.ts';
import { pods } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { RandomWorkloads } from '../plan/testing/random-workloads.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { measureRoom } from './measure.ts';

const clusters = Number(process.env.HEADROOM_CLUSTERS ?? 3);
const seed = process.env.HEADROOM_SEED ?? 'headroom';
const clustersPerTest = 10;

async function measured({ fixture }: RandomWorkloads, storageClass: string, gib: number): Promise<number> {
  const options = { server: 'the test', source: 'the test', onProgress: () => {} };
  const view = await loadCluster(fixture.cluster, { namespace }, options);
  const nowMs = fixture.environment.clock.nowMs();
  const size = { text: `${gib}Gi`, bytes: gib * 2 ** 30 };
  const [row] = measureRoom(view, { nowMs, profile: 'stowage', size, storageClass }).rows;
  return row!.count;
}

/** Creates so many pods with a claim each, all at once, and returns how many of all of them have a node. */
async function placedOf(
  { fixture }: RandomWorkloads,
  count: number,
  claim: { readonly storageClass: string; readonly gib: number; readonly from: number },
): Promise<number> {
  for (let at = claim.from; at < claim.from + count; at += 1) {
    await fixture.claim(`more-${at}`, `${claim.gib}Gi`, { storageClassName: claim.storageClass });
    await fixture.pod(`more-${at}`, [`more-${at}`]);
  }
  await fixture.settle(10_000);
  const { items } = await fixture.cluster.resource(pods).list();
  return items.filter(({ metadata, spec }) => metadata?.name?.startsWith('more-') && spec?.nodeName).length;
}

const starts = Array.from({ length: Math.ceil(clusters / clustersPerTest) }, (_, at) => at * clustersPerTest);

test.each(starts)('headroom N means that N fit and N + 1 do not, in clusters from %s', async (start) => {
  const counts = new Set<number>();
  for (let at = start; at < Math.min(start + clustersPerTest, clusters); at += 1) {
    await using workloads = await RandomWorkloads.start(`${seed} ${at}`);
    const random = seededRandom(`${seed} ${at}`);
    const storageClass = random.pick(['pools', 'pools', 'local']);
    const gib = random.pick([1, 3, 4]);
    const count = await measured(workloads, storageClass, gib);
    counts.add(count);
    const asked = { storageClass, gib };
    const detail = `cluster ${seed} ${at}: ${count} of ${JSON.stringify(asked)}`;
    expect(await placedOf(workloads, count, { ...asked, from: 0 }), detail).toBe(count);
    expect(await placedOf(workloads, 1, { ...asked, from: count }), detail).toBe(count);
  }
  // The clusters must differ, or the test proves little.
  expect(counts.size).toBeGreaterThan(1);
});
