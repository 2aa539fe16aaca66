import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../kube/api/core.ts';
import type { StorageClass } from '../kube/api/storage.ts';
import { labels } from '../kube/well-known.ts';
import { ClusterIndex } from './cluster-index/cluster-index.ts';
import { upstreamProfile } from './cluster-index/profile.ts';
import { plan } from './plan.ts';
import { clusterOf, planOutcome } from './testing/cluster.ts';
import {
  atVersion,
  boundClaim,
  byName,
  claim,
  csiNode,
  localVolume,
  node,
  pod,
  storageClass,
} from './testing/objects.ts';

/**
 * The examples of the volume topology proposal, in its own spelling: `metadata.Name`, `bindingMode`, beta zone labels, and fields that no
 * current server has.
 */
const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const betaRegion = 'failure-domain.beta.kubernetes.io/region';
const rack = 'foo.io/rack';

const nodes = [
  node('node-1', { [betaZone]: 'us-central1-a', [betaRegion]: 'us-central1', [rack]: 'rack1' }),
  node('node-2', { [betaZone]: 'us-central1-a', [betaRegion]: 'us-central1', [rack]: 'rack2' }),
  node('node-3', { [betaZone]: 'us-central1-b', [betaRegion]: 'us-central1', [rack]: 'rack1' }),
  node('node-4', { [betaZone]: 'us-central1-c', [betaRegion]: 'us-central1', [rack]: 'rack1' }),
];

function example(name: string, spec: unknown, volumeLabels?: Record<string, string>): PersistentVolume {
  const base = { capacity: { storage: '100Gi' }, storageClassName: 'my-class' };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { Name: name, ...(volumeLabels && { labels: volumeLabels }) },
    spec: { ...base, ...(spec as object) },
    status: { phase: 'Available' },
  } as PersistentVolume;
}

function affinity(...matchExpressions: readonly { key: string; values: readonly string[] }[]) {
  const expressions = matchExpressions.map((expression) => ({ ...expression, operator: 'In' }));
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: expressions }] } } };
}

const gce = { gcePersistentDisk: { diskName: 'my-disk', fsType: 'ext4' } };

/** The nodes on which a pod bound to the volume may run. */
function nodesOf(volume: PersistentVolume): string[] {
  return nodes
    .filter((candidate) => {
      const index = clusterOf({ Node: [candidate], PersistentVolume: [volume] });
      index.upsert('PersistentVolumeClaim', boundClaim('data', '100Gi', nameOf(volume)));
      return plan(pod('p', ['data']), index, { nowMs: 0 }).kind === 'placement';
    })
    .map(({ metadata }) => metadata!.name!);
}

function nameOf({ metadata }: PersistentVolume): string {
  return metadata!.name ?? (metadata as unknown as { Name: string }).Name;
}

interface VolumeExample {
  readonly name: string;
  readonly volume: PersistentVolume;
  readonly nodes: readonly string[];
}

const volumeExamples: readonly VolumeExample[] = [
  {
    name: 'a local volume is reached from its node',
    volume: example('local-volume-1', {
      local: { path: '/mnt/disks/ssd1' },
      ...affinity({ key: 'kubernetes.io/hostname', values: ['node-1'] }),
    }),
    nodes: ['node-1'],
  },
  {
    name: 'a zonal volume is reached from its zone',
    volume: example('zonal-volume-1', { ...gce, ...affinity({ key: betaZone, values: ['us-central1-a'] }) }),
    nodes: ['node-1', 'node-2'],
  },
  {
    name: 'a multi-zonal volume is reached from any of its zones',
    volume: example('multi-zonal-volume-1', {
      ...gce,
      ...affinity({ key: betaZone, values: ['us-central1-a', 'us-central1-b'] }),
    }),
    nodes: ['node-1', 'node-2', 'node-3'],
  },
  {
    name: 'a volume with two labels is reached from nodes with both',
    volume: example('rack-volume-1', {
      csi: { driver: 'my-rack-storage-driver', volumeHandle: 'my-vol', volumeAttributes: { foo: 'bar' } },
      ...affinity({ key: betaZone, values: ['us-central1-a'] }, { key: rack, values: ['rack1'] }),
    }),
    nodes: ['node-1'],
  },
  {
    name: 'a zonal volume from before node affinity is reached by its labels',
    volume: example('zonal-volume-1', gce, { [betaZone]: 'us-central1-a', [betaRegion]: 'us-central1' }),
    nodes: ['node-1', 'node-2'],
  },
  {
    name: 'the same after its upgrade, with labels kept and affinity added',
    volume: example(
      'zonal-volume-1',
      {
        ...gce,
        ...affinity(
          { key: betaZone, values: ['us-central1-a'] },
          { key: betaRegion, values: ['us-central1'] },
        ),
      },
      { [betaZone]: 'us-central1-a', [betaRegion]: 'us-central1' },
    ),
    nodes: ['node-1', 'node-2'],
  },
  {
    name: 'a multi-zonal volume from before node affinity is reached by its labels',
    volume: example('multi-zonal-volume-1', gce, {
      [betaZone]: 'us-central1-a__us-central1-b',
      [betaRegion]: 'us-central1',
    }),
    nodes: ['node-1', 'node-2', 'node-3'],
  },
  {
    name: 'the same after its upgrade',
    volume: example(
      'multi-zonal-volume-1',
      {
        ...gce,
        ...affinity(
          { key: betaZone, values: ['us-central1-a', 'us-central1-b'] },
          { key: betaRegion, values: ['us-central1'] },
        ),
      },
      { [betaZone]: 'us-central1-a__us-central1-b', [betaRegion]: 'us-central1' },
    ),
    nodes: ['node-1', 'node-2', 'node-3'],
  },
];

