import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import type { PodSpec, Taint } from '../../kube/api/core.ts';
import { nodes, pods, replicaSets, statefulSets } from '../../kube/resources.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { deploymentController } from './deployment/deployment-controller.ts';
import { nodeAgentController } from './node-agent/node-agent.ts';
import { statefulSetController } from './stateful-set/stateful-set-controller.ts';
import { namespace, podNames } from './testing/workload-fixture.ts';

/** Small enough that an endless loop ends. */
const writesMax = 1_000;
/** Twenty, and each of the set twice, and two in less than four seconds. */
const madeMaxInTwoMinutes = 20 + 2 + 65;

const labels = { app: 'web' };
const size = { cpu: '8', memory: '32Gi', pods: '110' };
const evicted: readonly Taint[] = [{ key: 'gone', effect: 'NoExecute' }];

const kinds = ['ReplicaSet', 'StatefulSet'] as const;
const ends = [
  { why: 'that do not fit on their node', cpu: '100', taints: [] },
  { why: 'that a taint evicts', cpu: '1', taints: evicted },
];

async function makeSet(cluster: Cluster, kind: (typeof kinds)[number], cpu: string): Promise<void> {
  const container = { name: 'main', image: 'pause', resources: { requests: { cpu } } };
  const podSpec: PodSpec = { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [container] };
  const template = { metadata: { labels }, spec: podSpec };
  const metadata = { namespace, name: 'web' };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  if (kind === 'ReplicaSet') await cluster.resource(replicaSets).create({ metadata, spec });
  else await cluster.resource(statefulSets).create({ metadata, spec: { ...spec, serviceName: 'web' } });
}

/** Counts created pods. */
function countMade(cluster: Cluster, signal: AbortSignal): () => number {
  let made = 0;
  void (async () => {
    for await (const event of cluster.resource(pods).watch({ namespace, signal }))
      if (event.type === 'ADDED') made += 1;
  })();
  return () => made;
}

test.each(kinds.flatMap((kind) => ends.map((end) => ({ kind, ...end }))))(
  'a $kind replaces pods $why, but not without limit',
  async ({ kind, cpu, taints }) => {
    await using fixture = await VirtualTimeCluster.start();
    const { cluster } = fixture;
    const status = { allocatable: size, capacity: size };
    await cluster.resource(nodes).create({ metadata: { name: 'n1' }, spec: { taints }, status });
    const abort = new AbortController();
    const made = countMade(cluster, abort.signal);
    const run = fixture.run(
      [deploymentController, statefulSetController, nodeAgentController()],
      new InterceptedCluster(cluster, new CrashAfterWrites(writesMax)),
    );
    await makeSet(cluster, kind, cpu);
    await fixture.settle(120_000);
    abort.abort();
    // Otherwise pods are replaced until the fixture ends.
    await run.close();
    expect(made()).toBeGreaterThan(20);
    expect(made()).toBeLessThanOrEqual(madeMaxInTwoMinutes);
  },
);

test('a changed set does not have to wait for its earlier replacements', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const { cluster } = fixture;
  const crashing = new InterceptedCluster(cluster, new CrashAfterWrites(writesMax));
  const run = fixture.run([deploymentController, nodeAgentController()], crashing);
  await cluster
    .resource(nodes)
    .create({ metadata: { name: 'n1' }, status: { allocatable: size, capacity: size } });
  await makeSet(cluster, 'ReplicaSet', '100');
  await fixture.settle(1000);
  const before = (await podNames(cluster)).length;
  const body = { spec: { replicas: 3 } };
  await cluster.resource(replicaSets).patch({ namespace, name: 'web' }, { type: 'merge', body });
  await fixture.settle(1000);
  expect((await podNames(cluster)).length).toBeGreaterThanOrEqual(before + 20);
  await run.close();
});
