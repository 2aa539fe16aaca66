import { expect, onTestFinished, test } from 'vitest';
import { EmbeddedServer } from '../../apiserver/embedded-server.ts';
import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import { EmbeddedCluster } from '../../cluster/embedded-cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import { configMaps, customResourceDefinitions, namespaces } from '../../kube/resources.ts';
import type { ControllerError } from '../../reconcile/controller.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { untilGone, untilObject } from '../testing/real-time-cluster.ts';
import { garbageCollectorController } from './garbage-collector.ts';
import { namespaceController } from './namespace-controller.ts';
import { createOwned, untilEstablished } from './testing/owned-objects.ts';
import { eventually, namespace, runControllersOn } from './testing/workload-fixture.ts';

const name = 'widgets.example.com';
const widgets: Resource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const version = { name: 'v1', served: true, storage: true, schema };
const spec = {
  group: 'example.com',
  scope: 'Namespaced',
  names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
  versions: [version],
} as const;

test('kinds that are defined after the start are handled too, as owner and as dependent', async () => {
  const { cluster } = await startFixture();
  await define(cluster);
  const maps = cluster.resource(configMaps);
  const owner = await createOwned(maps, 'owner');
  const widget = await createOwned(cluster.resource(widgets), 'widget', owner);
  await createOwned(maps, 'child', widget);
  await maps.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Background' });
  await untilGone(cluster.resource(widgets), { namespace, name: 'widget' });
  await untilGone(maps, { namespace, name: 'child' });
});

test('in the foreground the owner waits for a dependent of a new kind', async () => {
  const { cluster } = await startFixture();
  await define(cluster);
  const maps = cluster.resource(configMaps);
  const owner = await createOwned(maps, 'owner');
  const hold = { metadata: { finalizers: ['example.com/hold'] } };
  await createOwned(cluster.resource(widgets), 'held', { ...owner, blockOwnerDeletion: true }, hold);
  await maps.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Foreground' });
  const key = { namespace, name: 'held' };
  await untilObject(
    cluster.resource(widgets),
    key,
    ({ metadata }) => metadata?.deletionTimestamp !== undefined,
  );
  expect((await maps.get({ namespace, name: 'owner' })).metadata?.finalizers).toEqual(['foregroundDeletion']);
  await cluster.resource(widgets).patch(key, { type: 'merge', body: { metadata: { finalizers: null } } });
  await untilGone(maps, { namespace, name: 'owner' });
});

test('a dependent of a new kind is orphaned, not deleted', async () => {
  const { cluster } = await startFixture();
  await define(cluster);
  const maps = cluster.resource(configMaps);
  const owner = await createOwned(maps, 'owner');
  await createOwned(cluster.resource(widgets), 'orphan', owner);
  await maps.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Orphan' });
  await untilGone(maps, { namespace, name: 'owner' });
  const { metadata } = await cluster.resource(widgets).get({ namespace, name: 'orphan' });
  expect(metadata?.ownerReferences).toBeUndefined();
});

test('an owner waits until the dependents of a new kind are cached', async () => {
  const { cluster, network } = await startFixture();
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  network.addHooks({ before: ({ verb }) => (verb === 'list' ? gate : undefined) });
  await define(cluster);
  const maps = cluster.resource(configMaps);
  const owner = await createOwned(maps, 'owner');
  await createOwned(cluster.resource(widgets), 'orphan', owner);
  await maps.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Orphan' });
  await untilCollectorRuns(cluster);
  expect((await maps.get({ namespace, name: 'owner' })).metadata?.finalizers).toEqual(['orphan']);
  open();
  await untilGone(maps, { namespace, name: 'owner' });
  const { metadata } = await cluster.resource(widgets).get({ namespace, name: 'orphan' });
  expect(metadata?.ownerReferences).toBeUndefined();
});

test('an owner of an undefined kind keeps its dependents, until it is known not to exist', async () => {
  const { cluster } = await startFixture();
  const maps = cluster.resource(configMaps);
  const uid = '00000000-0000-4000-8000-000000000000';
  await createOwned(maps, 'child', { apiVersion: 'example.com/v1', kind: 'Widget', name: 'missing', uid });
  await untilCollectorRuns(cluster);
  expect(await maps.get({ namespace, name: 'child' })).toBeDefined();
  await define(cluster);
  await untilGone(maps, { namespace, name: 'child' });
});