describe('volumes', () => {
  test.each(byName(volumeExamples))('%s', (_, { volume, nodes: expected }) => {
    expect(nodesOf(volume)).toEqual(expected);
  });
});

describe('allowed topologies', () => {
  const gcePd = { provisioner: 'kubernetes.io/gce-pd', volumeBindingMode: 'WaitForFirstConsumer' } as const;
  const zones = (...values: string[]) => [{ matchLabelExpressions: [{ key: betaZone, values }] }];
  const plain = (zoneName: string, rackName: string) =>
    node(`${zoneName}-${rackName}`, { zone: zoneName, rack: rackName });
  const racks = [
    plain('us-central1-a', 'rack1'),
    plain('us-central1-a', 'rack2'),
    plain('us-central1-b', 'rack1'),
    plain('us-central1-b', 'rack2'),
    plain('us-central1-b', 'rack3'),
  ];

  function allowedBy(own: StorageClass, candidates = nodes): string[] {
    return candidates
      .filter((candidate) => {
        const index = clusterOf({ Node: [candidate], StorageClass: [own] });
        index.upsert('PersistentVolumeClaim', claim('data', '100Gi', { className: own.metadata!.name! }));
        return plan(pod('p', ['data']), index, { nowMs: 0 }).kind === 'placement';
      })
      .map(({ metadata }) => metadata!.name!);
  }

  test('zonal-class provisions volumes in two zones', () => {
    const own = storageClass('zonal-class', {
      ...gcePd,
      parameters: { type: 'pd-standard' },
      allowedTopologies: zones('us-central1-a', 'us-central1-b'),
    });
    expect(allowedBy(own)).toEqual(['node-1', 'node-2', 'node-3']);
  });

  test('multi-zonal-class provisions volumes in three', () => {
    const own = storageClass('multi-zonal-class', {
      ...gcePd,
      parameters: { type: 'pd-standard', 'replication-type': 'regional-pd' },
      allowedTopologies: zones('us-central1-a', 'us-central1-b', 'us-central1-c'),
    });
    expect(allowedBy(own)).toEqual(['node-1', 'node-2', 'node-3', 'node-4']);
  });

  test('too few zones for its parameters concern the provisioner, not the scheduler', () => {
    const own = storageClass('multi-zonal-class', {
      ...gcePd,
      parameters: { type: 'pd-standard', 'replication-type': 'regional-pd' },
      allowedTopologies: zones('us-central1-a'),
    });
    expect(allowedBy(own)).toEqual(['node-1', 'node-2']);
  });

  test('something-fancy combines zones and racks', () => {
    const own = storageClass('something-fancy', {
      provisioner: 'rack-based-provisioner',
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'zone', values: ['us-central1-a'] },
            { key: 'rack', values: ['rack1'] },
          ],
        },
        {
          matchLabelExpressions: [
            { key: 'zone', values: ['us-central1-b'] },
            { key: 'rack', values: ['rack1', 'rack2'] },
          ],
        },
      ],
    });
    expect(allowedBy(own, racks)).toEqual([
      'us-central1-a-rack1',
      'us-central1-b-rack1',
      'us-central1-b-rack2',
    ]);
  });
});

