import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import {
  type Profile,
  packShape,
  spreadShape,
  stowageProfile,
  type UtilizationShape,
  upstreamProfile,
  type VolumeScoring,
} from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, planOutcome } from '../../testing/cluster.ts';
import {
  boundClaim,
  byName,
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  hostname,
  labelIn,
  localVolume,
  node,
  pod,
  pool,
  storageCapacity,
  volume,
  zone,
} from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { volumeRules } from '../volume-rules.ts';
import { volumeBindingRule } from './rule.ts';

const nodes = [node('a', { [zone]: 'za' }), node('b', { [zone]: 'zb' }), node('c', { [zone]: 'zc' })];
const classes = [csiClass('disk.csi', 'local'), csiClass('disk.csi', 'other')];

/** The score of each node by the binding rule alone; a refused node has no score. */
function scoresOf(
  objects: ClusterObjects,
  profile: Profile,
  claims: readonly string[],
): Record<string, number> {
  const rules = [eraseState(volumeBindingRule)];
  const scores: Record<string, number> = {};
  for (const candidate of objects.Node ?? []) {
    const index = clusterOf({ ...objects, Node: [candidate] }, profile);
    const answer = plan(pod('p', claims), index, { nowMs: 0, rules });
    if (answer.kind === 'placement') scores[answer.node] = answer.score;
  }
  return scores;
}

interface Case {
  readonly name: string;
  readonly volumes?: readonly PersistentVolume[];
  readonly pools?: readonly CSIStorageCapacity[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly scoring?: Partial<VolumeScoring>;
  readonly scores: Record<string, number>;
}

function expectScores(profile: Profile, cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { volumes = [], pools = [], claims, scoring, scores }) => {
    const objects: ClusterObjects = {
      Node: nodes,
      StorageClass: classes,
      CSIDriver: [csiDriver('disk.csi')],
      PersistentVolume: volumes,
      CSIStorageCapacity: pools,
      PersistentVolumeClaim: claims,
    };
    const names = claims.map(({ metadata }) => metadata!.name!);
    const used = { ...profile, scoring: { ...profile.scoring, ...scoring } };
    expect(scoresOf(objects, used, names)).toEqual(scores);
  });
}

function poolOf(nodeName: string, size: string, className = 'local'): CSIStorageCapacity {
  return storageCapacity(`${className}-${nodeName}`, className, {
    capacity: size,
    nodeTopology: { matchLabels: { [hostname]: nodeName } },
  });
}

function zonal(name: string, size: string, zoneName: string, className = 'local'): PersistentVolume {
  return volume(name, size, { className, terms: [labelIn(zone, zoneName)] });
}

