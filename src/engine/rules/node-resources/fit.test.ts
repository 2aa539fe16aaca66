import { describe, expect, test } from 'vitest';
import type { Node, Pod, ResourceList } from '../../../kube/api/core.ts';
import type { DeviceClass } from '../../../kube/api/resource.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { assignedPod, podRequesting } from '../../testing/node-usage.ts';
import { plan, type Refusal } from '../../testing/whole-engine.ts';
import { balancedAllocationRule } from '../balanced-allocation/rule.ts';
import { eraseState } from '../framework/rule.ts';
import { nodeResourcesRule } from './rule.ts';

const fit = [eraseState(nodeResourcesRule)];

function sizedNode(name: string, allocatable: ResourceList): Node {
  return { metadata: { name }, status: { allocatable: { pods: '110', ...allocatable } } };
}

function refusalOf(nodes: readonly Node[], pods: readonly Pod[], requests: ResourceList): Refusal {
  const index = clusterOf({ Node: nodes, Pod: pods });
  const answer = plan(podRequesting('asking', requests), index, { nowMs: 0, rules: fit });
  if (answer.kind === 'placement') throw new Error(`it fits ${answer.node}`);
  return answer;
}

describe('a node without enough', () => {
  const node = sizedNode('n', {
    cpu: '2',
    memory: '2Gi',
    'ephemeral-storage': '1Gi',
    'example.com/gpu': '2',
  });
  const full = assignedPod('full', 'n', { cpu: '1500m', memory: '2Gi', 'example.com/gpu': '1' });

  test.each<[string, Node, ResourceList, string]>([
    ['capacity for one more pod', sizedNode('n', { pods: '1' }), {}, '1 Too many pods'],
    ['allocatable pods, without a value', { metadata: { name: 'n' } }, {}, '1 Too many pods'],
    ['cpu', node, { cpu: '501m' }, '1 Insufficient cpu'],
    ['memory', node, { memory: '1' }, '1 Insufficient memory'],
    ['ephemeral storage', node, { 'ephemeral-storage': '2Gi' }, '1 Insufficient ephemeral-storage'],
    ['of an extended resource', node, { 'example.com/gpu': '2' }, '1 Insufficient example.com/gpu'],
    ['of a resource that it does not have', node, { 'hugepages-2Mi': '2Mi' }, '1 Insufficient hugepages-2Mi'],
    [
      'of several resources has all of them in the message',
      sizedNode('n', { cpu: '2', memory: '2Gi', pods: '1' }),
      { cpu: '1', memory: '1Gi', 'a.com/x': '1', 'b.com/y': '1' },
      '1 Insufficient a.com/x, 1 Insufficient b.com/y, 1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods',
    ],
  ])('%s', (_name, short, requests, detail) => {
    expect(refusalOf([short], [full], requests).message).toBe(`0/1 nodes are available: ${detail}.`);
  });

  describe('of a resource that a DeviceClass serves', () => {
    const gpus = (name: string, spec: DeviceClass['spec'] = { extendedResourceName: 'example.com/gpu' }) =>
      ({ metadata: { name }, spec }) as DeviceClass;
    const served =
      'node(s) serve example.com/gpu by a DeviceClass (dynamic resource allocation), which the stowage scheduler does not support';
    const without = sizedNode('n', { cpu: '2' });

    test.each<[string, Node, readonly DeviceClass[], ResourceList, string]>([
      ['is refused as unsupported if it does not advertise it', without, [gpus('c')], {}, served],
      ['has zero of it', sizedNode('n', { cpu: '2', 'example.com/gpu': '0' }), [gpus('c')], {}, served],
      ['is short of it as always if it advertises it', node, [gpus('c')], {}, 'Insufficient example.com/gpu'],
      ['is short of it if no class names it', without, [gpus('c', {})], {}, 'Insufficient example.com/gpu'],
      [
        'of another name is short of it',
        without,
        [gpus('example.com-gpu', {})],
        {},
        'Insufficient example.com/gpu',
      ],
      ['has other shortages too', without, [gpus('c')], { cpu: '3' }, `Insufficient cpu, 1 ${served}`],
    ])('%s', (_name, short, classes, more, detail) => {
      const index = clusterOf({ Node: [short], Pod: [full], DeviceClass: classes });
      const asking = podRequesting('asking', { 'example.com/gpu': '2', ...more });
      const answer = plan(asking, index, { nowMs: 0, rules: fit });
      expect(answer).toMatchObject({ message: `0/1 nodes are available: 1 ${detail}.` });
    });

    test('is served as long as one class names it', () => {
      const index = clusterOf({ Node: [without], DeviceClass: [gpus('a'), gpus('b')] });
      const messageOf = () => {
        const answer = plan(podRequesting('asking', { 'example.com/gpu': '1' }), index, {
          nowMs: 0,
          rules: fit,
        });
        return answer.kind === 'placement' ? 'fits' : answer.message;
      };
      index.remove('DeviceClass', 'a');
      expect(messageOf()).toContain(served);
      index.upsert('DeviceClass', { ...gpus('b', {}), metadata: { name: 'b', resourceVersion: '2' } });
      expect(messageOf()).toContain('Insufficient example.com/gpu');
    });

    test('is left out where another node advertises it', () => {
      const index = clusterOf({
        Node: [without, sizedNode('m', { 'example.com/gpu': '2' })],
        DeviceClass: [gpus('c')],
      });
      const answer = plan(podRequesting('asking', { 'example.com/gpu': '2' }), index, {
        nowMs: 0,
        rules: fit,
      });
      expect(answer).toMatchObject({ kind: 'placement', node: 'm' });
    });
  });

  test.each<[string, ResourceList]>([
    ['exactly what is left fits', { cpu: '500m', 'example.com/gpu': '1' }],
    ['a request of zero fits', { cpu: '0', memory: '0', 'hugepages-2Mi': '0' }],
    ['resources that no scheduler counts are ignored', { unprefixed: '7' }],
  ])('%s', (_name, requests) => {
    const index = clusterOf({ Node: [node], Pod: [full] });
    expect(plan(podRequesting('asking', requests), index, { nowMs: 0, rules: fit }).kind).toBe('placement');
  });

  test('is counted for each resource that it is short of', () => {
    const nodes = [
      sizedNode('a', { cpu: '1' }),
      sizedNode('b', { cpu: '1', memory: '1Gi' }),
      sizedNode('c', {}),
    ];
    expect(refusalOf(nodes, [], { cpu: '2', memory: '1Gi' }).message).toBe(
      '0/3 nodes are available: 2 Insufficient memory, 3 Insufficient cpu.',
    );
  });
});

