import { expect, test } from 'vitest';
import type { Taint, Toleration } from '../../../kube/api/core.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { nodes, pods } from '../../../kube/resources.ts';
import { crashEverywhere } from '../../testing/crash-everywhere.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { nodeAgent } from './node-agent.ts';
import { makeNode, makePod, namespace, phases, readPod } from './testing/agent-fixture.ts';

const fire: Taint = { key: 'fire', effect: 'NoExecute' };
const flood: Taint = { key: 'flood', effect: 'NoExecute' };

function tolerating(key: string, tolerationSeconds?: number): Toleration {
  const forHowLong = tolerationSeconds === undefined ? {} : { tolerationSeconds };
  return { key, operator: 'Exists', effect: 'NoExecute', ...forHowLong };
}

async function taint({ cluster }: TrialCluster, ...taints: readonly Taint[]): Promise<void> {
  await cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body: { spec: { taints } } });
}

async function startWith(...tolerations: readonly Toleration[]): Promise<TrialCluster> {
  const trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'web', { spec: { tolerations, terminationGracePeriodSeconds: 10 } });
  await trial.settle();
  return trial;
}

test('a pod that does not tolerate a taint is deleted when its node gets it', async () => {
  await using trial = await startWith();
  await taint(trial, fire);
  await trial.settle();
  const { metadata, status } = await readPod(trial, 'web');
  expect(metadata?.deletionTimestamp).toBeDefined();
  expect(getCondition(status?.conditions, 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    observedGeneration: metadata?.generation === undefined ? undefined : expect.any(Number),
  });
  expect(await trial.told()).toEqual(['TaintManagerEviction web: Marking for deletion Pod default/web']);
  await trial.settle(15_000);
  expect(await phases(trial)).toEqual([]);
});

test('a pod stays as long as it tolerates the taint, and no longer', async () => {
  await using trial = await startWith(tolerating('fire', 60));
  await taint(trial, fire);
  await trial.settle(59_000);
  expect((await readPod(trial, 'web')).metadata?.deletionTimestamp).toBeUndefined();
  await trial.settle(2_000);
  expect((await readPod(trial, 'web')).metadata?.deletionTimestamp).toBeDefined();
});

test('a taint that is taken away in time leaves the pod where it is', async () => {
  await using trial = await startWith(tolerating('fire', 60));
  await taint(trial, fire);
  await trial.settle(30_000);
  await taint(trial);
  await trial.settle(120_000);
  expect(await phases(trial)).toEqual(['web Running']);
  expect(await trial.told()).toEqual(['TaintManagerEviction web: Cancelling deletion of Pod default/web']);
  await taint(trial, fire);
  await trial.settle(59_000);
  expect(await phases(trial)).toEqual(['web Running']);
});

test('a second taint that is not tolerated ends the time at once', async () => {
  await using trial = await startWith(tolerating('fire', 60));
  await taint(trial, fire);
  await trial.settle();
  await taint(trial, fire, flood);
  await trial.settle();
  expect((await readPod(trial, 'web')).metadata?.deletionTimestamp).toBeDefined();
  expect(await trial.told()).toEqual([
    'TaintManagerEviction web: Cancelling deletion of Pod default/web',
    'TaintManagerEviction web: Marking for deletion Pod default/web',
  ]);
});

test('an agent that starts anew goes on with a pod that was marked already', async () => {
  await using trial = await startWith(tolerating('fire', 60));
  await taint(trial, fire);
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }];
  const patch = { type: 'strategic', body: { status: { conditions } } } as const;
  await trial.cluster.resource(pods).patch({ namespace, name: 'web' }, patch, { subresource: 'status' });
  await trial.settle();
  expect((await readPod(trial, 'web')).metadata?.deletionTimestamp).toBeDefined();
});

test('a pod that ends by itself before its time is over ends then', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await taint(trial, fire);
  const spec = { tolerations: [tolerating('fire', 60)], restartPolicy: 'Never' } as const;
  await makePod(trial, 'job', { spec, annotations: { 'stowage.dev/run-seconds': '5' } });
  await trial.settle(10_000);
  expect(await phases(trial)).toEqual(['job Succeeded']);
});

test('a pod that comes to a tainted node is refused, and then goes', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await taint(trial, fire);
  await trial.settle();
  await makePod(trial, 'web');
  await makePod(trial, 'guard', { spec: { tolerations: [tolerating('fire')] } });
  await trial.settle();
  expect(await phases(trial)).toEqual(['guard Running']);
  expect(await trial.told()).toEqual([
    'TaintManagerEviction web: Marking for deletion Pod default/web',
    "TaintToleration web: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  ]);
});

test('nobody is evicted from a node that is not simulated', async () => {
  await using trial = await startWith();
  const body = { metadata: { annotations: { 'stowage.dev/simulated': 'false' } } };
  await trial.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  await taint(trial, fire);
  await trial.settle();
  expect((await readPod(trial, 'web')).metadata?.deletionTimestamp).toBeUndefined();
});

test('dying after any write of an eviction changes nothing about its end', async () => {
  const places = await crashEverywhere({
    controllers: [nodeAgent],
    prepare: async (trial) => {
      await makeNode(trial, 'n1');
      await makePod(trial, 'web', { spec: { tolerations: [tolerating('fire', 5)] } });
      await makePod(trial, 'db');
      await using _earlier = trial.run([nodeAgent]);
      await trial.settle();
      await taint(trial, fire);
    },
    resources: [pods, nodes],
    settleMs: 60_000,
  });
  expect(places).toBeGreaterThanOrEqual(6);
});
