import { expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { DisksFixture } from '../../controllers/disks/testing/disks-fixture.ts';
import { nodes, pods, statefulSets } from '../../kube/resources.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { predictEviction } from '../../queries/drain/predict-eviction.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { disksIn } from '../source/load-disks.ts';
import type { MoveContext, MoveOutcome } from './move-context.ts';
import { moveNode } from './move-node.ts';

const namespace = 'default';
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'main' }] },
};

/** Grows with every stored version in which a volume has fewer replicas with its data than it wants. */
async function replicaLosses(
  cluster: Cluster,
  wanted: Readonly<Record<string, number>>,
): Promise<readonly string[]> {
  const losses: string[] = [];
  const client = cluster.resource(replicas);
  const { items, metadata } = await client.list();
  const stored = new Map(items.map((replica) => [replica.metadata?.name, replica]));
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const follow = async () => {
    for await (const event of client.watch({
      resourceVersion: metadata.resourceVersion,
      signal: stop.signal,
    })) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') stored.delete(event.object.metadata?.name);
      else stored.set(event.object.metadata?.name, event.object);
      for (const [volume, count] of Object.entries(wanted)) {
        const healthy = [...stored.values()].filter(
          ({ metadata: own, spec, status }) =>
            spec?.volumeName === volume &&
            own?.deletionTimestamp === undefined &&
            status?.healthyAt !== undefined,
        );
        if (healthy.length < count) losses.push(`${volume} has ${healthy.length} of ${count}`);
      }
    }
  };
  void follow();
  return losses;
}

/** Three nodes with a disk each, two volumes with healthy replicas, a drive on n1, and a StatefulSet with two pods on n1. */
class MovingNode {
  readonly disks: DisksFixture;
  readonly losses: readonly string[];

  private constructor(disks: DisksFixture, losses: readonly string[]) {
    this.disks = disks;
    this.losses = losses;
  }

  static async create(): Promise<MovingNode> {
    const disks = await DisksFixture.start(100, 100, 100);
    const { cluster } = disks.environment;
    for (const name of ['n1', 'n2', 'n3'])
      await cluster.resource(nodes).create({
        metadata: { name },
        status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } },
      });
    await cluster.resource(drives).create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Drive',
      metadata: { name: 'n1-a' },
      spec: { nodeName: 'n1', filesystemUUID: '22222222-0000-4000-8000-000000000001' },
    });
    await disks.addVolume('v', { size: 40, numberOfReplicas: 2 });
    await disks.addVolume('w', { size: 20, numberOfReplicas: 1, nodeSelector: [] });
    for (const line of await disks.replicas()) await disks.setHealthy(line.split(' ')[0]!);
    await cluster.resource(statefulSets).create({
      metadata: { namespace, name: 'web', uid: 'web' },
      spec: { replicas: 2, serviceName: 'web', selector: { matchLabels: { app: 'web' } }, template },
    });
    const node = new MovingNode(disks, await replicaLosses(cluster, { v: 2, w: 1 }));
    for (const name of ['web-0', 'web-1']) await node.#startPod(name, 'n1');
    return node;
  }

  async #startPod(name: string, nodeName: string): Promise<void> {
    const { cluster } = this.disks.environment;
    const set = await cluster.resource(statefulSets).get({ namespace, name: 'web' });
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: set.metadata!.uid! };
    const client = cluster.resource(pods);
    await client.create({
      metadata: {
        namespace,
        name,
        labels: { app: 'web' },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: { ...template.spec, nodeName },
    });
    const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
  }

  /** Does one round of the work of kubelets, the StatefulSet controller and the agents of disks. */
  async #work(startsPods: boolean): Promise<void> {
    const { cluster } = this.disks.environment;
    const { items } = await cluster.resource(pods).list({ namespace });
    for (const { metadata } of items)
      if (metadata?.deletionTimestamp !== undefined) {
        const name = metadata.name!;
        await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
        if (startsPods) await this.#startPod(name, 'n2');
      }
    for (const { metadata, spec, status } of (await cluster.resource(replicas).list()).items)
      if (spec?.desiredState === 'running' && status?.healthyAt === undefined)
        await this.disks.setHealthy(metadata!.name!);
  }

  context(crash?: CrashAfterWrites, timeoutMs = 10 * 60_000): MoveContext {
    const { clock } = this.disks.environment;
    const cluster = new InterceptedCluster(this.disks.environment.cluster, ...(crash ? [crash] : []));
    const load = async () => ({
      view: await loadCluster(
        cluster,
        { namespace },
        { server: 'test', source: 'test', onProgress: () => {}, needsPolicies: true },
      ),
      disks: await disksIn(cluster),
      clock,
      profile: 'stowage' as const,
    });
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    return { cluster, clock, deadlineMs, load, copier: undefined, onChange: () => {}, onProgress: () => {} };
  }

  /** Runs the move while time passes and the others work. */
  async run(context: MoveContext, { startsPods = true } = {}): Promise<MoveOutcome | undefined> {
    let isOver = false;
    const moving = moveNode('n1', context)
      .catch((error: unknown) => {
        expect(String(error)).toBe('Error: the connection to the cluster is lost');
        return undefined;
      })
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      await this.disks.environment.settle(1_000);
      await this.#work(startsPods);
    }
    return await moving;
  }
}