describe('method utilization: Kubernetes 1.37 with its own examples', () => {
  const profile: Profile = {
    ...upstreamProfile,
    scoring: { method: 'utilization', volumeShape: spreadShape, poolShape: spreadShape },
  };
  const custom: UtilizationShape = [
    { utilization: 0, score: 0 },
    { utilization: 50, score: 3 },
    { utilization: 100, score: 5 },
  ];
  expectScores(profile, [
    {
      name: 'local volumes of 200Gi and 100Gi for 50Gi',
      volumes: [localVolume('v1', '200Gi', 'a'), localVolume('v2', '100Gi', 'b')],
      claims: [claim('data', '50Gi')],
      scores: { a: 75, b: 50 },
    },
    {
      name: 'two claims of two classes: the mean over classes, rounded',
      volumes: [
        localVolume('v1', '200Gi', 'a'),
        localVolume('w1', '200Gi', 'a', { className: 'other' }),
        localVolume('v2', '100Gi', 'b'),
        localVolume('w2', '100Gi', 'b', { className: 'other' }),
      ],
      claims: [claim('data', '50Gi'), claim('more', '100Gi', { className: 'other' })],
      scores: { a: 63, b: 25 },
    },
    {
      name: 'zonal volumes of 200Gi and 100Gi for 50Gi',
      volumes: [zonal('v1', '200Gi', 'za'), zonal('v2', '100Gi', 'zb')],
      claims: [claim('data', '50Gi')],
      scores: { a: 75, b: 50 },
    },
    {
      name: 'zonal volumes with a custom shape',
      volumes: [zonal('v1', '200Gi', 'za'), zonal('v2', '100Gi', 'zb')],
      claims: [claim('data', '50Gi')],
      scoring: { volumeShape: custom },
      scores: { a: 15, b: 30 },
    },
    {
      name: 'pools of 100Gi, 50Gi and 10Gi for 10Gi',
      pools: [poolOf('a', '100Gi'), poolOf('b', '50Gi'), poolOf('c', '10Gi')],
      claims: [claim('data', '10Gi')],
      scores: { a: 90, b: 80, c: 0 },
    },
    {
      name: 'if a node has a volume, its pool does not count',
      volumes: [localVolume('v1', '100Gi', 'a'), localVolume('v2', '100Gi', 'b')],
      pools: [poolOf('a', '1000Gi', 'other'), poolOf('b', '200Gi', 'other')],
      claims: [claim('data', '50Gi'), claim('more', '100Gi', { className: 'other' })],
      scores: { a: 50, b: 50 },
    },
    {
      name: 'two claims of one class request the sum of a pool that counts once',
      pools: [poolOf('a', '100Gi'), poolOf('b', '100Gi')],
      claims: [claim('data', '50Gi'), claim('more', '50Gi')],
      scores: { a: 0, b: 0 },
    },
    {
      name: 'two claims of one class are compared with the sum of their volumes',
      volumes: [localVolume('v1', '100Gi', 'a'), localVolume('v2', '300Gi', 'a')],
      claims: [claim('data', '100Gi'), claim('more', '100Gi')],
      scores: { a: 50 },
    },
    {
      name: 'the fullest pool wins by the inverted shape',
      pools: [poolOf('a', '100Gi'), poolOf('b', '20Gi'), poolOf('c', '10Gi')],
      claims: [claim('data', '10Gi')],
      scoring: { volumeShape: packShape },
      scores: { a: 10, b: 50, c: 100 },
    },
    {
      name: 'the emptiest pool wins by the default shape',
      pools: [poolOf('a', '100Gi'), poolOf('b', '20Gi'), poolOf('c', '10Gi')],
      claims: [claim('data', '10Gi')],
      scores: { a: 90, b: 50, c: 0 },
    },
    {
      name: 'several classes by a shape that starts at 50 and bends at 80',
      pools: [poolOf('a', '100Gi'), poolOf('a', '100Gi', 'other')],
      claims: [claim('data', '90Gi'), claim('more', '60Gi', { className: 'other' })],
      scoring: {
        volumeShape: [
          { utilization: 50, score: 0 },
          { utilization: 80, score: 3 },
          { utilization: 100, score: 5 },
        ],
      },
      scores: { a: 25 },
    },
    {
      name: 'utilization is rounded down before the shape applies',
      volumes: [localVolume('v1', '300Gi', 'a')],
      claims: [claim('data', '100Gi')],
      scores: { a: 67 },
    },
    {
      name: 'a pool that publishes only its maximum volume size counts as full; kube-scheduler would crash',
      pools: [storageCapacity('a', 'local', { maximumVolumeSize: '100Gi' })],
      claims: [claim('data', '10Gi')],
      scores: { a: 0, b: 0, c: 0 },
    },
    {
      name: 'a hundred petabytes do not overflow',
      volumes: [localVolume('v1', '200P', 'a')],
      claims: [claim('data', '100P')],
      scores: { a: 50 },
    },
  ]);

  test('a new volume of a driver that publishes no capacity scores nothing', () => {
    const objects = { Node: nodes, StorageClass: classes, PersistentVolumeClaim: [claim('data', '5Gi')] };
    expect(scoresOf(objects, profile, ['data'])).toEqual({ a: 0, b: 0, c: 0 });
  });
});

describe('method none: Kubernetes 1.36', () => {
  expectScores(upstreamProfile, [
    {
      name: 'tight and loose volumes score the same',
      volumes: [localVolume('v1', '200Gi', 'a'), localVolume('v2', '50Gi', 'b')],
      claims: [claim('data', '50Gi')],
      scores: { a: 0, b: 0 },
    },
  ]);
});

