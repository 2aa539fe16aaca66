import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim, TopologySelectorTerm } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import { upstreamProfile } from '../../cluster-index/profile.ts';
import { sizeOfBytes } from '../../size.ts';
import { clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import {
  boundClaim,
  byName,
  claim,
  csiClass,
  csiDriver,
  gib,
  labelIn,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
  volume,
  zone,
} from '../../testing/objects.ts';
import { expectProfileCases } from '../../testing/profile-cases.ts';
import { plan } from '../../testing/whole-engine.ts';

const noMatch = "node(s) didn't find available persistent volumes to bind";

const dynamic = csiClass('disk.csi', 'local');

function makes(name: string, nodeName = 'n1'): PlanOutcome {
  return { node: nodeName, volumes: {}, pools: { [name]: 'new' } };
}

function refused(nodeCount: number): PlanOutcome {
  return { message: `0/${nodeCount} nodes are available: ${nodeCount} ${noMatch}.` };
}

describe('a new volume', () => {
  expectProfileCases([
    {
      name: 'is provisioned if none exists and the class has a provisioner',
      cluster: { Node: [node('n1')], StorageClass: [dynamic], PersistentVolumeClaim: [claim('data', '5Gi')] },
      stowage: makes('data'),
    },
    {
      name: 'is provisioned in the zones of the class parameters, which kube-scheduler ignores',
      cluster: {
        Node: [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'b' })],
        StorageClass: [
          csiClass('zonal.stowage.dev', 'local', { parameters: { zones: 'b, c' } }),
          csiClass('kubernetes.io/gce-pd', 'disk', { parameters: { zone: 'b' } }),
        ],
        PersistentVolumeClaim: [claim('data', '5Gi')],
      },
      stowage: makes('data', 'n2'),
      upstream: makes('data', 'n1'),
    },
    {
      name: 'is provisioned in any zone if the parameter belongs to a driver of another kind',
      cluster: {
        Node: [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'b' })],
        StorageClass: [csiClass('disk.csi', 'local', { parameters: { zone: 'b' } })],
        PersistentVolumeClaim: [claim('data', '5Gi')],
      },
      stowage: makes('data', 'n1'),
    },
    {
      name: 'is provisioned if the existing ones are too small',
      cluster: {
        Node: [node('n1')],
        StorageClass: [dynamic],
        PersistentVolume: [localVolume('v1', '1Gi', 'n1')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
      },
      stowage: makes('data'),
    },
    {
      name: 'is not provisioned if an existing one fits',
      cluster: {
        Node: [node('n1')],
        StorageClass: [dynamic],
        PersistentVolume: [localVolume('v1', '5Gi', 'n1')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
      },
      stowage: { node: 'n1', volumes: { data: 'v1' }, pools: {} },
    },
    {
      name: 'is provisioned in addition to a bound claim',
      cluster: {
        Node: [node('n1')],
        StorageClass: [dynamic],
        PersistentVolume: [volume('v1', '1Gi', { phase: 'Bound' })],
        PersistentVolumeClaim: [boundClaim('old', '1Gi', 'v1'), claim('data', '5Gi')],
      },
      claims: ['old', 'data'],
      stowage: makes('data'),
    },
    {
      name: 'is provisioned in addition to a bound claim of an immediate class',
      cluster: {
        Node: [node('n1')],
        StorageClass: [dynamic, csiClass('disk.csi', 'now', { volumeBindingMode: 'Immediate' })],
        PersistentVolume: [volume('v1', '1Gi', { phase: 'Bound', className: 'now' })],
        PersistentVolumeClaim: [boundClaim('old', '1Gi', 'v1', { className: 'now' }), claim('data', '5Gi')],
      },
      claims: ['old', 'data'],
      stowage: makes('data'),
    },
    {
      name: 'is provisioned for the claim that no existing one is left for',
      cluster: {
        Node: [node('n1')],
        StorageClass: [dynamic],
        PersistentVolume: [localVolume('v1', '1Gi', 'n1')],
        PersistentVolumeClaim: [claim('data', '5Gi'), claim('small', '1Gi')],
      },
      claims: ['data', 'small'],
      stowage: { node: 'n1', volumes: { small: 'v1' }, pools: { data: 'new' } },
    },
    {
      name: 'is never provisioned by a class with kubernetes.io/no-provisioner',
      cluster: {
        Node: [node('n1')],
        StorageClass: [storageClass('local')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
      },
      stowage: refused(1),
    },
    {
      name: 'is never provisioned by a class with an empty provisioner',
      cluster: {
        Node: [node('n1')],
        StorageClass: [csiClass('', 'local')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
      },
      stowage: refused(1),
    },
  ]);
});

describe('allowedTopologies', () => {
  const nodes = [
    node('n1', { [zone]: 'a', rack: 'r1' }),
    node('n2', { [zone]: 'b', rack: 'r1' }),
    node('n3', { [zone]: 'b', rack: 'r2' }),
    node('n4'),
  ];
  const term = (labels: Record<string, readonly string[]>): TopologySelectorTerm => ({
    matchLabelExpressions: Object.entries(labels).map(([key, values]) => ({ key, values })),
  });

  interface TopologyCase {
    readonly name: string;
    readonly allowed: readonly TopologySelectorTerm[] | undefined;
    readonly nodes: readonly string[];
  }

  const cases: readonly TopologyCase[] = [
    { name: 'absent allow every node', allowed: undefined, nodes: ['n1', 'n2', 'n3', 'n4'] },
    { name: 'empty allow every node', allowed: [], nodes: ['n1', 'n2', 'n3', 'n4'] },
    { name: 'with an empty term allow no node', allowed: [{}], nodes: [] },
    {
      name: 'with a term of no expressions allow no node',
      allowed: [{ matchLabelExpressions: [] }],
      nodes: [],
    },
    { name: 'allow nodes with the value', allowed: [term({ [zone]: ['a'] })], nodes: ['n1'] },
    {
      name: 'allow nodes with one of several values',
      allowed: [term({ [zone]: ['a', 'b'] })],
      nodes: ['n1', 'n2', 'n3'],
    },
    { name: 'allow no node with a value that no node has', allowed: [term({ [zone]: ['c'] })], nodes: [] },
    {
      name: 'allow nodes that match any of several terms',
      allowed: [term({ [zone]: ['a'] }), term({ rack: ['r2'] })],
      nodes: ['n1', 'n3'],
    },
    {
      name: 'allow nodes that match all expressions of a term',
      allowed: [term({ [zone]: ['b'], rack: ['r1'] })],
      nodes: ['n2'],
    },
    {
      name: 'with a malformed term keep the meaning of the others',
      allowed: [term({ 'not a key!': ['x'] }), term({ [zone]: ['a'] })],
      nodes: ['n1'],
    },
  ];

  test.each(byName(cases))('%s', (_, { allowed, nodes: expected }) => {
    for (const profile of [undefined, upstreamProfile]) {
      const found = nodes.filter((candidate) => {
        const index = clusterOf(
          {
            Node: [candidate],
            StorageClass: [csiClass('disk.csi', 'local', allowed && { allowedTopologies: allowed })],
            PersistentVolumeClaim: [claim('data', '5Gi')],
          },
          profile,
        );
        return plan(pod('p', ['data']), index, { nowMs: 0 }).kind === 'placement';
      });
      expect(found.map(({ metadata }) => metadata!.name)).toEqual(expected);
    }
  });

  expectProfileCases([
    {
      name: 'do not apply to existing volumes',
      cluster: {
        Node: nodes,
        StorageClass: [csiClass('disk.csi', 'local', { allowedTopologies: [term({ [zone]: ['a'] })] })],
        PersistentVolume: [localVolume('v1', '5Gi', 'n4')],
        PersistentVolumeClaim: [claim('data', '5Gi'), claim('more', '5Gi')],
      },
      claims: ['data'],
      stowage: { node: 'n4', volumes: { data: 'v1' }, pools: {} },
      upstream: makes('data'),
    },
    {
      name: 'of two classes must both allow the node',
      cluster: {
        Node: nodes,
        StorageClass: [
          csiClass('disk.csi', 'local', { allowedTopologies: [term({ [zone]: ['b'] })] }),
          csiClass('disk.csi', 'racked', { allowedTopologies: [term({ rack: ['r2'] })] }),
        ],
        PersistentVolumeClaim: [claim('data', '5Gi'), claim('more', '5Gi', { className: 'racked' })],
      },
      claims: ['data', 'more'],
      stowage: { node: 'n3', volumes: {}, pools: { data: 'new', more: 'new' } },
    },
  ]);

  test('that change take effect at once', () => {
    const index = clusterOf({
      Node: nodes,
      StorageClass: [csiClass('disk.csi', 'local', { allowedTopologies: [term({ [zone]: ['c'] })] })],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(refused(4));
    const widened = csiClass('disk.csi', 'local', { allowedTopologies: [term({ rack: ['r2'] })] });
    index.upsert('StorageClass', { ...widened, metadata: { name: 'local', resourceVersion: '2' } });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(makes('data', 'n3'));
  });
});

describe('a claim with a selected node', () => {
  const pinned = claim('data', '5Gi', { selectedNode: 'n2' });
  const two = [node('n1'), node('n2')];

  expectProfileCases([
    {
      name: 'stays on that node',
      cluster: { Node: two, StorageClass: [dynamic], PersistentVolumeClaim: [pinned] },
      stowage: makes('data', 'n2'),
    },
    {
      name: 'refuses the pod on every other node',
      cluster: { Node: [node('n1')], StorageClass: [dynamic], PersistentVolumeClaim: [pinned] },
      stowage: refused(1),
    },
    {
      name: 'no longer gets an existing volume',
      cluster: {
        Node: two,
        StorageClass: [dynamic],
        PersistentVolume: [localVolume('v1', '5Gi', 'n2')],
        PersistentVolumeClaim: [pinned],
      },
      stowage: makes('data', 'n2'),
    },
    {
      name: 'keeps the other claims of the pod on that node, which may still get existing volumes',
      cluster: {
        Node: two,
        StorageClass: [dynamic],
        PersistentVolume: [localVolume('v1', '1Gi', 'n1'), localVolume('v2', '1Gi', 'n2')],
        PersistentVolumeClaim: [pinned, claim('small', '1Gi')],
      },
      claims: ['small', 'data'],
      stowage: { node: 'n2', volumes: { small: 'v2' }, pools: { data: 'new' } },
    },
    {
      name: 'and another claim of the pod that is pinned elsewhere have no common node',
      cluster: {
        Node: two,
        StorageClass: [dynamic],
        PersistentVolumeClaim: [pinned, claim('other', '1Gi', { selectedNode: 'n1' })],
      },
      claims: ['data', 'other'],
      stowage: refused(2),
    },
    {
      name: 'is refused there, too, if its class has no provisioner',
      cluster: {
        Node: [node('n2')],
        StorageClass: [storageClass('local')],
        PersistentVolume: [localVolume('v1', '5Gi', 'n2')],
        PersistentVolumeClaim: [pinned],
      },
      stowage: refused(1),
    },
    {
      name: 'is checked for capacity again by kube-scheduler only: its own volume may have filled the pool',
      cluster: {
        Node: two,
        StorageClass: [dynamic],
        CSIDriver: [csiDriver('disk.csi')],
        CSIStorageCapacity: [storageCapacity('full', 'local', { capacity: '1Gi' })],
        PersistentVolumeClaim: [pinned],
      },
      stowage: makes('data', 'n2'),
      upstream: {
        message:
          "0/2 nodes are available: 1 node(s) did not have enough free storage, 1 node(s) didn't find available persistent volumes to bind.",
      },
    },
  ]);
});

test('the decision has claim, its version, class, driver and size', () => {
  const index = clusterOf({
    Node: [node('n1')],
    StorageClass: [dynamic],
    PersistentVolumeClaim: [claim('data', '5Gi', { version: '7' })],
  });
  expect(plan(pod('p', ['data']), index, { nowMs: 0 })).toMatchObject({
    kind: 'placement',
    bindings: [],
    provisions: [
      {
        claim: 'default/data',
        claimUid: 'uid-data',
        claimVersion: '7',
        className: 'local',
        driver: 'disk.csi',
        requested: sizeOfBytes(gib(5)),
        pool: undefined,
      },
    ],
  });
});

test('the class of a claim may be in the beta annotation only', () => {
  const betaClass: PersistentVolumeClaim = {
    metadata: {
      namespace: 'default',
      name: 'data',
      annotations: { [annotations.betaStorageClass]: 'local' },
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } },
  };
  const index = clusterOf({
    Node: [node('n1')],
    StorageClass: [dynamic],
    PersistentVolumeClaim: [betaClass],
    PersistentVolume: [volume('v1', '5Gi', { terms: [labelIn(zone, 'elsewhere')] })],
  });
  expect(planOutcome(index, pod('p', ['data']))).toEqual(makes('data'));
});
