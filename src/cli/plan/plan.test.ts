import { describe, expect, test } from 'vitest';
import { storageClass } from '../../engine/testing/objects.ts';
import type { WhatIfChange } from '../../engine/what-if/change.ts';
import { makePlan } from '../../queries/plan/make-plan.ts';
import { shop, twoDrives } from '../../queries/plan/testing/plan-views.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { changesOfFlags } from '../flags/change-flags.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { exitCodeOfPlan, renderedPlan } from './run.ts';

const golden = (name: string) => `./testing/golden/${name}`;
const narrow: Terminal = { width: 50, hasColour: false, isInteractive: true };
const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;

const drain: readonly WhatIfChange[] = [{ kind: 'drain-node', node: 'n1' }];

describe('golden files', () => {
  test('a drained node: who moves, who is stranded and what must be copied', async () => {
    const report = makePlan(shop(), drain, options);
    await expect(renderedPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('drain.txt'));
    await expect(renderedPlan(report, 'table', narrow)).toMatchFileSnapshot(golden('drain-narrow.txt'));
    await expect(renderedPlan(report, 'wide', plainTerminal)).toMatchFileSnapshot(golden('drain-wide.txt'));
    await expect(renderedPlan(report, 'json', plainTerminal)).toMatchFileSnapshot(golden('drain-json.txt'));
    expect(renderedPlan(report, 'name', plainTerminal)).toBe('pod default/db-0\npod default/batch\n');
    expect(exitCodeOfPlan(report, drain)).toBe(3);
  });

  test('a drained drive', async () => {
    const report = makePlan(twoDrives(), [{ kind: 'drain-drive', drive: 'd1' }], options);
    await expect(renderedPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('drive.txt'));
    expect(report.copies.map(({ claim, to }) => [claim, to])).toEqual([
      ['default/large', undefined],
      ['default/small', 'drive/d2'],
    ]);
  });

  test('several changes together', async () => {
    const changes = changesOfFlags(
      { drain: ['node/n1'], addNodes: '2', like: 'n2', replicas: ['sts/db=3'] },
      'default',
    );
    const report = makePlan(shop(), changes, options);
    await expect(renderedPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('together.txt'));
  });

  test('an empty cluster', async () => {
    const report = makePlan(
      viewOf({ Node: [nodeWith('n1', '1')] }),
      [{ kind: 'drain-node', node: 'n1' }],
      options,
    );
    await expect(renderedPlan(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('empty.txt'));
    expect(exitCodeOfPlan(report, drain)).toBe(0);
  });
});

test('a node may be named with its kind or without', () => {
  expect(changesOfFlags({ drain: ['n1', 'node/n2', 'drive.stowage.dev/d1'] }, 'default')).toEqual([
    { kind: 'drain-node', node: 'n1' },
    { kind: 'drain-node', node: 'n2' },
    { kind: 'drain-drive', drive: 'd1' },
  ]);
});

test('a drive that is added makes room for what a drained drive has', () => {
  const changes = changesOfFlags({ drain: ['drive/d1'], addDrive: ['n1=100Gi'] }, 'default');
  const { copies, stuck } = makePlan(twoDrives(), changes, options);
  expect(copies.map(({ to }) => to)).toEqual(['drive/new-drive-1', 'drive/d2']);
  expect(stuck).toEqual([]);
});

test('new nodes take pending pods, and whether they do is the question', () => {
  const changes = changesOfFlags({ addNodes: '1', like: 'n1' }, 'default');
  const report = makePlan(shop(), changes, options);
  expect(report.moves).toEqual([
    { pod: 'default/batch', owner: undefined, from: undefined, to: 'new-node', cause: 'pending' },
  ]);
  expect(exitCodeOfPlan(report, changes)).toBe(0);
  const small = changesOfFlags({ addNodes: '1', like: 'n3' }, 'default');
  expect(exitCodeOfPlan(makePlan(shop(), small, options), small)).toBe(3);
});

test('a pod that was pending before is no reason against a drain', () => {
  const view = viewOf({ Node: [nodeWith('n1', '1'), nodeWith('n2', '1')], Pod: [podWith('batch', '3')] });
  expect(exitCodeOfPlan(makePlan(view, drain, options), drain)).toBe(0);
});

test('workloads of a file are scheduled in the cluster', () => {
  const template = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '3' } } }] } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'api' },
    spec: { replicas: 2, template },
  };
  const report = makePlan(
    viewOf({ Node: [nodeWith('n1', '4'), nodeWith('n2', '2')] }),
    [{ kind: 'apply', objects: [deployment] }],
    options,
  );
  expect(report.moves.map(({ to }) => to)).toEqual(['n1']);
  expect(report.stranded.map(({ message }) => message)).toEqual([
    '0/2 nodes are available: 2 Insufficient cpu.',
  ]);
});

test('a pod of a file preempts by its priority class', () => {
  const high = { kind: 'PriorityClass', metadata: { name: 'high' }, value: 10 };
  const view = viewOf(
    { Node: [nodeWith('n1', '2')], Pod: [podWith('low', '2', [], 'n1')] },
    { policies: [high] },
  );
  const urgent = podWith('urgent', '2');
  const object = { kind: 'Pod', ...urgent, spec: { ...urgent.spec, priorityClassName: 'high' } };
  const { moves, lost } = makePlan(view, [{ kind: 'apply', objects: [object] }], options);
  expect(moves.map(({ pod, to }) => `${pod} on ${to}`)).toEqual(['default/urgent on n1']);
  expect(lost.map(({ pod }) => pod)).toEqual(['default/low']);
});

