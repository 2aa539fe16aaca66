import { expect, test } from 'vitest';
import { csiStorageCapacities, nodes, persistentVolumes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { gib, PublisherFixture } from './testing/publisher-fixture.ts';

const pools = { n1: 10n * gib, n2: 20n * gib };
const create = 'create csistoragecapacities';
const patch = 'patch csistoragecapacities';

/** A settled publisher, of whose start nothing is counted. */
async function settled(classes = ['fast']): Promise<PublisherFixture> {
  const fixture = await PublisherFixture.start({ pools, classes });
  await fixture.settle(5_000);
  fixture.takeWork();
  return fixture;
}

interface Case {
  readonly what: string;
  readonly classes?: string[];
  readonly happens: (fixture: PublisherFixture) => Promise<unknown>;
  readonly forMs?: number;
  readonly work: string;
}

const cases: readonly Case[] = [
  { what: 'nothing, for less than a poll interval', happens: async () => {}, work: '0 calls' },
  { what: 'nothing, for a poll interval', happens: async () => {}, forMs: 62_000, work: '2 calls' },
  {
    what: 'a node that is added',
    happens: async (fixture) => {
      fixture.driver.pools.set('n3', gib);
      await fixture.node('n3');
    },
    work: `1 calls, ${create}`,
  },
  {
    what: 'a heartbeat of a node',
    happens: ({ cluster }) => {
      const body = { metadata: { annotations: { beat: '1' } } };
      return cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
    },
    work: '0 calls',
  },
  {
    what: 'a class that is added',
    happens: (one) => one.storageClass('more', { parameters: { a: 'b' } }),
    work: `2 calls, ${create}, ${create}`,
  },
  {
    what: 'a volume that is created',
    happens: (one) => one.provision('a', 'n1', gib),
    work: `1 calls, ${patch}`,
  },
  {
    what: 'ten volumes that are created in one segment at once',
    happens: async (fixture) => {
      for (let at = 0; at < 10; at += 1) await fixture.provision(`v${at}`, 'n1', gib / 10n);
    },
    work: `1 calls, ${patch}`,
  },
  {
    what: 'a volume that is created in a segment with two classes',
    classes: ['fast', 'slow'],
    happens: (one) => one.provision('a', 'n1', gib),
    work: `2 calls, ${patch}, ${patch}`,
  },
  {
    what: 'a volume that the driver refuses',
    happens: (one) => one.provision('a', 'n1', 50n * gib).catch(() => {}),
    work: '1 calls',
  },
  {
    what: 'a volume of another driver',
    happens: ({ cluster }) =>
      cluster.resource(persistentVolumes).create({
        metadata: { name: 'x' },
        spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
      }),
    work: '0 calls',
  },
  {
    what: 'an amount that changes behind our back, for a poll interval',
    happens: async ({ driver }) => driver.pools.set('n1', 11n * gib),
    forMs: 62_000,
    work: `2 calls, ${patch}`,
  },
];

test.each(cases)('$what: $work', async ({ classes, happens, forMs = 10_000, work }) => {
  await using fixture = await settled(classes);
  await happens(fixture);
  await fixture.settle(forMs);
  expect(fixture.takeWork()).toBe(work);
  expect(fixture.warnings).toEqual([]);
});

test('a volume that is deleted or expanded is measured after the call, once', async () => {
  await using fixture = await settled();
  await fixture.provision('a', 'n1', gib);
  await fixture.settle(10_000);
  fixture.takeWork();
  const expand = { volumeId: 'id-a', capacityRange: { requiredBytes: 2n * gib } };
  await fixture.served.call('ControllerExpandVolume', expand, { signal: new AbortController().signal });
  await fixture.settle(5_000);
  expect(fixture.takeWork()).toBe(`1 calls, ${patch}`);
  expect(await fixture.published()).toEqual(['fast n1: 8Gi', 'fast n2: 20Gi']);
  await fixture.unprovision('a');
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe(`1 calls, ${patch}`);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi', 'fast n2: 20Gi']);
});

test('a restart writes nothing, and measures each capacity report once', async () => {
  await using fixture = await settled();
  await fixture.provision('a', 'n1', gib);
  await fixture.settle(10_000);
  await fixture.stop();
  fixture.takeWork();
  fixture.run();
  await fixture.settle(5_000);
  expect(fixture.takeWork()).toBe('2 calls');
});

test('measured-at advances after a volume was created, even if the amount stays the same', async () => {
  await using fixture = await settled();
  const measuredAt = async () => {
    const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
    const [object] = items.filter(({ nodeTopology }) => JSON.stringify(nodeTopology).includes('n1'));
    return Date.parse(object?.metadata?.annotations?.[annotations.measuredAt] ?? '');
  };
  const before = await measuredAt();
  // A thin pool: its reports do not follow its volumes. The volume is too small to count as drift, which would be written too.
  const small = 1024n ** 2n;
  fixture.driver.pools.set('n1', 10n * gib + small);
  await fixture.provision('a', 'n1', small);
  const volume = await fixture.cluster.resource(persistentVolumes).get({ name: 'a' });
  const existsAtMs = Date.parse(volume.metadata?.creationTimestamp ?? '') + 1000;
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe(`1 calls, ${patch}`);
  expect(await measuredAt()).toBeGreaterThan(existsAtMs);
  expect(before).toBeLessThan(existsAtMs);
  await fixture.settle(300_000);
  expect(fixture.writes).toEqual([]);
});

test('the time is taken before the driver is asked', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib } });
  const { clock } = fixture.environment;
  const startMs = clock.nowMs();
  fixture.driver.beforeCall = async () => clock.sleep(3_000, new AbortController().signal);
  fixture.run();
  await fixture.settle(10_000);
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  const [object] = items;
  expect(Date.parse(object?.metadata?.annotations?.[annotations.measuredAt] ?? '')).toBe(startMs);
});

test('of 1,000 segments, one change costs one call and one write', async () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`n${at}`, 10n * gib]));
  await using fixture = await PublisherFixture.start({
    pools: many,
    settings: { pollIntervalMs: 3_600_000 },
  });
  await fixture.settle(120_000);
  expect((await fixture.published()).length).toBe(1000);
  fixture.takeWork();
  await fixture.provision('a', 'n77', gib);
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe(`1 calls, ${patch}`);
  await fixture.unprovision('a');
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe(`1 calls, ${patch}`);
});
