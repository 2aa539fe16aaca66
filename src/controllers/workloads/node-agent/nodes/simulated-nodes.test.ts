import { expect, test } from 'vitest';
import type { Lease } from '../../../../kube/api/coordination.ts';
import type { Node } from '../../../../kube/api/core.ts';
import {
  allocatablePatch,
  isSimulated,
  leaseFor,
  nodeInfoPatch,
  readyConditions,
} from './simulated-nodes.ts';

const nowMs = Date.parse('2025-01-01T01:00:00Z');
const former = 'stowage.dev/node-agent';

function node(simulated?: string): Node {
  const annotations = simulated === undefined ? {} : { 'stowage.dev/simulated': simulated };
  return { metadata: { name: 'n1', uid: 'u1', annotations } };
}

function ourLease(renewTime?: string): Lease {
  const { metadata, ...rest } = lease('n1', renewTime);
  return { ...rest, metadata: { ...metadata, annotations: { 'stowage.dev/simulated': 'true' } } };
}

function lease(holderIdentity: string | undefined, renewTime = '2025-01-01T00:59:00.000000Z'): Lease {
  return {
    metadata: { name: 'n1', uid: 'l1', resourceVersion: '7' },
    spec: { renewTime, ...(holderIdentity === undefined ? {} : { holderIdentity }) },
  };
}

test.each([
  { what: 'no lease', given: node(), found: undefined, expected: true },
  { what: 'our lease', given: node(), found: ourLease(), expected: true },
  { what: 'our lease of an earlier version', given: node(), found: lease(former), expected: true },
  { what: 'a lease without a holder', given: node(), found: lease(undefined), expected: true },
  { what: 'a kubelet’s lease', given: node(), found: lease('n1'), expected: false },
  {
    what: 'an expired lease of a kubelet',
    given: node(),
    found: lease('n1', '2020-01-01T00:00:00.000000Z'),
    expected: false,
  },
  {
    what: 'a kubelet’s lease, and the annotation true',
    given: node('true'),
    found: lease('n1'),
    expected: true,
  },
  { what: 'our lease, and the annotation false', given: node('false'), found: ourLease(), expected: false },
])('a node with $what', ({ given, found, expected }) => {
  expect(isSimulated(given, found)).toBe(expected);
});

test('a lease is created for its node, and renewed on the version that was read', () => {
  expect(leaseFor(node(), undefined, nowMs)).toEqual({
    metadata: {
      namespace: 'kube-node-lease',
      name: 'n1',
      annotations: { 'stowage.dev/simulated': 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' }],
    },
    spec: { holderIdentity: 'n1', leaseDurationSeconds: 600, renewTime: '2025-01-01T01:00:00.000000Z' },
  });
  expect(leaseFor(node(), ourLease(), nowMs)).toBeUndefined();
  expect(leaseFor(node(), ourLease('2025-01-01T00:56:00.000000Z'), nowMs)?.metadata).toMatchObject({
    uid: 'l1',
    resourceVersion: '7',
  });
});

test('a Ready node is not changed; another keeps its other conditions', () => {
  const pressure = { type: 'MemoryPressure', status: 'False' } as const;
  const not = {
    ...node(),
    status: { conditions: [pressure, { type: 'Ready', status: 'Unknown' }] },
  } as const;
  expect(readyConditions(not, nowMs)).toMatchObject([pressure, { type: 'Ready', status: 'True' }]);
  const is = { ...node(), status: { conditions: [{ type: 'Ready', status: 'True' }] } } as const;
  expect(readyConditions(is, nowMs)).toBeUndefined();
});

test('the lease of an earlier version gets the name of the node as its holder', () => {
  expect(leaseFor(node(), lease(former), nowMs)?.spec?.holderIdentity).toBe('n1');
});

test.each([
  {
    capacity: { cpu: '4', 'example.com/gpu': '2' },
    allocatable: { cpu: '3' },
    patch: { 'example.com/gpu': '2' },
  },
  {
    capacity: { 'example.com/gpu': '5' },
    allocatable: { 'example.com/gpu': '2' },
    patch: { 'example.com/gpu': '5' },
  },
  {
    capacity: { cpu: '4' },
    allocatable: { cpu: '4', 'example.com/gpu': '2' },
    patch: { 'example.com/gpu': null },
  },
  { capacity: { 'example.com/gpu': '2' }, allocatable: { 'example.com/gpu': '2' }, patch: undefined },
  { capacity: { cpu: '4', 'disk.kubernetes.io/x': '1' }, allocatable: { cpu: '3' }, patch: undefined },
  { capacity: undefined, allocatable: { 'example.com/gpu': '2' }, patch: undefined },
])(
  'with capacity $capacity, allocatable $allocatable is changed by $patch',
  ({ capacity, allocatable, patch }) => {
    const status = { allocatable, ...(capacity === undefined ? {} : { capacity }) };
    expect(allocatablePatch({ ...node(), status })).toEqual(
      patch === undefined ? undefined : { allocatable: patch },
    );
  },
);

test('a node without the version of its kubelet gets one', () => {
  const patch = nodeInfoPatch({ ...node(), status: { nodeInfo: { architecture: 'arm64' } } });
  expect(patch).toEqual({
    nodeInfo: { architecture: 'arm64', kubeletVersion: expect.stringMatching(/^v1\.\d+\.\d+/) },
  });
  expect(nodeInfoPatch({ ...node(), status: { nodeInfo: { kubeletVersion: 'v1.30.0' } } })).toBeUndefined();
});
