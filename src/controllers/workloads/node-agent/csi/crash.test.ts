import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../../cluster/testing/fault-hooks.ts';
import type { VolumeLifecycleMode } from '../../../../kube/api/storage.ts';
import { csiNodes, nodes, pods, volumeAttachments } from '../../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { getClaim, makeClaim, makeNode, makePod, namespace, phases } from '../testing/agent-fixture.ts';
import { makeCsiDriver, makeInlinePod, PluginFixture } from './testing/plugin-fixture.ts';

const modes: readonly VolumeLifecycleMode[] = ['Persistent', 'Ephemeral'];

async function prepare(fixture: VirtualTimeCluster): Promise<void> {
  await makeCsiDriver(fixture, { attachRequired: true, volumeLifecycleModes: modes });
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
}

/** A pod with a persistent volume, and one with an inline volume. */
async function makePods(fixture: VirtualTimeCluster): Promise<void> {
  await makePod(fixture, 'web', { claims: ['data'] });
  await makeInlinePod(fixture, 'scratch');
}

async function removePods({ cluster }: VirtualTimeCluster): Promise<void> {
  const client = cluster.resource(pods);
  for (const { metadata } of (await client.list()).items)
    await client.delete({ namespace, name: metadata?.name ?? '' });
}

/** How an agent crashes. */
interface Crash {
  readonly cluster: (fixture: VirtualTimeCluster) => VirtualTimeCluster['cluster'];
  readonly hasCrashed: () => boolean;
}

/** The agent dies at the crash; the pods are deleted while it is down, or after another has taken over. */
async function endAfter(
  plugin: PluginFixture,
  crash: Crash,
  { deletesWhileDown }: { readonly deletesWhileDown: boolean },
): Promise<void> {
  await using fixture = await VirtualTimeCluster.start();
  await prepare(fixture);
  const first = fixture.run([plugin.agent()], crash.cluster(fixture));
  await makePods(fixture);
  await fixture.settle(1_000);
  if (!crash.hasCrashed()) {
    await removePods(fixture);
    await fixture.settle(1_000);
  }
  await first.close();
  plugin.driver.beforeCall = undefined;
  plugin.driver.afterCall = undefined;
  plugin.directory.afterWrite = undefined;
  if (deletesWhileDown) await removePods(fixture);
  fixture.run([plugin.agent()]);
  if (!deletesWhileDown) {
    await fixture.settle(5_000);
    await removePods(fixture);
  }
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual([]);
  expect([...plugin.driver.mounts.published], 'published').toEqual([]);
  expect([...plugin.driver.mounts.staged], 'staged').toEqual([]);
  expect([...plugin.directory.files.keys()], 'records').toEqual([]);
  expect((await fixture.cluster.resource(volumeAttachments).list()).items).toEqual([]);
  const node = await fixture.cluster.resource(nodes).get({ name: 'n1' });
  expect(node.status?.volumesInUse ?? []).toEqual([]);
  expect((await fixture.cluster.resource(csiNodes).get({ name: 'n1' })).spec?.drivers?.length).toBe(1);
  expect((await getClaim(fixture, 'data')).status?.phase).toBe('Bound');
}

test('a restart leaves the volumes of running pods as they are', async () => {
  const plugin = await PluginFixture.start();
  await using fixture = await VirtualTimeCluster.start();
  await prepare(fixture);
  const first = fixture.run([plugin.agent()]);
  await makePods(fixture);
  await fixture.settle(1_000);
  await first.close();
  expect(plugin.calls.length).toBe(3);
  fixture.run([plugin.agent()]);
  await fixture.settle(60_000);
  expect(plugin.calls.length).toBe(3);
  expect(await phases(fixture)).toEqual(['scratch Running', 'web Running']);
});

/** Simulates a crash: after one call, no call of the process has an effect any more. */
class DeadAfter {
  readonly #placesMax: number;
  #places = 0;

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  get hasCrashed(): boolean {
    return this.#places >= this.#placesMax;
  }

  /** Never resolves once the process is dead. */
  readonly place = (): Promise<void> => {
    this.#places += 1;
    return this.hasCrashed ? new Promise(() => {}) : Promise.resolve();
  };
}

test.each([
  { when: 'beforeCall', deletesWhileDown: true },
  { when: 'afterCall', deletesWhileDown: true },
  { when: 'afterCall', deletesWhileDown: false },
] as const)(
  'a crash at any call leaves nothing: $when, pods are deleted while it is down: $deletesWhileDown',
  async ({ when, deletesWhileDown }) => {
    for (let calls = 1; ; calls += 1) {
      const plugin = await PluginFixture.start();
      const dead = new DeadAfter(calls);
      plugin.driver[when] = (method) => (method === 'NodeGetInfo' ? undefined : dead.place());
      const crash: Crash = {
        cluster: (fixture) => fixture.cluster,
        hasCrashed: () => dead.hasCrashed,
      };
      await endAfter(plugin, crash, { deletesWhileDown });
      if (!dead.hasCrashed) {
        expect(calls).toBe(7);
        return;
      }
    }
  },
);

test('a crash after any write of a record leaves nothing', async () => {
  for (let records = 1; ; records += 1) {
    const plugin = await PluginFixture.start();
    let written = 0;
    plugin.directory.afterWrite = () => {
      written += 1;
      if (written >= records) throw new Error('the disk is gone');
    };
    const crash: Crash = {
      cluster: (fixture) => fixture.cluster,
      hasCrashed: () => written >= records,
    };
    await endAfter(plugin, crash, { deletesWhileDown: true });
    if (written < records) {
      expect(records).toBeGreaterThan(8);
      return;
    }
  }
});

test('a crash after any write to the cluster leaves nothing', async () => {
  for (let writes = 1; ; writes += 1) {
    const plugin = await PluginFixture.start();
    const lost = new CrashAfterWrites(writes);
    const crash: Crash = {
      cluster: (fixture) => new InterceptedCluster(fixture.cluster, lost),
      hasCrashed: () => lost.hasCrashed,
    };
    await endAfter(plugin, crash, { deletesWhileDown: true });
    if (!lost.hasCrashed) {
      expect(writes).toBeGreaterThan(15);
      return;
    }
  }
});
