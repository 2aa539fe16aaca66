/** The outcomes of pods if the template of their workload is changed. Each case was found by the property, or is one that it cannot draw. */
import { describe, expect, test } from 'vitest';
import type { WhatIfChange } from '../../engine/what-if/change.ts';
import type { ReplicaSet, StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { nodeWith, podWith, viewOf } from '../testing/cluster-views.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { makePlan } from './make-plan.ts';

const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;
const namespace = 'default';

const templateOf = (cpu: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] },
});

function owned(pod: Pod, kind: string, name: string, revision = ''): Pod {
  const owner = { apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true };
  const labels = { ...pod.metadata?.labels, 'controller-revision-hash': revision };
  return { ...pod, metadata: { ...pod.metadata, labels, ownerReferences: [owner] } };
}

/** A Deployment `web` of pods with one cpu each on the nodes, as its ReplicaSet shows it. Defaults are filled in, as the API server does it. */
function deployed(nodes: Readonly<Record<string, string>>, places: readonly string[]): ClusterView {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-web', controller: true };
  const { spec } = templateOf('1');
  const set: ReplicaSet = {
    metadata: {
      namespace,
      name: 'web-1',
      uid: 'uid-web-1',
      creationTimestamp: '2025-12-01T00:00:00Z',
      annotations: {
        'deployment.kubernetes.io/revision': '1',
        'deployment.kubernetes.io/desired-replicas': String(places.length),
      },
      ownerReferences: [owner],
    },
    spec: {
      replicas: places.length,
      selector: { matchLabels: { app: 'web', 'pod-template-hash': '1' } },
      template: {
        metadata: { labels: { app: 'web', 'pod-template-hash': '1' } },
        spec: { ...spec, restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' },
      },
    },
  };
  return viewOf({
    Node: Object.entries(nodes).map(([name, cpu]) => nodeWith(name, cpu)),
    ReplicaSet: [set],
    Pod: places.map((node, at) => owned(podWith(`web-1-${at}`, '1', [], node), 'ReplicaSet', 'web-1')),
  });
}

const deployment = (spec: object): KubeObject =>
  ({ kind: 'Deployment', metadata: { namespace, name: 'web' }, spec }) as KubeObject;

const applied = (...objects: readonly KubeObject[]): WhatIfChange => ({ kind: 'apply', objects });

function summary(view: ClusterView, ...changes: readonly WhatIfChange[]) {
  const { moves, stranded, removed } = makePlan(view, changes, options);
  return {
    moves: moves.map(({ from = '-', to }) => `${from} > ${to}`),
    stranded: stranded.length,
    removed: removed.length,
  };
}

describe('a Deployment with another template', () => {
  test('is replaced pod by pod', () => {
    const view = deployed({ n1: '2', n2: '2' }, ['n1', 'n1']);
    expect(summary(view, applied(deployment({ template: templateOf('500m') })))).toEqual({
      moves: ['- > n2', '- > n2'],
      stranded: 0,
      removed: 2,
    });
  });

  test('is not updated where the first new pod does not fit beside the old ones', () => {
    const view = deployed({ n1: '2' }, ['n1', 'n1']);
    const change = applied(deployment({ template: templateOf('900m') }));
    expect(summary(view, change)).toEqual({ moves: [], stranded: 1, removed: 0 });
  });

  test('fits there with the strategy Recreate: all old pods are gone first', () => {
    const view = deployed({ n1: '2' }, ['n1', 'n1']);
    const spec = { template: templateOf('900m'), strategy: { type: 'Recreate' } };
    expect(summary(view, applied(deployment(spec)))).toEqual({
      moves: ['- > n1', '- > n1'],
      stranded: 0,
      removed: 2,
    });
  });

  test('creates no more pods than it wants, though its ReplicaSet grows while pods are created', () => {
    const view = deployed({ n1: '3', n2: '9' }, ['n1', 'n1', 'n1']);
    const rollingUpdate = { maxSurge: 2, maxUnavailable: 0 };
    const change = applied(deployment({ template: templateOf('2'), strategy: { rollingUpdate } }));
    expect(summary(view, change)).toEqual({
      moves: ['- > n2', '- > n2', '- > n2'],
      stranded: 0,
      removed: 3,
    });
  });

  test('reduces its oldest ReplicaSet first, if the template is changed twice', () => {
    const view = deployed({ n1: '4' }, ['n1', 'n1', 'n1']);
    const rollingUpdate = { maxSurge: 2, maxUnavailable: 0 };
    const change = (cpu: string) =>
      applied(deployment({ template: templateOf(cpu), strategy: { rollingUpdate } }));
    const { removed } = makePlan(view, [change('900m'), change('800m')], options);
    expect(removed.filter(({ pod }) => pod.startsWith('default/web-1-')).length).toBe(3);
  });
});

describe('what a file leaves as it is', () => {
  test('a template with the same values, and amounts in another notation, is not a change', () => {
    const view = deployed({ n1: '4' }, ['n1', 'n1']);
    expect(summary(view, applied(deployment({ replicas: 2, template: templateOf('1000m') })))).toEqual({
      moves: [],
      stranded: 0,
      removed: 0,
    });
  });

  test('a Deployment whose file has no replicas keeps as many as it has', () => {
    const view = deployed({ n1: '4', n2: '4' }, ['n1', 'n1', 'n1']);
    const { moves, removed } = summary(view, applied(deployment({ template: templateOf('500m') })));
    expect([moves.length, removed]).toEqual([3, 3]);
  });

  test('a node keeps its size', () => {
    const view = viewOf({ Node: [nodeWith('n1', '2')] });
    const node = { kind: 'Node', metadata: { name: 'n1', labels: { disk: 'ssd' } } };
    const pod = { kind: 'Pod', ...podWith('a', '2') };
    expect(summary(view, applied(node, pod)).moves).toEqual(['- > n1']);
  });
});

describe('a StatefulSet with another template', () => {
  const set = (rest: Partial<NonNullable<StatefulSet['spec']>>): StatefulSet => ({
    kind: 'StatefulSet',
    metadata: { namespace, name: 'db', uid: 'uid-db' },
    spec: {
      replicas: 2,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'web' } },
      template: templateOf('1'),
      ...rest,
    },
    status: { currentRevision: 'old', updateRevision: 'old' },
  });
  const member = (at: number, node: string) =>
    owned(podWith(`db-${at}`, '1', [], node), 'StatefulSet', 'db', 'old');
  const view = (cpu: string) =>
    viewOf({
      Node: [nodeWith('n1', cpu)],
      StatefulSet: [set({})],
      Pod: [member(0, 'n1'), member(1, 'n1')],
    });

  test('is updated from the last member to the first', () => {
    const report = makePlan(view('3'), [applied(set({ template: templateOf('1500m') }))], options);
    expect(report.moves.map(({ pod }) => pod)).toEqual(['default/db-1', 'default/db-0']);
  });

  test('stops at a member that does not fit', () => {
    const report = makePlan(view('2'), [applied(set({ template: templateOf('1500m') }))], options);
    expect(report.stranded.map(({ pod }) => pod)).toEqual(['default/db-1']);
    expect(report.moves).toEqual([]);
  });

  test('members below the partition keep theirs', () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } as const;
    const change = applied(set({ template: templateOf('500m'), updateStrategy }));
    const report = makePlan(view('2'), [change], options);
    expect(report.moves.map(({ pod }) => pod)).toEqual(['default/db-1']);
  });

  test('a member that one change removes and the next one creates again has a node', () => {
    const workload = { kind: 'StatefulSet', namespace, name: 'db' } as const;
    const report = makePlan(
      view('2'),
      [{ kind: 'scale', workload, replicas: 1 }, applied(set({ replicas: 2 }))],
      options,
    );
    expect(report.removed).toEqual([]);
    expect(report.moves.map(({ pod, to }) => `${pod} on ${to}`)).toEqual(['default/db-1 on n1']);
  });
});