describe('the zonal example from end to end', () => {
  const standard = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard' },
    provisioner: 'kubernetes.io/gce-pd',
    bindingMode: 'WaitForFirstConsumer',
    parameters: { type: 'pd-standard' },
  } as StorageClass;
  const myClaim: PersistentVolumeClaim = {
    metadata: { namespace: 'default', name: 'my-pvc', uid: 'uid-my-pvc', resourceVersion: '1' },
    spec: {
      storageClassName: 'standard',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '100Gi' } },
    },
  };
  const myPod: Pod = {
    metadata: { namespace: 'default', name: 'my-pod', uid: 'uid-my-pod' },
    spec: { volumes: [{ name: 'my-vol', persistentVolumeClaim: { claimName: 'my-pvc' } }] },
  };
  const cluster = () =>
    clusterOf({ Node: nodes, StorageClass: [standard], PersistentVolumeClaim: [myClaim] });

  test('the claim waits, and the scheduler chooses a node and lets the provisioner create the volume', () => {
    expect(planOutcome(cluster(), myPod)).toEqual({
      node: 'node-1',
      volumes: {},
      pools: { 'my-pvc': 'new' },
    });
  });

  test('the claim has the node in an annotation, under any of its historical names', () => {
    for (const name of [
      'volume.kubernetes.io/selected-node',
      'volume.alpha.kubernetes.io/selectedNode',
      'volume.alpha.kubernetes.io/selected-node',
    ]) {
      const index = cluster();
      const selected = { ...myClaim.metadata, resourceVersion: '2', annotations: { [name]: 'node-3' } };
      index.upsert('PersistentVolumeClaim', { ...myClaim, metadata: selected });
      expect(planOutcome(index, myPod)).toEqual({ node: 'node-3', volumes: {}, pools: { 'my-pvc': 'new' } });
    }
  });

  test('once the volume is provisioned and bound, the pod stays in its zone', () => {
    const index = cluster();
    const made = example('volume-1', {
      ...gce,
      storageClassName: 'standard',
      ...affinity({ key: betaZone, values: ['us-central1-b'] }),
    });
    index.upsert('PersistentVolume', made);
    index.upsert('PersistentVolumeClaim', atVersion('3', { ...boundClaim('my-pvc', '100Gi', 'volume-1') }));
    expect(planOutcome(index, myPod)).toEqual({ node: 'node-3', volumes: {}, pools: {} });
  });

  test('a node that serves the disk through CSI is found by the topology key of the driver', () => {
    const index = cluster();
    const onDriver = node('node-5', { 'topology.gke.io/zone': 'us-central1-b' });
    index.upsert('Node', onDriver);
    index.upsert(
      'CSINode',
      csiNode(
        'node-5',
        {},
        { annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/gce-pd' } },
      ),
    );
    const made = example('volume-1', { ...gce, ...affinity({ key: betaZone, values: ['us-central1-b'] }) });
    index.upsert('PersistentVolume', made);
    index.upsert('PersistentVolumeClaim', atVersion('3', boundClaim('my-pvc', '100Gi', 'volume-1')));
    for (const other of nodes) index.remove('Node', other.metadata!.name!);
    expect(planOutcome(index, myPod)).toEqual({ node: 'node-5', volumes: {}, pools: {} });
  });
});

describe('old names', () => {
  test('are read as the current ones, with a warning', () => {
    const index = new ClusterIndex();
    const { warnings: ofVolume } = index.upsert('PersistentVolume', example('v1', {}));
    expect(ofVolume).toMatchObject(
      [{ kind: 'PersistentVolume', key: 'v1', problem: /^metadata\.Name: .*rename/ }].map(
        ({ problem, ...rest }) => ({ ...rest, problem: expect.stringMatching(problem) }),
      ),
    );
    const old = { kind: 'StorageClass', metadata: { name: 'local' }, bindingMode: 'WaitForFirstConsumer' };
    const { warnings: ofClass } = index.upsert('StorageClass', old as StorageClass);
    expect(ofClass).toMatchObject([
      { problem: expect.stringMatching(/^bindingMode: .*volumeBindingMode.*rename/) },
    ]);
  });

  test('of a class: bindingMode makes it wait; Immediate, and nothing at all, do not', () => {
    const outcomeWith = (rest: object) =>
      planOutcome(
        clusterOf({
          Node: [node('n1')],
          StorageClass: [{ metadata: { name: 'local' }, provisioner: 'disk.csi', ...rest } as StorageClass],
          PersistentVolumeClaim: [claim('data', '1Gi')],
        }),
        pod('p', ['data']),
      );
    expect(outcomeWith({ bindingMode: 'WaitForFirstConsumer' })).toMatchObject({ node: 'n1' });
    expect(outcomeWith({ bindingMode: 'Immediate' })).toEqual({
      message: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
    });
    expect(
      outcomeWith({ bindingMode: 'WaitForFirstConsumer', volumeBindingMode: 'Immediate' }),
    ).toMatchObject({
      message: expect.stringContaining('unbound immediate'),
    });
  });

  test('of a volume: affinity in the alpha annotation', () => {
    const terms = [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-2'] }] },
    ];
    const written = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    const old: PersistentVolume = {
      ...localVolume('v1', '1Gi', 'x', { phase: 'Bound', terms: [] }),
      metadata: {
        name: 'v1',
        annotations: { 'volume.alpha.kubernetes.io/node-affinity': JSON.stringify(written) },
      },
      spec: { capacity: { storage: '100Gi' } },
    };
    expect(nodesOf(old)).toEqual(['node-2']);
  });

  test('of zones: a beta label on the volume matches the stable label on the node', () => {
    const index = clusterOf(
      {
        Node: [node('today', { [labels.zone]: 'us-central1-a', [labels.region]: 'us-central1' })],
        PersistentVolume: [example('v1', gce, { [betaZone]: 'us-central1-a', [betaRegion]: 'us-central1' })],
        PersistentVolumeClaim: [boundClaim('data', '100Gi', 'v1')],
      },
      upstreamProfile,
    );
    expect(planOutcome(index, pod('p', ['data']))).toMatchObject({ node: 'today' });
  });
});