test('evicting pods would help if the node is large enough, and not otherwise', () => {
  const nodes = ['full', 'small', 'none'].map((name) =>
    sizedNode(name, { cpu: name === 'full' ? '2' : '1' }),
  );
  const most = sizedNode('many-pods', { cpu: '4', pods: '1' });
  const pods = [assignedPod('p1', 'full', { cpu: '1' }), assignedPod('p2', 'many-pods')];
  const refusal = refusalOf([...nodes, most], pods, { cpu: '2' });
  expect([...refusal.nodesWherePreemptionMayHelp()].sort()).toEqual(['full', 'many-pods']);
});

test('finished pods use nothing, terminating ones still do', () => {
  const finished = assignedPod('done', 'n', { cpu: '2' }, { status: { phase: 'Succeeded' } });
  const terminating = assignedPod(
    'going',
    'n',
    { cpu: '1' },
    {
      metadata: { namespace: 'default', name: 'going', deletionTimestamp: '2026-01-01T00:00:00Z' },
    },
  );
  const node = sizedNode('n', { cpu: '2' });
  expect(refusalOf([node], [finished, terminating], { cpu: '2' }).message).toContain('Insufficient cpu');
  const index = clusterOf({ Node: [node], Pod: [finished] });
  expect(plan(podRequesting('asking', { cpu: '2' }), index, { nowMs: 0, rules: fit }).kind).toBe('placement');
});

test('the explanation has the numbers: cpu in cores, memory in bytes, others in their own unit', () => {
  const refusal = refusalOf(
    [sizedNode('n', { cpu: '2', memory: '1Gi' })],
    [assignedPod('p', 'n', { cpu: '1500m', memory: '2Gi' })],
    { cpu: '1', memory: '1Ki', 'example.com/gpu': '3' },
  );
  const findings = refusal.explain().nodes[0]!.findings;
  expect(findings.map(({ reason, margin }) => ({ reason, margin }))).toEqual([
    { reason: 'InsufficientCpu', margin: { unit: 'resource', resource: 'cpu', needed: 1, free: 0.5 } },
    { reason: 'InsufficientMemory', margin: { unit: 'resource', resource: 'memory', needed: 1024, free: 0 } },
    {
      reason: 'InsufficientResource',
      margin: { unit: 'resource', resource: 'example.com/gpu', needed: 3, free: 0 },
    },
  ]);
});

describe('among nodes that fit', () => {
  const chosen = (
    rules: typeof fit,
    nodes: readonly Node[],
    pods: readonly Pod[],
    requests: ResourceList,
  ) => {
    const answer = plan(podRequesting('asking', requests), clusterOf({ Node: nodes, Pod: pods }), {
      nowMs: 0,
      rules,
    });
    return answer.kind === 'placement' ? { node: answer.node, score: answer.score } : undefined;
  };
  const pair = (a: ResourceList, b: ResourceList) => [sizedNode('a', a), sizedNode('b', b)];

  test('the emptier one is better, in whole percent', () => {
    // a: (4000-3000)*100/4000 = 25, (10000-5000)*100/10000 = 50; b: 50 and 50.
    const nodes = pair({ cpu: '4', memory: '10000' }, { cpu: '6', memory: '10000' });
    expect(chosen(fit, nodes, [], { cpu: '3', memory: '5000' })).toEqual({ node: 'b', score: 50 });
  });

  test('pods without requests still count', () => {
    const nodes = pair({ cpu: '4', memory: '4Gi' }, { cpu: '4', memory: '4Gi' });
    expect(chosen(fit, nodes, [assignedPod('p', 'a')], {})?.node).toBe('b');
  });

  test('the node whose cpu and memory the pod balances scores higher', () => {
    const nodes = pair({ cpu: '4', memory: '4Gi' }, { cpu: '4', memory: '4Gi' });
    const pods = [assignedPod('p', 'b', { memory: '2Gi' })];
    const balanced = [eraseState(balancedAllocationRule)];
    expect(chosen(balanced, nodes, pods, { cpu: '2' })).toEqual({ node: 'b', score: 87 });
    expect(chosen(balanced, nodes.slice(0, 1), [], { cpu: '2' })).toEqual({ node: 'a', score: 62 });
  });

  test('balance does not score a pod without requests', () => {
    const nodes = pair({ cpu: '4', memory: '4Gi' }, { cpu: '4', memory: '4Gi' });
    expect(chosen([eraseState(balancedAllocationRule)], nodes, [], {})).toEqual({ node: 'a', score: 0 });
  });
});
