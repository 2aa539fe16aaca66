import { expect, test } from 'vitest';
import type { Pod, PodSpec } from '../../kube/api/core.ts';
import { defaultRules } from '../rules/default-rules.ts';
import { clusterOf } from '../testing/cluster.ts';
import { hostname, node, zone } from '../testing/objects.ts';
import {
  describePreemption,
  high,
  low,
  middle,
  nodeWithCpu,
  pendingPod,
  preempt,
  preemptionCluster,
  runningPod,
  small,
} from './testing/preemption-cluster.ts';

const foo = { labels: { foo: '' } };
const labelSelector = { matchExpressions: [{ key: 'foo', operator: 'Exists' as const }] };
const rules = defaultRules;

function having(pod: Pod, spec: PodSpec): Pod {
  return { ...pod, spec: { ...pod.spec, ...spec } };
}

test('only the lower pod whose anti-affinity excludes the pod is evicted', () => {
  const required = [{ labelSelector, topologyKey: hostname }];
  const loner = having(runningPod('p1.1', 'node1', low, small, foo), {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  });
  const index = preemptionCluster(
    ['node1'],
    [loner, runningPod('p1.2', 'node1', middle, small), runningPod('p1.3', 'node1', high, small)],
  );
  expect(describePreemption(preempt(index, pendingPod('p', high, small, foo), { rules }))).toBe(
    'node1: p1.1',
  );
});

test('as many pods are evicted as the spread over zones and nodes requires, the least important first', () => {
  const places: readonly (readonly [string, string])[] = [
    ['node-a', 'zone1'],
    ['node-b', 'zone1'],
    ['node-x', 'zone2'],
  ];
  const index = clusterOf({
    Node: places.map(([name, at]) => ({ ...nodeWithCpu(name), ...node(name, { [zone]: at }) })),
    Pod: [
      runningPod('pod-a1', 'node-a', middle, 0, foo),
      runningPod('pod-a2', 'node-a', low, 0, foo),
      runningPod('pod-b1', 'node-b', low, 0, foo),
      runningPod('pod-x1', 'node-x', high, 0, foo),
      runningPod('pod-x2', 'node-x', high, 0, foo),
    ],
  });
  const spread = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, labelSelector };
  const asking = having(pendingPod('p', high, 0, foo), {
    topologySpreadConstraints: [
      { ...spread, topologyKey: zone },
      { ...spread, topologyKey: hostname },
    ],
  });
  expect(
    describePreemption(preempt(index, asking, { rules, seed: 0, candidateLimits: { percent: 0, min: 1 } })),
  ).toBe('node-a: pod-a2');
  expect(
    describePreemption(preempt(index, asking, { rules, seed: 1, candidateLimits: { percent: 0, min: 1 } })),
  ).toBe('node-b: pod-b1');
});

test('a lower pod that uses the host port is evicted', () => {
  const ports = { containers: [{ name: 'web', ports: [{ containerPort: 80, hostPort: 80 }] }] };
  const holder = having(runningPod('holder', 'node1', low, 0), ports);
  const index = preemptionCluster(['node1'], [holder, runningPod('other', 'node1', low, small)]);
  expect(describePreemption(preempt(index, having(pendingPod('p', high, 0), ports), { rules }))).toBe(
    'node1: holder',
  );
});

test('no pod is evicted from a node whose taint the pod does not tolerate', () => {
  const tainted = {
    ...nodeWithCpu('node1'),
    spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' as const }] },
  };
  const index = preemptionCluster([tainted], [runningPod('p1', 'node1', low, 500)]);
  expect(describePreemption(preempt(index, pendingPod('p', high, small), { rules }))).toBe(
    'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  );
});