test('the index is as it was', () => {
  const view = shop();
  const first = makePlan(view, drain, options);
  expect(makePlan(view, drain, options)).toEqual(first);
});

test.each([
  [{ kind: 'drain-node', node: 'n9' }, /there is no node n9/],
  [{ kind: 'drain-drive', drive: 'd9' }, /there is no drive d9/],
  [{ kind: 'add-nodes', count: 1, like: 'n9' }, /there is no node n9/],
  [{ kind: 'add-drive', node: 'n9', bytes: 1, tier: undefined }, /there is no node n9/],
  [
    { kind: 'scale', workload: { kind: 'StatefulSet', namespace: 'a', name: 'b' }, replicas: 1 },
    /there is no statefulset a\/b; kubectl get statefulsets -n a/,
  ],
] as const)('%j names what does not exist', (change, message) => {
  expect(() => makePlan(shop(), [change], options)).toThrow(message);
});

test.each([
  [{ drain: [''] }, /--drain: "" must be NODE, node\/NAME or drive\/NAME/],
  [{ drain: ['pod/p1'] }, /--drain: "pod\/p1" must be NODE, node\/NAME or drive\/NAME/],
  [{ addNodes: '2' }, /--add-nodes: --like is missing/],
  [{ like: 'n1' }, /--like: belongs to --add-nodes/],
  [{ addNodes: 'two', like: 'n1' }, /--add-nodes: "two" must be a whole number/],
  [{ addDrive: ['n1'] }, /--add-drive: "n1" must be NODE=SIZE/],
  [{ addDrive: ['n1=2Ti:Lukewarm'] }, /tier "Lukewarm" must be one of/],
  [{ replicas: ['db=3'] }, /--replicas: "db" must be KIND\/NAME/],
  [{ replicas: ['sts/db'] }, /--replicas: "sts\/db" must be KIND\/NAME=COUNT/],
  [{ replicas: ['sts/db='] }, /--replicas: "" must be a whole number/],
])('wrong usage: %j', (flags, message) => {
  expect(() => changesOfFlags(flags, 'default')).toThrow(message);
});

test('volumes of members that their StatefulSet does not create yet have to be copied too', () => {
  const { snapshot, ...rest } = shop();
  const [set] = snapshot.values('StatefulSet');
  snapshot.add('StatefulSet', { ...set!, spec: { ...set!.spec, podManagementPolicy: 'OrderedReady' } });
  const { copies, stranded } = makePlan(
    { ...rest, snapshot },
    [...drain, { kind: 'drain-node', node: 'n2' }],
    options,
  );
  expect(stranded.find(({ pod }) => pod === 'default/db-1')?.message).toContain('OrderedReady');
  expect(copies.map(({ volume }) => volume)).toEqual(['n1-a', 'n2-a']);
});

test('a drain of which not everything could be read is not known to succeed', () => {
  const unseen = [{ kind: 'Pod', plural: 'pods', onlyNamespace: 'shop' }] as const;
  const report = makePlan(viewOf({ Node: [nodeWith('n1', '4')] }, { unseen }), drain, options);
  expect([report.unreadKinds, exitCodeOfPlan(report, drain)]).toEqual([['Pod'], 3]);
  expect(report.summary).toContain('Not everything could be read');
  // A cluster without our definitions forbids them too.
  const noDrives = [{ kind: 'Drive', plural: 'drives', onlyNamespace: undefined }] as const;
  const unreadWith = (...classes: readonly ReturnType<typeof storageClass>[]) =>
    makePlan(
      viewOf({ Node: [nodeWith('n1', '4')], StorageClass: classes }, { unseen: noDrives }),
      drain,
      options,
    ).unreadKinds;
  expect(unreadWith()).toEqual([]);
  expect(unreadWith(storageClass('drives', { provisioner: 'drives.stowage.dev' }))).toEqual(['Drive']);
  const scaled: readonly WhatIfChange[] = [{ kind: 'add-nodes', count: 1, like: 'n1' }];
  expect(makePlan(viewOf({ Node: [nodeWith('n1', '4')] }, { unseen }), scaled, options).unreadKinds).toEqual(
    [],
  );
});

test('a note says that nothing is predicted for objects of other controllers', () => {
  const objects = ['example.com/v1', 'networking.k8s.io/v1', 'v1'].map((apiVersion) => ({
    apiVersion,
    kind: 'Thing',
    metadata: { name: apiVersion },
  }));
  const { notes } = makePlan(shop(), [{ kind: 'apply', objects }], options);
  expect(notes.map(({ text }) => text)).toEqual([
    'Thing example.com/v1: what its controller would create is not predicted',
  ]);
});

test('notes say which kinds files lack, and what follows', () => {
  const kinds = {
    Node: [nodeWith('n1', '4')],
    StorageClass: [
      storageClass('pools', { provisioner: 'pools.example.com' }),
      storageClass('drives', { provisioner: 'drives.stowage.dev' }),
    ],
  };
  const lacking = (view: ClusterView) =>
    makePlan(view, [{ kind: 'drain-node', node: 'n1' }], options).notes.flatMap(
      ({ text }) => /^there is no (\S+) in the files/.exec(text)?.[1] ?? [],
    );
  expect(lacking(viewOf(kinds, { isFromFiles: true }))).toEqual([
    'PodDisruptionBudget',
    'Pod',
    'CSIDriver',
    'Drive',
  ]);
  expect(lacking(viewOf(kinds, { isFromFiles: true, isComplete: true }))).toEqual([]);
  expect(lacking(viewOf(kinds, { unseen: [] }))).toEqual([]);
});
