import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../kube/api/core.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { claim, csiClass, csiDriver, node, pod, storageCapacity } from '../testing/objects.ts';
import { findRemedies } from './find-remedies.ts';
import { tryOnPods } from './remedy-for-pods.ts';
import { stepText } from './step-text.ts';
import { objectSourceOf } from './testing/remedy-laws.ts';

const nowMs = 0;

/** The first remedy with this action for the first pod, tried on all. */
function tried(objects: ClusterObjects, pods: readonly Pod[], action: string, alike: readonly string[] = []) {
  const index = clusterOf(objects, stowageProfile);
  const refusal = plan(pods[0]!, index, { nowMs });
  if (refusal.kind === 'placement') throw new Error('the pod fits');
  const options = { nowMs, objects: objectSourceOf(objects), remediesMax: 20 };
  const { remedies } = findRemedies(pods[0]!, index, refusal.explain().nodes, options);
  const found = remedies.find(({ steps }) => steps[0]?.action === action)!;
  const { remedy, helped } = tryOnPods(found, { pods, alike: new Set(alike) }, index, options);
  expect(plan(pods[0]!, index, { nowMs }).kind).toBe('refusal');
  return { text: stepText(remedy.steps[0]!, remedy.node), helped };
}

function nodeOf(name: string, cpu: string): Node {
  const plain = node(name);
  return { ...plain, status: { allocatable: { ...plain.status?.allocatable, cpu } } };
}

function podOf(name: string, cpu: string): Pod {
  const plain = pod(name, []);
  return {
    ...plain,
    spec: { ...plain.spec, containers: [{ name: 'main', resources: { requests: { cpu } } }] },
  };
}

describe('a remedy for several pods', () => {
  test('counts pods that fit at the same time', () => {
    const full = { ...podOf('full', '4'), spec: { ...podOf('full', '4').spec, nodeName: 'n1' } };
    const pods = ['a', 'b', 'c'].map((name) => podOf(name, '2'));
    const objects = { Node: [nodeOf('n1', '4')], Pod: [full, ...pods] };
    expect(tried(objects, pods, 'GrowNode').helped).toEqual(['default/a']);
  });

  test('adds as many nodes as they need, and no more', () => {
    const full = { ...podOf('full', '4'), spec: { ...podOf('full', '4').spec, nodeName: 'n1' } };
    const pods = ['a', 'b', 'c', 'd', 'e'].map((name) => podOf(name, '2'));
    const objects = { Node: [nodeOf('n1', '4')], Pod: [full, ...pods] };
    const { text, helped } = tried(objects, pods, 'CreateNode');
    expect(text).toMatch(/^add 3 nodes like n1 \(cpu 4, memory \S+ each\)$/);
    expect(helped).toHaveLength(5);
  });

  test('grows a pool by the least that helps all of them', () => {
    const objects = {
      Node: [node('n1')],
      CSIDriver: [csiDriver('d')],
      StorageClass: [csiClass('d', 'dyn')],
      CSIStorageCapacity: [storageCapacity('c', 'dyn', { capacity: '4Gi' })],
      PersistentVolumeClaim: ['a', 'b', 'c'].map((name) => claim(name, '10Gi', { className: 'dyn' })),
    };
    const pods = ['a', 'b', 'c'].map((name) => pod(name, [name]));
    expect(tried(objects, pods, 'GrowPool')).toEqual({
      text: expect.stringMatching(/ by 26Gi, to 30Gi$/),
      helped: ['default/a', 'default/b', 'default/c'],
    });
  });

  test('that changes a pod changes the pods with the same template, and no others', () => {
    const pods = ['a', 'b'].map((name) => podOf(name, '6'));
    const objects = { Node: [nodeOf('n1', '4'), nodeOf('n2', '4')] };
    expect(tried(objects, pods, 'ReduceRequests', ['default/a', 'default/b']).helped).toHaveLength(2);
    expect(tried(objects, pods, 'ReduceRequests', ['default/a']).helped).toEqual(['default/a']);
  });
});
