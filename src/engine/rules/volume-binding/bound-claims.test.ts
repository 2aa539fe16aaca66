import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { boundVolume, dataClaimOf, placedOn } from '../../testing/bound-claim.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import {
  boundClaim,
  byName,
  claim,
  csiNode,
  ephemeralVolume,
  hostname,
  labelIn,
  localVolume,
  node,
  ownedBy,
  pod,
  storageClass,
  volume,
  zone,
} from '../../testing/objects.ts';
import { expectOutcomes, expectProfileCases } from '../../testing/profile-cases.ts';

const unreachable = "node(s) didn't match PersistentVolume's node affinity";
const gone = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const noMatch = "node(s) didn't find available persistent volumes to bind";

function refused(...items: readonly string[]): PlanOutcome {
  return { message: `0/1 nodes are available: ${items.map((item) => `1 ${item}`).join(', ')}.` };
}

/** The plugin VolumeZone of kube-scheduler refuses a missing volume before the plugin for binding evaluates any node. */
function notFound(volumeName: string): PlanOutcome {
  return { message: `0/1 nodes are available: persistentvolume "${volumeName}" not found.` };
}

expectProfileCases([
  {
    name: 'a pod without volumes fits any node',
    cluster: { Node: [node('n1')] },
    claims: [],
    stowage: placedOn('n1'),
  },
  {
    name: 'a bound volume without node affinity is reached from everywhere',
    cluster: {
      Node: [node('n1')],
      PersistentVolume: [boundVolume('v1')],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    },
    stowage: placedOn('n1'),
  },
  {
    name: 'a pod follows its local disk',
    cluster: {
      Node: [node('n1'), node('n2')],
      PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n2'))],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    },
    stowage: placedOn('n2'),
  },
  {
    name: 'a pod does not fit if the node of its disk does not exist',
    cluster: {
      Node: [node('n1')],
      PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n2'))],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    },
    stowage: refused(unreachable),
  },
  {
    name: 'the hostname label counts, not the node name',
    cluster: {
      Node: [node('n1', { [hostname]: 'host-a' })],
      PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n1'))],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    },
    stowage: refused(unreachable),
  },
  {
    name: 'a claim whose volume is gone refuses the pod on every node',
    cluster: { Node: [node('n1')], PersistentVolumeClaim: [dataClaimOf('v1')] },
    stowage: refused(gone),
    upstream: notFound('v1'),
  },
  {
    name: 'claims are checked in the order of the pod: an unreachable one before a missing one',
    cluster: {
      Node: [node('n1')],
      PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n2'))],
      PersistentVolumeClaim: [dataClaimOf('v1'), boundClaim('more', '1Gi', 'lost')],
    },
    claims: ['data', 'more'],
    stowage: refused(unreachable),
    upstream: notFound('lost'),
  },
  {
    name: 'claims are checked in the order of the pod: a missing one before an unreachable one',
    cluster: {
      Node: [node('n1')],
      PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n2'))],
      PersistentVolumeClaim: [dataClaimOf('v1'), boundClaim('more', '1Gi', 'lost')],
    },
    claims: ['more', 'data'],
    stowage: refused(gone),
    upstream: notFound('lost'),
  },
  {
    name: 'two bound volumes must be reachable from the same node',
    cluster: {
      Node: [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'a' })],
      PersistentVolume: [boundVolume('v1', labelIn(zone, 'a')), boundVolume('v2', labelIn(hostname, 'n2'))],
      PersistentVolumeClaim: [dataClaimOf('v1'), boundClaim('more', '1Gi', 'v2')],
    },
    claims: ['data', 'more'],
    stowage: placedOn('n2'),
  },
  {
    name: 'only the unbound claim of two gets a volume',
    cluster: {
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [boundVolume('v1'), localVolume('v2', '5Gi', 'n1')],
      PersistentVolumeClaim: [dataClaimOf('v1'), claim('more', '1Gi')],
    },
    claims: ['data', 'more'],
    stowage: { node: 'n1', volumes: { more: 'v2' }, pools: {} },
  },
  {
    name: 'a bound claim does not help an unbound one without a match',
    cluster: {
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [boundVolume('v1')],
      PersistentVolumeClaim: [dataClaimOf('v1'), claim('more', '1Gi')],
    },
    claims: ['data', 'more'],
    stowage: refused(noMatch),
  },
  {
    name: 'kube-scheduler reports both the bound and the unbound claim; stowage only the bound one',
    cluster: {
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n2'))],
      PersistentVolumeClaim: [dataClaimOf('v1'), claim('more', '1Gi')],
    },
    claims: ['data', 'more'],
    stowage: refused(unreachable),
    upstream: refused(noMatch, unreachable),
  },
  {
    name: 'the phase of a claim does not matter: volume name and bind-completed make it bound',
    cluster: {
      Node: [node('n1')],
      PersistentVolume: [boundVolume('v1')],
      PersistentVolumeClaim: [
        claim('data', '1Gi', { spec: { volumeName: 'v1' }, metadata: bindCompleted('data', '') }),
      ],
    },
    stowage: placedOn('n1'),
  },
  {
    name: 'bind-completed without a volume name is not bound',
    cluster: {
      Node: [node('n1')],
      PersistentVolumeClaim: [
        claim('data', '1Gi', { className: '', metadata: bindCompleted('data', 'yes') }),
      ],
    },
    stowage: { message: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.' },
  },
  {
    name: 'a claim of an immediate class is fine once it is bound',
    cluster: {
      Node: [node('n1')],
      StorageClass: [storageClass('local', { volumeBindingMode: 'Immediate' })],
      PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n1'))],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    },
    stowage: placedOn('n1'),
  },
]);

test('the claim of an ephemeral volume binds the pod like any other', () => {
  const index = clusterOf({
    Node: [node('n1'), node('n2')],
    PersistentVolume: [boundVolume('v1', labelIn(hostname, 'n2'))],
    PersistentVolumeClaim: [
      boundClaim('p-scratch', '1Gi', 'v1', {
        metadata: { ...ownedBy('p', 'p-scratch'), annotations: { [annotations.bindCompleted]: 'yes' } },
      }),
    ],
  });
  expect(planOutcome(index, pod('p', [], { volumes: [ephemeralVolume('scratch')] }))).toEqual(placedOn('n2'));
});

describe('an in-tree disk that a CSI driver serves', () => {
  const gceZone = 'topology.gke.io/zone';
  const disk = (value: string): PersistentVolume =>
    volume('v1', '1Gi', {
      phase: 'Bound',
      metadata: { name: 'v1', uid: 'uid-v1', resourceVersion: '1', labels: { [labels.zone]: value } },
      spec: { gcePersistentDisk: { pdName: 'disk-1' } },
    });
  const migrated = csiNode(
    'n1',
    {},
    { annotations: { [annotations.migratedPlugins]: 'kubernetes.io/gce-pd' } },
  );

  interface MigrationCase {
    readonly name: string;
    readonly csiNodes: ClusterObjects['CSINode'];
    readonly diskZone: string;
    readonly stowage: PlanOutcome;
  }

  const cases: readonly MigrationCase[] = [
    {
      name: 'is found by the topology key of the driver',
      csiNodes: [migrated],
      diskZone: 'a',
      stowage: placedOn('n1'),
    },
    {
      name: 'is not found by the topology key of the driver if it is elsewhere',
      csiNodes: [migrated],
      diskZone: 'b',
      stowage: refused(unreachable),
    },
    {
      name: 'keeps its own affinity if the node serves no migrated plugins',
      csiNodes: [csiNode('n1', {})],
      diskZone: 'b',
      stowage: placedOn('n1'),
    },
    {
      name: 'keeps its own affinity if the node has no CSINode',
      csiNodes: [],
      diskZone: 'b',
      stowage: placedOn('n1'),
    },
    {
      name: 'keeps its own affinity if the node serves another plugin',
      csiNodes: [
        csiNode('n1', {}, { annotations: { [annotations.migratedPlugins]: 'kubernetes.io/cinder' } }),
      ],
      diskZone: 'b',
      stowage: placedOn('n1'),
    },
  ];

  // The node has only the driver's key, so that the rule about zone labels does not apply.
  test.each(byName(cases))('%s', (_, { csiNodes = [], diskZone, stowage }) => {
    const objects: ClusterObjects = {
      Node: [node('n1', { [gceZone]: 'a' })],
      CSINode: csiNodes,
      PersistentVolume: [disk(diskZone)],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    };
    expectOutcomes(objects, pod('p', ['data']), stowage);
  });
});

function bindCompleted(name: string, value: string): PersistentVolumeClaim['metadata'] {
  return {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    annotations: { [annotations.bindCompleted]: value },
  };
}
