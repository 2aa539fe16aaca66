/**
 * The fifty scenarios of disks on a real API server: the same tests as in `src/controllers/disks/scenarios`, and those that are tests of a pure
 * function elsewhere. Time is virtual: it passes when no request is on its way and every watch has delivered what was written. Two instances of
 * the controller act at once, and one of them is killed at a random request of each scenario, and replaced. Every version that is delivered is
 * checked.
 *
 * What differs from the embedded server:
 * - Numbers of writes, conflicts and Events, and what one instance sees of another, are exact without kills only: 18, 24, 26, 27, 29, 30, 31, 35, 36,
 *   39, 47 and some tests without a number compare the end state here. 8 has no writes, so it is exact.
 * - 9: the server stores no wrong sum, so that one is repaired is tested with the pure function only.
 * - 25: all interleavings are tried with the pure function (`src/engine/disks/decide-disk.test.ts`); here every order of the requests, with one
 *   decider held back between its read and its write from any of them on.
 * - 32: one instance at a time, because the last write before each crash is counted.
 * - 48: one instance, whose plans are counted.
 * - 49: that a pass over 4000 entries is correct is tested with the pure function; here the server accepts them, and no more.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClusterCall } from '../../src/cluster/intercepted-cluster.ts';
import { DisksFixture, diskUUID } from '../../src/controllers/disks/testing/disks-fixture.ts';
import { Gate } from '../../src/controllers/disks/testing/gate.ts';
import {
  type ScenarioServer,
  scenarioServer,
  useScenarioServer,
} from '../../src/controllers/disks/testing/scenario-server.ts';
import { isReason } from '../../src/kube/api-error.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { backingImages } from '../../src/kube/stowage/backing-image.ts';
import { diskSchedules } from '../../src/kube/stowage/disk-schedule.ts';
import { diskSettings } from '../../src/kube/stowage/disk-settings.ts';
import { replicas } from '../../src/kube/stowage/replica.ts';
import { storageNodes } from '../../src/kube/stowage/storage-node.ts';
import { diskVolumes } from '../../src/kube/stowage/volume.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { installOwnKinds } from './testing/own-kinds.ts';
import { KubernetesEnvironments } from './virtual-time/kubernetes-environment.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

const kinds: readonly Resource[] = [
  storageNodes,
  diskSchedules,
  diskVolumes,
  replicas,
  backingImages,
  diskSettings,
];
/** On a busy machine one request may take a second. */
const timeout = 600_000;