test('after an end at any write no replica is released before its successor has the data, and the next call completes', async () => {
  for (let writes = 1, hasEnded = true; hasEnded; writes += 1) {
    const node = await MovingNode.create();
    const crash = new CrashAfterWrites(writes);
    hasEnded = (await node.run(node.context(crash))) === undefined;
    expect([writes, await node.run(node.context())]).toEqual([
      writes,
      { left: [], waiting: [], commands: [] },
    ]);
    expect(node.losses).toEqual([]);
    const { cluster } = node.disks.environment;
    expect(await node.disks.granted()).toMatchObject({ 1: 0 });
    expect((await cluster.resource(nodes).get({ name: 'n1' })).spec?.unschedulable).toBe(true);
    expect((await cluster.resource(drives).get({ name: 'n1-a' })).spec?.unschedulable).toBe(true);
    const { items } = await cluster.resource(pods).list({ namespace });
    expect(items.map(({ metadata, spec }) => `${metadata?.name} ${spec?.nodeName}`)).toEqual([
      'web-0 n2',
      'web-1 n2',
    ]);
    if (!hasEnded) expect(writes).toBe(6);
  }
}, 60_000);

test('the controller may end at any write while a node is emptied, and no replica goes before its successor has the data', async () => {
  const disks = await DisksFixture.start(100, 100);
  const { cluster } = disks.environment;
  await disks.addVolume('v', { size: 40, numberOfReplicas: 1 });
  const [first] = await disks.replicas();
  await disks.setHealthy(first!.split(' ')[0]!);
  const losses = await replicaLosses(cluster, { v: 1 });
  let [from, to] = first!.split(' ')[1] === '1' ? [1, 2] : [2, 1];
  const evict = (number: number, isRequested: boolean) =>
    disks.patchNode(number, { spec: { allowScheduling: !isRequested, evictionRequested: isRequested } });
  const copy = async () => {
    for (const { metadata, spec, status } of (await cluster.resource(replicas).list()).items)
      if (spec?.desiredState === 'running' && status?.healthyAt === undefined)
        await disks.setHealthy(metadata!.name!);
  };
  for (let writes = 1, hasEnded = true; hasEnded; writes += 1) {
    hasEnded = await disks.crashAfter(writes, async () => {
      await evict(from, true);
      await copy();
    });
    await copy();
    const placed = (await disks.replicas()).map((line) => line.split(' ')[1]);
    expect([writes, placed, losses]).toEqual([writes, [String(to)], []]);
    await evict(from, false);
    [from, to] = [to, from];
    if (!hasEnded) expect(writes).toBeGreaterThan(5);
  }
});

test('the plan names the disks that the controller then chooses', async () => {
  const node = await MovingNode.create();
  const { cluster, clock } = node.disks.environment;
  const predicted = predictEviction('n1', (await disksIn(cluster))!, clock);
  await node.run(node.context());
  const moved = (await node.disks.replicas()).map((line) => Number(line.split(' ')[1]));
  for (const { to } of predicted) expect(moved.map((number) => `disk/n${number}/d`)).toContain(to);
  expect(predicted.length).toBeGreaterThan(0);
});

test('a StatefulSet that does not become complete again keeps its next pod, and the move says so in time', async () => {
  const node = await MovingNode.create();
  const outcome = await node.run(node.context(undefined, 60_000), { startsPods: false });
  expect(outcome?.waiting).toEqual([
    'pod default/web-0 stays until the other pods of StatefulSet/web are ready',
  ]);
  const { spec } = await node.disks.environment.cluster.resource(storageNodes).get({ name: 'n1' });
  expect(spec).toMatchObject({ allowScheduling: false, evictionRequested: true });
});
