/** The output of `plan` and `headroom` if there is very much, very little, or nothing to read. */
import { expect, test } from 'vitest';
import { InterceptedCluster } from '../cluster/intercepted-cluster.ts';
import { VirtualTimeCluster } from '../controllers/testing/virtual-time-cluster.ts';
import { failure } from '../kube/api-error.ts';
import { nodes, storageClasses } from '../kube/resources.ts';
import { measureRoom } from '../queries/headroom/measure.ts';
import { makePlan } from '../queries/plan/make-plan.ts';
import { nodeWith, viewOf } from '../queries/testing/cluster-views.ts';
import type { ClusterView } from '../queries/view/cluster-view.ts';
import { bundle } from './bundle/run.ts';
import { changesOfFlags } from './flags/change-flags.ts';
import { headroomCommand, renderedHeadroom } from './headroom/run.ts';
import { moveCommand } from './move/run.ts';
import { plainTerminal, type Terminal } from './output/terminal.ts';
import { planCommand, renderedPlan } from './plan/run.ts';
import { fullCluster, storageOf5000Nodes } from './plan/testing/large-views.ts';
import { loadCluster } from './source/load-cluster.ts';
import { requireNodes } from './source/require-nodes.ts';

const golden = (name: string) => `./plan/testing/golden/${name}.txt`;
const ofHeadroom = (name: string) => `./headroom/testing/golden/${name}.txt`;
const narrow: Terminal = { width: 50, hasColour: false, isInteractive: true };
const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;
const size = { text: '10Gi', bytes: 10 * 2 ** 30 };
/** Two screens; `-o wide` and `-o json` have the rest. */
const linesMax = 100;

const linesOf = (text: string) => text.split('\n').length;

test('a plan for 5,000 nodes is short', async () => {
  const changes = changesOfFlags({ drain: ['node/node-0001'], replicas: ['sts/db=30'] }, 'default');
  const report = makePlan(fullCluster(), changes, options);
  const text = renderedPlan(report, 'table', plainTerminal);
  expect(linesOf(text)).toBeLessThan(linesMax);
  expect([report.moves.length, report.stranded.length]).toEqual([40, 50]);
  await expect(text).toMatchFileSnapshot(golden('large'));
  await expect(renderedPlan(report, 'table', narrow)).toMatchFileSnapshot(golden('large-narrow'));
});

test('the headroom of 5,000 nodes is short', async () => {
  const report = measureRoom(storageOf5000Nodes(), { ...options, size, countMax: 350 });
  const text = renderedHeadroom(report, 'table', plainTerminal);
  expect(linesOf(text)).toBeLessThan(linesMax);
  await expect(text).toMatchFileSnapshot(ofHeadroom('large'));
  await expect(renderedHeadroom(report, 'table', narrow)).toMatchFileSnapshot(ofHeadroom('large-narrow'));
});

/** A cluster of which only these kinds may be listed. */
async function limitedView(...listable: readonly string[]): Promise<ClusterView> {
  await using environment = await VirtualTimeCluster.start();
  for (const name of ['n1', 'n2']) await environment.cluster.resource(nodes).create({ metadata: { name } });
  await environment.cluster
    .resource(storageClasses)
    .create({ metadata: { name: 'fast' }, provisioner: 'csi.example.com' });
  const cluster = new InterceptedCluster(environment.cluster, {
    before: ({ verb, resource }) => {
      if (verb === 'list' && !listable.includes(resource.plural))
        throw failure(403, 'Forbidden', 'forbidden');
    },
  });
  const source = { server: 'test', source: 'test', onProgress: () => {}, needsPolicies: true };
  return await loadCluster(cluster, { namespace: 'default' }, source);
}

test('without the right to list more than nodes, pods and classes, notes say what was not seen', async () => {
  const view = await limitedView('nodes', 'pods', 'storageclasses');
  const report = makePlan(view, [{ kind: 'drain-node', node: 'n1' }], options);
  await expect(renderedPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('no-rights'));
  const room = measureRoom(view, { ...options, size });
  await expect(renderedHeadroom(room, 'table', plainTerminal)).toMatchFileSnapshot(ofHeadroom('no-rights'));
});

test('without the right to list nodes there is no answer, and the remedy is named', async () => {
  const loaded = { view: await limitedView('pods'), where: 'test', isFromFiles: false };
  expect(() => requireNodes(loaded)).toThrow(
    'could not read nodes: forbidden; ask for the right to list them',
  );
});

test('without a cluster', async () => {
  const flags = { kubeconfig: '/does/not/exist', output: 'table' };
  const text = await planCommand({ ...flags, drain: ['node/n1'] }).catch(String);
  await expect(`${text}\n`).toMatchFileSnapshot(golden('no-cluster'));
  const room = await headroomCommand({ ...flags, size: '10Gi' }).catch(String);
  await expect(`${room}\n`).toMatchFileSnapshot(ofHeadroom('no-cluster'));
  const missing = /the kubeconfig \/does\/not\/exist does not exist; choose a kubeconfig with --kubeconfig/;
  await expect(moveCommand('n1', flags)).rejects.toThrow(missing);
  await expect(
    bundle({ kubeconfig: flags.kubeconfig, outputFile: '/does/not/exist/bundle' }),
  ).rejects.toThrow(missing);
});

test('an empty cluster, on a narrow terminal', async () => {
  const view = viewOf({ Node: [nodeWith('n1', '1')] });
  const report = makePlan(view, [{ kind: 'add-nodes', count: 2, like: 'n1' }], options);
  await expect(renderedPlan(report, 'table', narrow)).toMatchFileSnapshot(golden('empty-narrow'));
  const room = measureRoom(view, { ...options, size });
  await expect(renderedHeadroom(room, 'table', narrow)).toMatchFileSnapshot(ofHeadroom('empty-narrow'));
});