describe.skipIf(lacks(...serverPrograms))('disks on a real API server', { timeout }, async () => {
  const bed = sharedTestBed();
  const seed = process.env.DISKS_SEED ?? '11';
  let embedded: ScenarioServer;
  let environments: KubernetesEnvironments | undefined;

  beforeAll(async () => {
    process.stderr.write(`scenarios of disks: kills of seed ${seed}; DISKS_SEED=${seed} repeats them\n`);
    const cluster = await bed().connect();
    await installOwnKinds(cluster, kinds);
    const started = await KubernetesEnvironments.on(cluster, kinds);
    environments = started;
    embedded = scenarioServer();
    useScenarioServer({ start: () => started.start(), kills: seededRandom(seed) });
  });

  afterAll(() => {
    useScenarioServer(embedded);
    environments?.close();
  });

  // They register their tests here.
  await import('../../src/controllers/disks/scenarios/basic.test.ts');
  await import('../../src/controllers/disks/scenarios/resize.test.ts');
  await import('../../src/controllers/disks/scenarios/concurrent.test.ts');
  await import('../../src/controllers/disks/scenarios/faults.test.ts');
  await import('../../src/controllers/disks/scenarios/disk-life.test.ts');
  await import('../../src/controllers/disks/scenarios/images.test.ts');
  await import('../../src/controllers/disks/scenarios/limits.test.ts');

  describe('one disk', () => {
    test('1. one request fits exactly (sum = limit)', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { a: 100 });
      expect(await fixture.verdicts(1)).toEqual(['a scheduled 100']);
      expect(await fixture.granted()).toEqual({ 1: 100 });
    });

    test('2. one byte too much: rejected, size 0, sum unchanged', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { a: 101 });
      expect(await fixture.verdicts(1)).toEqual(['a rejected 0 InsufficientStorage']);
      expect(await fixture.granted()).toEqual({ 1: 0 });
    });

    test('4. a replica and a backing image with the same name do not clash', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { a: 60 });
      await fixture.request(1, { a: 40 }, 'backingImages');
      expect(await fixture.granted()).toEqual({ 1: 100 });
      // The bytes of the replica do not count for the image.
      await fixture.request(1, { a: 50 }, 'backingImages');
      expect(await fixture.verdicts(1)).toEqual(['a scheduled 60']);
      expect(await fixture.verdicts(1, 'backingImages')).toEqual(['a rejected 40 InsufficientStorage']);
      expect(await fixture.granted()).toEqual({ 1: 100 });
    });

    test('7. missing maps behave as empty maps', async () => {
      const fixture = await DisksFixture.start(100);
      const { spec, status } = (await fixture.schedule(1)) ?? {};
      expect(spec).toEqual({ name: 'd', nodeID: 'n1' });
      expect(status).toMatchObject({ storageScheduled: 0, storageLimit: 100 });
    });

    test('9. a wrong sum is refused at the door', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { a: 60 });
      const client = fixture.environment.cluster.resource(diskSchedules);
      const body = { status: { storageScheduled: 7 } };
      const write = client.patch({ name: diskUUID(1) }, { type: 'merge', body }, { subresource: 'status' });
      await expect(write).rejects.toSatisfy((error) => isReason(error, 'Invalid'));
      expect(await fixture.granted()).toEqual({ 1: 60 });
    });

    test('10. a rejected entry becomes scheduled after another release, without being touched', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { a: 60 });
      await fixture.request(1, { b: 60 });
      expect(await fixture.verdicts(1)).toEqual(['a scheduled 60', 'b rejected 0 InsufficientStorage']);
      await fixture.request(1, { a: null });
      expect(await fixture.verdicts(1)).toEqual(['b scheduled 60']);
    });

    test('11. growth accepted', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { a: 50 });
      await fixture.request(1, { a: 100 });
      expect(await fixture.verdicts(1)).toEqual(['a scheduled 100']);
    });

    test('12. growth rejected: old non-zero size and sum unchanged', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { a: 50 });
      await fixture.request(1, { a: 101 });
      expect(await fixture.verdicts(1)).toEqual(['a rejected 50 InsufficientStorage']);
      expect(await fixture.granted()).toEqual({ 1: 50 });
    });

    test('15. shrinking is always accepted; the freed bytes serve another request in the same pass', async () => {
      const fixture = await DisksFixture.start(100);
      await fixture.request(1, { m: 60, z: 40 });
      await fixture.request(1, { a: 50, m: 10 });
      expect(await fixture.verdicts(1)).toEqual(['a scheduled 50', 'm scheduled 10', 'z scheduled 40']);
      await fixture.setLimit(1, 1);
      await fixture.request(1, { z: 5 });
      expect(await fixture.verdicts(1)).toEqual(['a scheduled 50', 'm scheduled 10', 'z scheduled 5']);
    });

    test.each([
      ['a', 'z'],
      ['z', 'a'],
    ])(
      '16. release of %s and growth of %s in one pass: growth fits in the released space',
      async (gone, grows) => {
        const fixture = await DisksFixture.start(100);
        await fixture.request(1, { [gone]: 60, [grows]: 40 });
        await fixture.request(1, { [gone]: null, [grows]: 100 });
        expect(await fixture.verdicts(1)).toEqual([`${grows} scheduled 100`]);
      },
    );

    test('25. two deciders, three requests: every order, with one decider held back from any request on', async () => {
      const fixture = await DisksFixture.start(100);
      let held: Gate | undefined;
      let holds = 0;
      await fixture.restartOne({
        before: async ({ verb, resource }: ClusterCall) => {
          if (verb !== 'update' || resource.plural !== diskSchedules.plural || held === undefined) return;
          holds += 1;
          await held.opened;
        },
      });
      fixture.runAnother();
      const client = fixture.environment.cluster.resource(diskSchedules);
      const sizes: Readonly<Record<string, number>> = { a: 60, b: 60, c: 30 };
      let round = 0;
      for (const order of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
        for (const heldFrom of [0, 1, 2]) {
          round += 1;
          // New names: a request whose owner was missing a minute ago is removed.
          const ask = (name: string, size: number | null) => ({ [`${name}${round}`]: size });
          for (const [at, name] of [...order].entries()) {
            if (at === heldFrom) held = new Gate();
            const body = { spec: { replicas: ask(name, sizes[name] ?? 0) } };
            await client.patch({ name: diskUUID(1) }, { type: 'merge', body });
            await fixture.environment.settle(0);
          }
          held?.open();
          held = undefined;
          await fixture.settle();
          const rejected = (await fixture.verdicts(1)).filter((line) => line.includes('rejected'));
          expect(rejected, `${order} ${heldFrom}`).toEqual([expect.stringMatching(/^[ab]\d+ rejected 0/)]);
          expect(await fixture.granted(), `${order} ${heldFrom}`).toEqual({ 1: 90 });
          await fixture.request(1, { ...ask('a', null), ...ask('b', null), ...ask('c', null) });
          expect(await fixture.granted()).toEqual({ 1: 0 });
        }
      expect(holds).toBeGreaterThan(0);
    });
  });
});