test('a namespace is deleted with objects of a new kind, and does not wait for a removed kind', async () => {
  const { cluster, errors } = await startFixture();
  await define(cluster);
  const client = cluster.resource(namespaces);
  await client.create({ metadata: { name: 'first' } });
  await cluster.resource(widgets).create({ metadata: { namespace: 'first', name: 'widget' } });
  await client.delete({ name: 'first' });
  await untilGone(client, { name: 'first' });
  expect((await cluster.resource(widgets).list()).items).toEqual([]);

  await cluster.resource(customResourceDefinitions).delete({ name });
  await untilGone(cluster.resource(customResourceDefinitions), { name });
  await client.create({ metadata: { name: 'second' } });
  await client.delete({ name: 'second' });
  await untilGone(client, { name: 'second' });

  await define(cluster);
  await client.create({ metadata: { name: 'third' } });
  await cluster.resource(widgets).create({ metadata: { namespace: 'third', name: 'widget' } });
  await client.delete({ name: 'third' });
  await untilGone(client, { name: 'third' });
  expect((await cluster.resource(widgets).list()).items).toEqual([]);
  expect(errors).toEqual([]);
});

test('owners may be named in any served version, and outlive the version in which they were cached', async () => {
  const { cluster } = await startFixture();
  await define(cluster);
  const maps = cluster.resource(configMaps);
  const owner = await createOwned(cluster.resource(widgets), 'owner');
  await createOwned(maps, 'child', owner);
  const next = { ...version, name: 'v2' };
  const versions = [{ ...version, storage: false, served: false }, next];
  const patch = { type: 'merge', body: { spec: { versions } } } as const;
  await cluster.resource(customResourceDefinitions).patch({ name }, patch);
  const later = cluster.resource({ ...widgets, version: 'v2' });
  await eventually(
    () => later.list().catch(() => undefined),
    (page) => page !== undefined,
  );
  await createOwned(maps, 'second', { ...owner, apiVersion: 'example.com/v2' });
  await untilCollectorRuns(cluster);
  expect(await maps.get({ namespace, name: 'child' })).toBeDefined();
  expect(await maps.get({ namespace, name: 'second' })).toBeDefined();
  await later.delete({ namespace, name: 'owner' }, { propagationPolicy: 'Background' });
  await untilGone(maps, { namespace, name: 'second' });
});

interface Fixture {
  readonly cluster: Cluster;
  /** The connection between the controllers and the cluster. */
  readonly network: InterceptedCluster;
  readonly errors: ControllerError[];
}

async function startFixture(): Promise<Fixture> {
  const server = await EmbeddedServer.start({
    clock: realClock,
    ids: systemIds,
    random: seededRandom('defined kinds'),
    onError: (error) => {
      throw error;
    },
  });
  const cluster = new EmbeddedCluster({ registry: server.registry, manager: 'test' });
  const errors: ControllerError[] = [];
  const network = new InterceptedCluster(cluster);
  const running = runControllersOn(network, [garbageCollectorController, namespaceController], { errors });
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]();
    await server.close();
  });
  await untilCollectorRuns(cluster);
  return { cluster, network, errors };
}

async function define(cluster: Cluster): Promise<void> {
  const client = cluster.resource(customResourceDefinitions);
  await client.create({ metadata: { name }, spec });
  await untilEstablished(cluster, name);
}

/** Deletes an object in the usual way, which shows that the collector runs and has processed everything before. */
async function untilCollectorRuns(cluster: Cluster): Promise<void> {
  const maps: ResourceClient<KubeObject> = cluster.resource(configMaps);
  const owner = await createOwned(maps, 'last-owner');
  await createOwned(maps, 'last', owner);
  await maps.delete({ namespace, name: 'last-owner' }, { propagationPolicy: 'Background' });
  await untilGone(maps, { namespace, name: 'last' });
}
