import { expect, test } from 'vitest';
import type { Taint, Toleration } from '../../../../kube/api/core.ts';
import { getCondition } from '../../../../kube/conditions.ts';
import { nodes, pods } from '../../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../node-agent.ts';
import { getPod, makeNode, makePod, namespace, phases } from '../testing/agent-fixture.ts';

const fire: Taint = { key: 'fire', effect: 'NoExecute' };
const flood: Taint = { key: 'flood', effect: 'NoExecute' };

function tolerating(key: string, tolerationSeconds?: number): Toleration {
  const forHowLong = tolerationSeconds === undefined ? {} : { tolerationSeconds };
  return { key, operator: 'Exists', effect: 'NoExecute', ...forHowLong };
}

async function taint({ cluster }: VirtualTimeCluster, ...taints: readonly Taint[]): Promise<void> {
  await cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body: { spec: { taints } } });
}

async function startWith(...tolerations: readonly Toleration[]): Promise<VirtualTimeCluster> {
  const fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  const annotations = { 'stowage.dev/termination-seconds': '10' };
  await makePod(fixture, 'web', { spec: { tolerations, terminationGracePeriodSeconds: 10 }, annotations });
  await fixture.settle();
  return fixture;
}

test('a pod that does not tolerate a taint is deleted when its node gets it', async () => {
  await using fixture = await startWith();
  await taint(fixture, fire);
  await fixture.settle();
  const { metadata, status } = await getPod(fixture, 'web');
  expect(metadata?.deletionTimestamp).toBeDefined();
  expect(getCondition(status?.conditions, 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    observedGeneration: metadata?.generation === undefined ? undefined : expect.any(Number),
  });
  expect(await fixture.eventLines()).toEqual([
    'TaintManagerEviction web: Marking for deletion Pod default/web',
  ]);
  await fixture.settle(15_000);
  expect(await phases(fixture)).toEqual([]);
});

test('a pod stays as long as it tolerates the taint, and no longer', async () => {
  await using fixture = await startWith(tolerating('fire', 60));
  await taint(fixture, fire);
  await fixture.settle(59_000);
  expect((await getPod(fixture, 'web')).metadata?.deletionTimestamp).toBeUndefined();
  await fixture.settle(2_000);
  expect((await getPod(fixture, 'web')).metadata?.deletionTimestamp).toBeDefined();
});

test('a pod stays if the taint is removed in time', async () => {
  await using fixture = await startWith(tolerating('fire', 60));
  await taint(fixture, fire);
  await fixture.settle(30_000);
  await taint(fixture);
  await fixture.settle(120_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(await fixture.eventLines()).toEqual([
    'TaintManagerEviction web: Cancelling deletion of Pod default/web',
  ]);
  await taint(fixture, fire);
  await fixture.settle(59_000);
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('a second taint without a toleration ends the time at once', async () => {
  await using fixture = await startWith(tolerating('fire', 60));
  await taint(fixture, fire);
  await fixture.settle();
  await taint(fixture, fire, flood);
  await fixture.settle();
  expect((await getPod(fixture, 'web')).metadata?.deletionTimestamp).toBeDefined();
  expect(await fixture.eventLines()).toEqual([
    'TaintManagerEviction web: Cancelling deletion of Pod default/web',
    'TaintManagerEviction web: Marking for deletion Pod default/web',
  ]);
});

test('an agent that restarts continues with a pod that was already marked', async () => {
  await using fixture = await startWith(tolerating('fire', 60));
  await taint(fixture, fire);
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }];
  const patch = { type: 'strategic', body: { status: { conditions } } } as const;
  await fixture.cluster.resource(pods).patch({ namespace, name: 'web' }, patch, { subresource: 'status' });
  await fixture.settle();
  expect((await getPod(fixture, 'web')).metadata?.deletionTimestamp).toBeDefined();
});

test('a pod that finishes before its time is over ends then', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await taint(fixture, fire);
  const spec = { tolerations: [tolerating('fire', 60)], restartPolicy: 'Never' } as const;
  await makePod(fixture, 'job', { spec, annotations: { 'stowage.dev/run-seconds': '5' } });
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual(['job Succeeded']);
});

test('a pod that arrives at a tainted node is rejected, and then removed', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await taint(fixture, fire);
  await fixture.settle();
  await makePod(fixture, 'web');
  await makePod(fixture, 'guard', { spec: { tolerations: [tolerating('fire')] } });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['guard Running']);
  expect(await fixture.eventLines()).toEqual([
    'TaintManagerEviction web: Marking for deletion Pod default/web',
    "TaintToleration web: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  ]);
});

test('no pod is evicted from a node that is not simulated', async () => {
  await using fixture = await startWith();
  const body = { metadata: { annotations: { 'stowage.dev/simulated': 'false' } } };
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  await taint(fixture, fire);
  await fixture.settle();
  expect((await getPod(fixture, 'web')).metadata?.deletionTimestamp).toBeUndefined();
});

test('crashing after any write of an eviction does not change the final state', async () => {
  const crashes = await crashControllersAtEveryWrite({
    controllers: [nodeAgentController()],
    prepare: async (fixture) => {
      await makeNode(fixture, 'n1');
      await makePod(fixture, 'web', { spec: { tolerations: [tolerating('fire', 5)] } });
      await makePod(fixture, 'db');
      await using _earlier = fixture.run([nodeAgentController()]);
      await fixture.settle();
      await taint(fixture, fire);
    },
    resources: [pods, nodes],
    settleMs: 60_000,
  });
  expect(crashes).toBeGreaterThanOrEqual(6);
});