describe('method stowage', () => {
  expectScores(stowageProfile, [
    {
      name: 'an existing volume scores 50 to 100, more the closer its size is',
      volumes: [
        localVolume('v1', '200Gi', 'a'),
        localVolume('v2', '100Gi', 'b'),
        localVolume('v3', '50Gi', 'c'),
      ],
      claims: [claim('data', '50Gi')],
      scores: { a: 62.5, b: 75, c: 100 },
    },
    {
      name: 'a new volume scores 0 to 50, more the emptier its pool is',
      pools: [poolOf('a', '100Gi'), poolOf('b', '50Gi'), poolOf('c', '10Gi')],
      claims: [claim('data', '10Gi')],
      scores: { a: 45, b: 40, c: 0 },
    },
    {
      name: 'so the loosest existing volume comes before the emptiest pool',
      volumes: [localVolume('v1', '10Ti', 'a')],
      pools: [poolOf('b', '10Ti')],
      claims: [claim('data', '1Gi')],
      scores: { a: 50.0048828125, b: 49.9951171875 },
    },
    {
      name: 'pools can be packed rather than spread',
      pools: [poolOf('a', '100Gi'), poolOf('b', '50Gi'), poolOf('c', '10Gi')],
      claims: [claim('data', '10Gi')],
      scoring: { poolShape: packShape },
      scores: { a: 5, b: 10, c: 50 },
    },
    {
      name: 'volumes can be spread rather than packed',
      volumes: [localVolume('v1', '200Gi', 'a'), localVolume('v2', '100Gi', 'b')],
      claims: [claim('data', '50Gi')],
      scoring: { volumeShape: spreadShape },
      scores: { a: 87.5, b: 75 },
    },
    {
      name: 'a pod scores the mean over its volumes',
      volumes: [localVolume('v1', '100Gi', 'a')],
      pools: [poolOf('a', '100Gi', 'other')],
      claims: [claim('data', '100Gi'), claim('more', '50Gi', { className: 'other' })],
      scores: { a: (100 + 25) / 2 },
    },
    {
      name: 'a volume without a size and a claim without one score highest',
      volumes: [localVolume('v1', '', 'a', { spec: { capacity: {} } })],
      claims: [claim('data', '', { spec: { resources: {} } })],
      scores: { a: 100, b: 25, c: 25 },
    },
    {
      name: 'a pod whose claims are all bound has no score',
      volumes: [localVolume('v1', '1Gi', 'a', { phase: 'Bound' })],
      claims: [boundClaim('data', '1Gi', 'v1')],
      scores: { a: 0 },
    },
  ]);

  test('a new volume of a driver that publishes no capacity is neither good nor bad', () => {
    const objects = { Node: nodes, StorageClass: classes, PersistentVolumeClaim: [claim('data', '5Gi')] };
    expect(scoresOf(objects, stowageProfile, ['data'])).toEqual({ a: 25, b: 25, c: 25 });
  });

  test('promised capacity counts as used', () => {
    const index = clusterOf({
      Node: [nodes[0]!],
      StorageClass: classes,
      DriverCapacity: [
        driverCapacity('disk.csi', [{ storageClassName: 'local', pools: [pool('one', '100Gi')] }]),
      ],
      PersistentVolumeClaim: [claim('data', '25Gi'), claim('theirs', '50Gi', { selectedNode: 'a' })],
    });
    expect(plan(pod('p', ['data']), index, { nowMs: 0, rules: volumeRules })).toMatchObject({ score: 25 });
  });
});

describe('among nodes of the same score', () => {
  const objects: ClusterObjects = {
    StorageClass: classes,
    PersistentVolume: [volume('v1', '5Gi')],
    PersistentVolumeClaim: [claim('data', '5Gi')],
  };

  test('the first by name is chosen, whatever order they came in', () => {
    for (const order of [nodes, nodes.toReversed()]) {
      expect(planOutcome(clusterOf({ ...objects, Node: order }), pod('p', ['data']))).toMatchObject({
        node: 'a',
      });
    }
  });

  test('all are counted as feasible', () => {
    const answer = plan(pod('p', ['data']), clusterOf({ ...objects, Node: nodes }), { nowMs: 0 });
    expect(answer).toMatchObject({ kind: 'placement', feasibleNodes: 3 });
  });
});
