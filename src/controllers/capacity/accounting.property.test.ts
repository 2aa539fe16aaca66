import fc from 'fast-check';
import { expect, test } from 'vitest';
import '../../../test/property-seed.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { csiStorageCapacities, persistentVolumes } from '../../kube/resources.ts';
import { volumeExistsAtMs } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { gib, PublisherFixture, topologyKey } from './testing/publisher-fixture.ts';

const segments = ['n1', 'n2'];
const step = fc.record({
  what: fc.constantFrom('provision', 'provision', 'create-only', 'delete', 'wait', 'fail', 'restart'),
  segment: fc.constantFrom(...segments),
  pick: fc.nat(5),
  afterMs: fc.integer({ min: 1, max: 4_000 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** When the driver was asked, and what was free then: `SEGMENT TIME` to bytes. The oracle replays the driver by it. */
type History = Map<string, Set<bigint>>;

async function take({ what, segment, pick }: Step, fixture: PublisherFixture): Promise<void> {
  const name = `v${pick}`;
  const { driver } = fixture;
  if (what === 'provision' && !driver.volumes.has(`id-${name}`))
    await fixture.provision(name, segment, gib).catch(() => {});
  if (what === 'create-only' && !driver.volumes.has(`id-${name}`)) {
    const requisite = [{ segments: { [topologyKey]: segment } }];
    const mode = { accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } } as const;
    const request = {
      name,
      capacityRange: { requiredBytes: gib },
      volumeCapabilities: [mode],
      accessibilityRequirements: { requisite, preferred: requisite },
    };
    const { signal } = new AbortController();
    await fixture.served.call('CreateVolume', request, { signal }).catch(() => {});
  }
  if (what === 'delete' && driver.volumes.has(`id-${name}`)) await fixture.unprovision(name).catch(() => {});
  if (what === 'restart') {
    await fixture.stop();
    fixture.run();
  }
}

/** The bytes that a scheduler treats as free: the capacity report, less every volume that it does not know to be in the report. */
async function check(fixture: PublisherFixture, history: History, isAtRest: boolean): Promise<void> {
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  const known = new Map<string, number | undefined>();
  for (const volume of (await fixture.cluster.resource(persistentVolumes).list()).items)
    known.set(volume.spec?.csi?.volumeHandle ?? '', volumeExistsAtMs(volume));
  for (const { nodeTopology, capacity, metadata } of items) {
    const segment = nodeTopology?.matchLabels?.[topologyKey] ?? '';
    const measuredAtMs = parseTimestamp(metadata?.annotations?.[annotations.measuredAt]) ?? 0;
    const published = bytesOf(capacity);
    expect(history.get(`${segment} ${measuredAtMs}`) ?? new Set()).toContain(published);
    const promised = [...fixture.driver.volumes.values()].filter(
      ({ id, ...volume }) =>
        volume.segment === segment && !(measuredAtMs > (known.get(id) ?? Number.POSITIVE_INFINITY)),
    );
    const free = published - promised.reduce((sum, { bytes }) => sum + bytes, 0n);
    expect(free <= fixture.driver.freeIn(segment)).toBe(true);
    if (!isAtRest) continue;
    expect(published).toBe(fixture.driver.freeIn(segment));
    expect(promised.every(({ id }) => !known.has(id))).toBe(true);
  }
}

test('published less promised never exceeds what the driver has, and at rest every volume is counted once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      await using fixture = await PublisherFixture.prepare({ pools: { n1: 4n * gib, n2: 2n * gib } });
      const { driver } = fixture;
      const history: History = new Map();
      let failures = 0;
      driver.afterCall = (method, request) => {
        if (method !== 'GetCapacity') return;
        const { accessibleTopology } = request as {
          accessibleTopology?: { segments: Record<string, string> };
        };
        const segment = accessibleTopology?.segments[topologyKey] ?? '';
        const key = `${segment} ${Math.floor(fixture.environment.clock.nowMs())}`;
        history.set(key, (history.get(key) ?? new Set()).add(driver.freeIn(segment)));
        if (failures > 0) {
          failures -= 1;
          throw new CsiStatusError('Unavailable', 'the reply is lost');
        }
      };
      fixture.run();
      await fixture.settle();
      for (const one of steps) {
        if (one.what === 'fail') failures += 2;
        await take(one, fixture);
        await fixture.settle(one.afterMs);
        await check(fixture, history, false);
      }
      await fixture.settle(70_000);
      await check(fixture, history, true);
    }),
    { numRuns: 12 },
  );
});
