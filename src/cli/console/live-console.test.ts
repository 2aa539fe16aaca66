import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClientDisconnected } from '../../apiserver/server/http/http-exchange.ts';
import { consoleAnswers } from '../../console/answers/console-answers.ts';
import { Console } from '../../console/console.ts';
import type { ConsolePool } from '../../console/wire/rows.ts';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import {
  driverCapacities,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
} from '../../kube/resources.ts';
import { measureCapacity } from '../../queries/capacity/measure-capacity.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { listCluster } from '../../state/list-cluster.ts';
import { ask, ConsoleClient, consoleToken, textOf } from './testing/console-client.ts';
import { seedPool } from './testing/pool-fixture.ts';

const facts = { leases: undefined, isEmbedded: true, isFromFiles: false };

function startConsole({ cluster, clock }: VirtualTimeCluster, seed: string): Console {
  const random = seededRandom(seed);
  return Console.start({
    source: { kind: 'cluster', cluster },
    answers: consoleAnswers({ facts: async () => facts }),
    viewers: { ownToken: consoleToken },
    hosts: [],
    server: 'https://cluster',
    version: 'test',
    canWrite: true,
    clock,
    random,
    ids: idsFrom(random),
    onError: (error) => {
      throw error;
    },
  });
}

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('write' as const), node: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('delete' as const), node: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 400 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('receive' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('cut' as const), lostBytes: fc.integer({ min: 0, max: 600 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('connect' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

test('a stream that is cut anywhere and resumed loses nothing and repeats nothing, also after a restart of the server', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      await using fixture = await VirtualTimeCluster.start();
      const { cluster, clock } = fixture;
      let number = 0;
      let console = startConsole(fixture, 'first');
      await clock.advance(1_000);
      const client = new ConsoleClient();
      await client.load(console);
      await client.connect(console);
      for (const each of steps) {
        number += 1;
        const name = 'node' in each ? `node-${each.node}` : '';
        switch (each.do) {
          case 'write':
            // Every write makes another row than any before.
            await writeNode(fixture, name, number);
            break;
          case 'delete':
            await cluster
              .resource(nodes)
              .delete({ name })
              .catch(() => undefined);
            break;
          case 'wait':
            await clock.advance(each.ms);
            break;
          case 'receive':
            await client.receive(console);
            break;
          case 'cut':
            client.cut(each.lostBytes);
            break;
          case 'connect':
            await client.receive(console);
            client.cut(0);
            await client.connect(console);
            break;
          case 'restart':
            client.cut(0);
            await console.close();
            console = startConsole(fixture, `restart ${number}`);
            await clock.advance(1_000);
        }
      }
      await client.receive(console);
      client.cut(0);
      await client.connect(console);
      await clock.advance(2_000);
      await client.receive(console);
      const fresh = new ConsoleClient();
      await fresh.load(console);
      expect(Object.fromEntries(client.rows)).toEqual(Object.fromEntries(fresh.rows));
      expect(client.repeated).toEqual([]);
      const wasRestarted = steps.some((each) => each.do === 'restart');
      expect(client.resets > 0).toBe(wasRestarted);
      await console.close();
    }),
    { numRuns: 25 },
  );
});

async function writeNode({ cluster }: VirtualTimeCluster, name: string, number: number): Promise<void> {
  const labels = { 'example.com/rack': String(number) };
  await cluster
    .resource(nodes)
    .create({ metadata: { name, labels } })
    .catch(() => cluster.resource(nodes).patch({ name }, { type: 'merge', body: { metadata: { labels } } }));
}

const gi = 2 ** 30;

