import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { DefinitionController } from '../apiserver/custom/definition-controller.ts';
import { builtInKindCatalog } from '../apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../apiserver/registry/embedded-registry.ts';
import { MemoryStore } from '../apiserver/store/memory-store.ts';
import { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import type { CustomResourceDefinition } from '../kube/api/apiextensions.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { Resource } from '../kube/resource.ts';
import { customResourceDefinitions, driverCapacities } from '../kube/resources.ts';
import { Informer } from '../reconcile/informer/informer.ts';
import { systemIds } from '../runtime/ids.ts';
import { seededRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { ClusterFeed } from './cluster-feed.ts';
import { decisionKinds } from './decision-kinds.ts';

const name = 'drivercapacities.stowage.dev';
const minuteMs = 60_000;

/** A feed of all decision kinds, on a cluster without the definitions of Stowage's own kinds. */
async function startFeed() {
  const clock = new VirtualClock();
  const fail = (error: unknown) => expect.fail(String(error));
  const kinds = builtInKindCatalog();
  const registry = new EmbeddedRegistry({ store: new MemoryStore(), kinds, clock, ids: systemIds });
  await bootstrap(registry);
  const definitions = await DefinitionController.start({ registry, clock, onError: fail });
  const cluster = new EmbeddedCluster({ registry, manager: 'test' });
  const random = seededRandom('optional kinds');
  const supervisor = new Supervisor({ clock, random, onCrash: ({ error }) => fail(error) });
  const informers = {
    of<T extends KubeObject>(resource: Resource<T>): Informer<T> {
      const onError = fail;
      const made = new Informer<T>({ cluster, resource, clock, random, onError });
      made.start(supervisor);
      return made;
    },
  };
  const feed = new ClusterFeed({ informers, kinds: decisionKinds });
  feed.start();
  onTestFinished(async () => {
    await supervisor.close();
    await definitions.close();
  });
  return { clock, cluster, feed };
}

test("the feed finds objects of Stowage's own kinds after the definitions are installed, without a restart", async () => {
  const { clock, cluster, feed } = await startFeed();
  const isSynced = feed.synced(AbortSignal.timeout(5_000));
  await clock.advance(1_000);
  expect(await isSynced).toBe(true);
  await clock.advance(60 * minuteMs);

  await cluster.resource(customResourceDefinitions).create(await definition());
  await clock.advance(minuteMs);
  await cluster.resource(driverCapacities).create({ metadata: { name: 'driver.example.com' }, spec: {} });
  await clock.advance(minuteMs);
  expect([...feed.values('DriverCapacity')].map(({ metadata }) => metadata?.name)).toEqual([
    'driver.example.com',
  ]);

  await cluster.resource(customResourceDefinitions).delete({ name });
  await clock.advance(minuteMs);
  expect([...feed.values('DriverCapacity')]).toEqual([]);
});

async function definition(): Promise<CustomResourceDefinition> {
  const lines = await readFile(new URL('../../deploy/definitions.ndjson', import.meta.url), 'utf8');
  const all = lines.split('\n').filter((line) => line !== '');
  const found = all.map((line) => JSON.parse(line) as CustomResourceDefinition);
  return (
    found.find(({ metadata }) => metadata?.name === name) ??
    expect.fail(`deploy/definitions.ndjson has no ${name}`)
  );
}