describe('a Job', () => {
  const job = (spec: object): KubeObject =>
    ({
      kind: 'Job',
      metadata: { namespace, name: 'load' },
      spec: { template: templateOf('1'), ...spec },
    }) as KubeObject;

  test('has pods up to its parallelism', () => {
    const change = applied(job({ parallelism: 3, completions: 2 }));
    expect(summary(viewOf({ Node: [nodeWith('n1', '8')] }), change).moves.length).toBe(2);
  });

  test('that is suspended has none', () => {
    const change = applied(job({ suspend: true }));
    expect(summary(viewOf({ Node: [nodeWith('n1', '8')] }), change).moves).toEqual([]);
  });

  test('replaces its pods after a ReplicaSet has replaced those of it', () => {
    const set = {
      metadata: { namespace, name: 'web', uid: 'uid-web' },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: templateOf('1') },
    };
    const view = viewOf({
      Node: [nodeWith('n1', '2'), nodeWith('n2', '1')],
      ReplicaSet: [set],
      Pod: [
        owned(podWith('load-x', '1', [], 'n1'), 'Job', 'load'),
        owned(podWith('web-x', '1', [], 'n1'), 'ReplicaSet', 'web'),
      ],
    });
    const { moves, stranded } = makePlan(view, [{ kind: 'drain-node', node: 'n1' }], options);
    expect(moves.map(({ pod }) => pod)).toEqual(['default/web-x']);
    expect(stranded.map(({ pod }) => pod)).toEqual(['default/load-x']);
  });

  test('that exists is left as it is', () => {
    const pod = owned(podWith('load-x', '1', [], 'n1'), 'Job', 'load');
    const view = viewOf({ Node: [nodeWith('n1', '8')], Pod: [pod] });
    const report = makePlan(view, [applied(job({ parallelism: 3, completions: 9 }))], options);
    expect(report.moves).toEqual([]);
    expect(report.notes.map(({ text }) => text)).toContain('job default/load exists; it is left as it is');
  });
});