test('pools have the figures of stowage capacity, also while a volume comes, and an expired figure is one without any change of an object', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await fixture.installOwnKinds();
  const { cluster, clock } = fixture;
  const nodeName = 'node-1';
  await seedPool(cluster, { node: nodeName, storageClass: 'fast', capacity: '100Gi' });
  const key = { namespace: 'default', name: 'data' };
  const claim = await cluster.resource(persistentVolumeClaims).create({
    metadata: { ...key, annotations: { 'volume.kubernetes.io/selected-node': nodeName } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '10Gi' } },
    },
  });
  const console = startConsole(fixture, 'figures');
  await clock.advance(1_000);
  const client = new ConsoleClient();
  await client.load(console);
  await client.connect(console);
  const pools = async (): Promise<readonly ConsolePool[]> => {
    await client.receive(console);
    return [...client.rows].filter(([id]) => id.startsWith('pool ')).map(([, row]) => JSON.parse(row));
  };
  const figures = async () => {
    const { snapshot } = await listCluster(cluster, { namespace: 'default' });
    const report = measureCapacity(
      { snapshot, events: [], notes: [], seesNodes: true },
      { nowMs: clock.nowMs() },
    );
    const expected = report.pools.map(({ pool, used, promised, free }) => ({
      name: pool,
      usedBytes: Number(bytesOf(used)),
      promisedBytes: Number(bytesOf(promised)),
      freeBytes: Number(bytesOf(free)),
    }));
    expect(await pools()).toEqual(expected.map((each) => expect.objectContaining(each)));
    return expected[0];
  };
  expect(await figures()).toMatchObject({ usedBytes: 0, promisedBytes: 10 * gi, freeBytes: 90 * gi });
  await cluster.resource(persistentVolumes).create({
    metadata: { name: 'volume', annotations: { 'pv.kubernetes.io/provisioned-by': 'driver.example' } },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      csi: { driver: 'driver.example', volumeHandle: 'volume' },
      claimRef: { ...key, uid: claim.metadata!.uid! },
    },
  });
  await cluster.resource(persistentVolumeClaims).patch(key, {
    type: 'merge',
    body: {
      metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { volumeName: 'volume' },
    },
  });
  await clock.advance(20_000);
  expect(await figures()).toMatchObject({ usedBytes: 10 * gi, promisedBytes: 0, freeBytes: 100 * gi });
  const expiryTime = new Date(clock.nowMs() + 60_000).toISOString();
  const storage = [{ storageClassName: 'fast', pools: [{ name: 'other', capacity: '5Gi', expiryTime }] }];
  await cluster
    .resource(driverCapacities)
    .create({ metadata: { name: 'driver.example' }, spec: { capacityTracking: true } });
  await cluster
    .resource(driverCapacities)
    .patch(
      { name: 'driver.example' },
      { type: 'merge', body: { status: { storage } } },
      { subresource: 'status' },
    );
  const stateOfOther = async () => (await pools()).find(({ name }) => name !== 'default/pool')?.state;
  await clock.advance(20_000);
  expect(await stateOfOther()).toBe('Ready');
  await clock.advance(60_000);
  expect(await stateOfOther()).toBe('Expired');
  await console.close();
});

test('a page gets no half-read state, and an eviction is for the pod that the plan was about', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const { cluster, clock } = fixture;
  for (const name of ['node-1', 'node-2']) await cluster.resource(nodes).create({ metadata: { name } });
  const key = { namespace: 'default', name: 'web' };
  await cluster.resource(pods).create({
    metadata: key,
    spec: { nodeName: 'node-2', containers: [{ name: 'main', image: 'web' }] },
  });
  const console = startConsole(fixture, 'actions');
  const early = await ask(console, 'data/state');
  expect([early.status, await textOf(early)]).toEqual([503, expect.stringContaining('still reading')]);
  await clock.advance(1_000);
  expect((await ask(console, 'data/state')).status).toBe(200);
  const evict = async (node: string) => {
    const body = JSON.stringify({ kind: 'evict', ...key, node });
    const headers = { origin: 'https://127.0.0.1' };
    const response = await ask(console, 'data/act', { method: 'POST', headers, body });
    return [response.status, JSON.parse(await textOf(response)).message];
  };
  expect(await evict('node-1')).toEqual([
    400,
    'pod default/web is not on node node-1 any more; show the plan again',
  ]);
  expect(await evict('')).toEqual([400, expect.stringContaining('must be cordon, evict or scale')]);
  expect(await evict('node-2')).toEqual([200, undefined]);
  const { metadata } = await cluster
    .resource(pods)
    .get(key)
    .catch(() => ({ metadata: undefined }));
  expect(metadata === undefined || metadata.deletionTimestamp !== undefined).toBe(true);
  await console.close();
});

test('a plan ends when its viewer closes the page', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await fixture.cluster.resource(nodes).create({ metadata: { name: 'a' } });
  const console = startConsole(fixture, 'plan');
  await fixture.clock.advance(1_000);
  const path = 'data/plan?drain=node/a';
  expect((await ask(console, path)).status).toBe(200);
  const closed = AbortSignal.abort(new ClientDisconnected());
  await expect(ask(console, path, { closed })).rejects.toBeInstanceOf(ClientDisconnected);
  await console.close();
});
