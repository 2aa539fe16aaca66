import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { EmbeddedServer } from '../../apiserver/embedded-server.ts';
import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import { EmbeddedCluster } from '../../cluster/embedded-cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { failWith } from '../../cluster/testing/fault-hooks.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { failure } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { configMaps, customResourceDefinitions, namespaces } from '../../kube/resources.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { garbageCollectorController } from './garbage-collector.ts';
import { namespaceController } from './namespace-controller.ts';
import { createOwned, untilEstablished } from './testing/owned-objects.ts';
import { namespace, runControllersOn } from './testing/workload-fixture.ts';

const widgets: Resource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
/** Processed after Widgets, and readable. */
const zebras: Resource = { ...widgets, group: 'example.org', kind: 'Zebra', plural: 'zebras' };
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

let cluster: Cluster;
let maps: ResourceClient<KubeObject>;
let clock: VirtualClock;
let repair: () => void;

/** A collector on a cluster in which Widgets can be written but not read, as if their conversion was broken. */
beforeEach(async () => {
  const server = await EmbeddedServer.start({
    clock: realClock,
    ids: systemIds,
    random: seededRandom('unlisted kinds'),
    onError: (error) => {
      throw error;
    },
  });
  cluster = new EmbeddedCluster({ registry: server.registry, manager: 'test' });
  maps = cluster.resource(configMaps);
  await define(widgets);
  await define(zebras);
  clock = new VirtualClock();
  const broken = new InterceptedCluster(cluster);
  const conversionError = failure(
    500,
    'InternalError',
    'conversion webhook for example.com/v1, Kind=Widget failed',
  );
  repair = broken.addHooks({ before: failWith(conversionError) });
  const seen: Cluster = {
    resource: (resource) => (resource.group === 'example.com' ? broken : cluster).resource(resource),
  };
  const running = runControllersOn(seen, [garbageCollectorController, namespaceController], { clock });
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]();
    await server.close();
    expect(clock.pending).toBe(0);
  });
});

describe('a kind that cannot be listed', () => {
  test('delays the collector for half a minute, and no longer', async () => {
    const owner = await createOwned(maps, 'owner');
    await createOwned(maps, 'child', owner);
    await maps.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Background' });
    await clock.advance(29_000);
    expect(await isThere(maps, 'child')).toBe(true);
    await passUntil(async () => !(await isThere(maps, 'child')));
  });

  test('is no reason to delete the dependents of its objects', async () => {
    const owner = await createOwned(cluster.resource(widgets), 'owner');
    await createOwned(maps, 'child', owner);
    const uid = '00000000-0000-4000-8000-000000000000';
    await createOwned(maps, 'child-of-missing', { ...owner, name: 'missing', uid });
    await clock.advance(300_000);
    expect(await isThere(maps, 'child')).toBe(true);
    expect(await isThere(maps, 'child-of-missing')).toBe(true);
    repair();
    await passUntil(async () => !(await isThere(maps, 'child-of-missing')));
    expect(await isThere(maps, 'child')).toBe(true);
  });

  test('is waited for if its objects should be orphaned', async () => {
    const owner = await createOwned(maps, 'owner');
    await createOwned(cluster.resource(widgets), 'orphan', owner);
    await maps.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Orphan' });
    await clock.advance(300_000);
    expect(await isThere(maps, 'owner')).toBe(true);
    repair();
    await passUntil(async () => !(await isThere(maps, 'owner')));
    const { metadata } = await cluster.resource(widgets).get({ namespace, name: 'orphan' });
    expect([metadata?.deletionTimestamp, metadata?.ownerReferences]).toEqual([undefined, undefined]);
  });

  test('is not waited for if its objects should be deleted first: they are deleted later', async () => {
    const owner = await createOwned(maps, 'owner');
    await createOwned(cluster.resource(widgets), 'child', { ...owner, blockOwnerDeletion: true });
    await maps.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Foreground' });
    await clock.advance(29_000);
    expect(await isThere(maps, 'owner')).toBe(true);
    await passUntil(async () => !(await isThere(maps, 'owner')));
    expect(await isThere(cluster.resource(widgets), 'child')).toBe(true);
    repair();
    await passUntil(async () => !(await isThere(cluster.resource(widgets), 'child')));
  });
});

test('a deleted namespace loses all objects except those that cannot be listed, and waits for them', async () => {
  const spaces = cluster.resource(namespaces);
  await spaces.create({ metadata: { name: 'going' } });
  for (const resource of [widgets, zebras])
    await cluster.resource(resource).create({ metadata: { namespace: 'going', name: 'one' } });
  await spaces.delete({ name: 'going' });
  await passUntil(async () => (await cluster.resource(zebras).list()).items.length === 0);
  await clock.advance(60_000);
  expect((await spaces.get({ name: 'going' })).metadata?.deletionTimestamp).toBeDefined();
  expect((await cluster.resource(widgets).list()).items).toHaveLength(1);
  repair();
  await passUntil(async () => (await cluster.resource(widgets).list()).items.length === 0);
  await passUntil(async () =>
    (await spaces.list()).items.every(({ metadata }) => metadata?.name !== 'going'),
  );
});

async function define({ group, kind, plural }: Resource): Promise<void> {
  const name = `${plural}.${group}`;
  const client = cluster.resource(customResourceDefinitions);
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  await client.create({
    metadata: { name },
    spec: { group, scope: 'Namespaced', names, versions },
  });
  await untilEstablished(cluster, name);
}

async function isThere(client: ResourceClient<KubeObject>, name: string): Promise<boolean> {
  const { items } = await client.list({ namespace });
  return items.some(({ metadata }) => metadata?.name === name);
}

/** Lets time pass, ten minutes at most. */
async function passUntil(holds: () => Promise<boolean>): Promise<void> {
  for (let second = 0; second < 600; second += 1) {
    if (await holds()) return;
    await clock.advance(1_000);
  }
  expect.fail('the condition never became true');
}
