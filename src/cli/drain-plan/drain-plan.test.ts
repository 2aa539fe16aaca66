import { describe, expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import { failure } from '../../kube/api-error.ts';
import { nodes } from '../../kube/resources.ts';
import type { DrainPlanReport } from '../../queries/drain/drain-report.ts';
import { exitCodeOfDrain, makeDrainPlan } from '../../queries/drain/make-drain-plan.ts';
import { moveMarkText, moveTargetKey } from '../../queries/drain/move-mark.ts';
import { predictEviction } from '../../queries/drain/predict-eviction.ts';
import { drainTargetOf } from '../../queries/plan/drain-target.ts';
import { shop, twoDrives } from '../../queries/plan/testing/plan-views.ts';
import { nodeWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { disksIn } from '../source/load-disks.ts';
import { drainPlanCommand, renderedDrainPlan } from './run.ts';
import { busyNode, largeCluster, roomyDrives, threeDisks } from './testing/drain-views.ts';

const golden = (name: string) => `./testing/golden/${name}.txt`;
const narrow: Terminal = { width: 50, hasColour: false, isInteractive: true };

function planOf(argument: string, view: ClusterView, disks?: ReturnType<typeof threeDisks>): DrainPlanReport {
  const facts = { view, disks, clock: new VirtualClock(), profile: 'stowage' } as const;
  return makeDrainPlan(drainTargetOf(argument), facts);
}

describe('golden files', () => {
  test('a node with disks, pods of a budget, a local volume, a drive and a bare pod', async () => {
    const report = planOf('n1', busyNode(), threeDisks());
    await expect(renderedDrainPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('node'));
    await expect(renderedDrainPlan(report, 'table', narrow)).toMatchFileSnapshot(golden('node-narrow'));
    await expect(renderedDrainPlan(report, 'wide', plainTerminal)).toMatchFileSnapshot(golden('node-wide'));
    await expect(renderedDrainPlan(report, 'json', plainTerminal)).toMatchFileSnapshot(golden('node-json'));
    expect(renderedDrainPlan(report, 'name', plainTerminal)).toBe(
      'replica c-r0\nvolume n1-local\nvolume pvc-old\npod default/files\npod default/shell\n',
    );
    expect(exitCodeOfDrain(report)).toBe(3);
  });

  test('a drive whose volumes fit on two others', async () => {
    const report = planOf('drive/d1', roomyDrives());
    await expect(renderedDrainPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('drive'));
    await expect(renderedDrainPlan(report, 'table', narrow)).toMatchFileSnapshot(golden('drive-narrow'));
    expect(exitCodeOfDrain(report)).toBe(0);
  });

  test('a drive with a volume that fits nowhere', async () => {
    const report = planOf('drive/d1', twoDrives());
    await expect(renderedDrainPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(
      golden('drive-stuck'),
    );
    expect(exitCodeOfDrain(report)).toBe(3);
  });

  test('one of 5,000 nodes, with more than a screen shows', async () => {
    const report = planOf('n1', largeCluster());
    await expect(renderedDrainPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('large'));
    expect(report.left).toHaveLength(15);
  });

  test('an empty node', async () => {
    const report = planOf('node/n1', viewOf({ Node: [nodeWith('n1', '1')] }));
    await expect(renderedDrainPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('empty'));
    expect(exitCodeOfDrain(report)).toBe(0);
  });

  test('without rights to see more than nodes and pods', async () => {
    await using environment = await VirtualTimeCluster.start();
    const client = environment.cluster.resource(nodes);
    for (const name of ['n1', 'n2']) await client.create({ metadata: { name } });
    const cluster = new InterceptedCluster(environment.cluster, {
      before: ({ verb, resource }) => {
        if (verb === 'list' && !['nodes', 'pods'].includes(resource.plural))
          throw failure(403, 'Forbidden', 'forbidden');
      },
    });
    const options = { server: 'test', source: 'test', onProgress: () => {}, needsPolicies: true };
    const view = await loadCluster(cluster, { namespace: 'default' }, options);
    const facts = {
      view,
      disks: await disksIn(cluster),
      clock: environment.clock,
      profile: 'stowage',
    } as const;
    const report = makeDrainPlan(drainTargetOf('n1'), facts);
    await expect(renderedDrainPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('no-rights'));
    expect(exitCodeOfDrain(report)).toBe(3);
    expect(view.unreadPolicies).toEqual(['PriorityClass', 'PodDisruptionBudget']);
  });

  test('without the right to list PodDisruptionBudgets', async () => {
    const report = planOf('drive/d1', { ...roomyDrives(), unreadPolicies: ['PodDisruptionBudget'] });
    const text = renderedDrainPlan(report, 'table', plainTerminal);
    await expect(text).toMatchFileSnapshot(golden('unread-budgets'));
    expect([report.isComplete, report.unreadKinds, exitCodeOfDrain(report)]).toEqual([
      false,
      ['PodDisruptionBudget'],
      3,
    ]);
  });

  test.each([
    [{ kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', onlyNamespace: 'other' }],
    [{ kind: 'Pod', plural: 'pods', onlyNamespace: undefined }],
  ] as const)('nothing is to be deleted whose users could not be read: %j', (unread) => {
    const whole = shop();
    const kinds = ['Pod', 'PersistentVolumeClaim'] as const;
    for (const kind of kinds)
      if (kind === unread.kind)
        for (const { metadata } of [...whole.snapshot.values(kind)])
          whole.snapshot.remove(kind, `default/${metadata?.name}`);
    const { left, isComplete } = planOf('n1', { ...whole, unseen: [unread] });
    const [volume] = left.filter(({ kind }) => kind === 'volume');
    expect(volume?.why).toContain(`${unread.plural} of namespace default could not be read`);
    expect(volume?.remedy).toBe(`ask for the right to list ${unread.plural} in namespace default`);
    expect(isComplete).toBe(false);
  });

  test('files without a PodDisruptionBudget', () => {
    const { notes } = planOf('n1', { ...shop(), isFromFiles: true });
    expect(notes.map(({ text }) => text)).toContain(
      'there is no PodDisruptionBudget in the files: evictions are predicted as if there were none, and may be refused; add the output of kubectl get pdb -A -o yaml',
    );
  });

  test('without a cluster', async () => {
    const flags = { kubeconfig: '/does/not/exist', output: 'table' };
    const text = await drainPlanCommand('n1', flags).catch(String);
    await expect(`${text}\n`).toMatchFileSnapshot(golden('no-cluster'));
  });

  test('a node with a local volume that a pod of a StatefulSet uses', async () => {
    const report = planOf('n1', shop());
    await expect(renderedDrainPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('pinned'));
  });
});

test('a volume in the ledger of a drive is left, also if no node has the labels that its PersistentVolume asks for', () => {
  const view = busyNode();
  const term = { matchExpressions: [{ key: 'stowage.dev/node', operator: 'In' as const, values: ['n1'] }] };
  view.snapshot.add('PersistentVolume', {
    metadata: { name: 'pv-old' },
    spec: {
      capacity: { storage: '20Gi' },
      csi: { driver: 'drives.stowage.dev', volumeHandle: 'pvc-old' },
      nodeAffinity: { required: { nodeSelectorTerms: [term] } },
    },
  });
  const { left } = planOf('n1', view);
  expect(left.filter(({ kind }) => kind === 'volume').map(({ name }) => name)).toEqual([
    'n1-local',
    'pv-old',
  ]);
});

test('a volume whose claim is gone keeps its data, and the remedy names the PersistentVolume', () => {
  const view = shop();
  view.snapshot.remove('PersistentVolumeClaim', 'default/data-db-0');
  view.snapshot.remove('Pod', 'default/db-0');
  const [volume] = planOf('n1', view).left;
  expect([volume?.why, volume?.remedy]).toEqual([
    expect.stringContaining('its claim is gone'),
    expect.stringContaining('then delete PersistentVolume n1-a'),
  ]);
});

test('a StatefulSet loses one pod at a time, the last first, and a budget delays', () => {
  const pods = planOf('n1', busyNode()).steps.flatMap((step) => step.pods);
  expect(pods.map(({ pod, wave }) => [pod, wave])).toEqual([
    ['default/web-1', 1],
    ['default/web-0', 2],
  ]);
});

test('a budget that forbids to stop all pods of a drive at once is named', () => {
  const report = planOf('drive/d1', roomyDrives(1));
  expect(report.left.map(({ kind, name }) => [kind, name])).toEqual([['pod', 'default/db-0']]);
  expect(exitCodeOfDrain(report)).toBe(3);
});

test('what an earlier call has decided stays so, though its targets are cordoned and one volume has moved', () => {
  const view = roomyDrives();
  const before = planOf('drive/d1', view).steps.flatMap(({ volumes }) => volumes);
  expect(before.map(({ name, to }) => [name, to])).toEqual([
    ['pvc-data-db-0', 'drive/d2'],
    ['pvc-data-db-1', 'drive/d3'],
  ]);
  const [d1, d2, d3] = ['d1', 'd2', 'd3'].map((name) => view.snapshot.get('Drive', name)!);
  const [moved, other] = d1!.spec!.volumes!;
  view.snapshot.add('Drive', { ...d1, spec: { ...d1!.spec, unschedulable: true, volumes: [other!] } });
  for (const [drive, volumes, own] of [
    [d2!, ['pvc-data-db-0'], [moved!]],
    [d3!, ['pvc-data-db-1'], d3!.spec!.volumes!],
  ] as const)
    view.snapshot.add('Drive', {
      ...drive,
      metadata: {
        ...drive.metadata,
        annotations: { [moveTargetKey]: moveMarkText({ from: 'd1', volumes }) },
      },
      spec: { ...drive.spec, unschedulable: true, volumes: own },
    });
  const report = planOf('drive/d1', view);
  expect(report.steps.flatMap(({ volumes }) => volumes).map(({ name, to }) => [name, to])).toEqual([
    ['pvc-data-db-1', 'drive/d3'],
  ]);
  expect(report.steps[0]?.objects).toEqual(['drive/d1', 'drive/d2', 'drive/d3', 'node/n1']);
});

test('all replicas together must fit, and an image goes where a copy is missing', () => {
  const lines = predictEviction('n1', threeDisks(), new VirtualClock());
  expect(lines.map(({ name, to, refusal }) => [name, to, refusal !== undefined])).toEqual([
    ['a-r0', 'disk/n3/d', false],
    ['b-r0', 'disk/n2/d', false],
    ['c-r0', undefined, true],
    ['ubuntu', 'disk/n2/d', false],
  ]);
});

test.each(['', '/', 'disk/x', 'node/a/b', 'drive/'])('wrong usage: %j', (text) => {
  expect(() => drainTargetOf(text)).toThrow('must be NODE, node/NAME or drive/NAME');
});

test.each([
  ['n9', 'there is no node n9'],
  ['drive/d9', 'there is no drive d9'],
])('%s does not exist', (argument, message) => {
  expect(() => planOf(argument, shop())).toThrow(message);
});
