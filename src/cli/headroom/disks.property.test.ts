/**
 * Headroom N means that N more volumes fit on disks and N + 1 do not, in random clusters with all controllers: replicas are on different nodes. To try more:
 *
 *     HEADROOM_CLUSTERS=300 HEADROOM_SEED=mine npx vitest run src/cli/headroom/disks.property.test.ts
 */
import { expect, test } from 'vitest';
import {
  DiskClaimsFixture,
  namespace,
} from '../../controllers/provisioner/disks/testing/disk-claims-fixture.ts';
import { measureRoom } from '../../queries/headroom/measure.ts';
import { seededRandom } from '../../runtime/random.ts';
import { loadCluster } from '../source/load-cluster.ts';

const clusters = Number(process.env.HEADROOM_CLUSTERS ?? 2);
const seed = process.env.HEADROOM_SEED ?? 'disks';

async function measured({ cluster, environment }: DiskClaimsFixture, bytes: number) {
  const options = { server: 'the test', source: 'the test', onProgress: () => {} };
  const view = await loadCluster(cluster, { namespace }, options);
  const size = { text: String(bytes), bytes };
  const nowMs = environment.clock.nowMs();
  return measureRoom(view, { nowMs, profile: 'stowage', size, storageClass: 'disks' }).rows[0]!;
}

async function running(fixture: DiskClaimsFixture): Promise<number> {
  return (await fixture.phases()).filter((line) => /^more-.* Running$/.test(line)).length;
}

const all = Array.from({ length: clusters }, (_, at) => at);

test.each(all)('headroom N means that N volumes fit on disks and N + 1 do not, in cluster %s', async (at) => {
  const random = seededRandom(`${seed} ${at}`);
  const limits = Array.from({ length: 2 + random.int(3) }, () => random.pick([30, 60, 100, 130]));
  const numberOfReplicas = random.pick(['1', '2', '2']);
  const fixture = await DiskClaimsFixture.start({ limits, parameters: { numberOfReplicas } });
  if (random.next() < 0.5) await fixture.addPod('first', random.pick([10, 25]));
  await fixture.settle();
  const bytes = random.pick([10, 25, 40]);
  const { count, runsOut } = await measured(fixture, bytes);
  const detail = `${count} of ${bytes} with ${numberOfReplicas} replicas on ${limits.join()}`;
  expect(
    runsOut.map(({ sentence }) => sentence),
    detail,
  ).not.toEqual([]);
  for (let more = 0; more < count; more += 1) {
    await fixture.addPod(`more-${more}`, bytes);
    await fixture.settle();
  }
  expect(await running(fixture), detail).toBe(count);
  await fixture.addPod(`more-${count}`, bytes);
  await fixture.settle(20_000);
  expect(await running(fixture), detail).toBe(count);
});
