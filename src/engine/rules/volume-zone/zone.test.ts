import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, Pod } from '../../../kube/api/core.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { verdictOf } from '../../testing/expect-plan.ts';
import {
  boundClaim,
  byName,
  claim,
  csiClass,
  ephemeralVolume,
  hostname,
  labelIn,
  node,
  ownedBy,
  pod,
  volume,
} from '../../testing/objects.ts';

const mismatch = '0/1 nodes are available: 1 node(s) had no available volume zone.';
const { zone, region, betaZone, betaRegion } = labels;

function objectsWith(
  volumeLabels: Record<string, string>,
  nodeLabels: Record<string, string>,
  terms?: readonly NodeSelectorTerm[],
): ClusterObjects {
  return {
    Node: [node('n1', nodeLabels)],
    PersistentVolume: [
      volume('v1', '1Gi', {
        phase: 'Bound',
        metadata: { name: 'v1', uid: 'uid-v1', resourceVersion: '1', labels: volumeLabels },
        ...(terms && { terms }),
      }),
    ],
    PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')],
  };
}

function messageOf(objects: ClusterObjects, profile: Profile, asking: Pod = pod('p', ['data'])): string {
  return verdictOf(clusterOf(objects, profile), asking);
}

interface Case {
  readonly name: string;
  readonly volume: Record<string, string>;
  readonly node: Record<string, string>;
  readonly fits: boolean;
}

function expectCases(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { volume: volumeLabels, node: nodeLabels, fits }) => {
    for (const profile of [stowageProfile, upstreamProfile]) {
      expect(messageOf(objectsWith(volumeLabels, nodeLabels), profile)).toBe(fits ? 'fits' : mismatch);
    }
  });
}

describe('a volume in one zone', () => {
  const inOne = { [zone]: 'us-1a', [region]: 'us-1' };
  expectCases([
    { name: 'is reached from a node without zone labels', volume: inOne, node: {}, fits: true },
    { name: 'without zone labels is reached from everywhere', volume: {}, node: inOne, fits: true },
    { name: 'is reached from its zone', volume: { [zone]: 'a' }, node: { [zone]: 'a' }, fits: true },
    { name: 'is not reached from another zone', volume: { [zone]: 'a' }, node: { [zone]: 'b' }, fits: false },
    { name: 'is reached from its region', volume: { [region]: 'r' }, node: { [region]: 'r' }, fits: true },
    {
      name: 'is not reached from another region',
      volume: { [region]: 'r' },
      node: { [region]: 's' },
      fits: false,
    },
    {
      name: 'is reached by its beta zone',
      volume: { [betaZone]: 'a' },
      node: { [betaZone]: 'a' },
      fits: true,
    },
    {
      name: 'is not reached from another beta zone',
      volume: { [betaZone]: 'a' },
      node: { [betaZone]: 'b' },
      fits: false,
    },
    {
      name: 'is reached by its beta region',
      volume: { [betaRegion]: 'r' },
      node: { [betaRegion]: 'r' },
      fits: true,
    },
    {
      name: 'is not reached from another beta region',
      volume: { [betaRegion]: 'r' },
      node: { [betaRegion]: 's' },
      fits: false,
    },
    { name: 'must match in both zone and region', volume: inOne, node: inOne, fits: true },
    {
      name: 'with zone and region is not reached from a node with only the zone',
      volume: inOne,
      node: { [zone]: 'us-1a' },
      fits: false,
    },
    {
      name: 'with a beta label is reached from a node with the stable label',
      volume: { [betaZone]: 'a', [betaRegion]: 'r' },
      node: { [zone]: 'a', [region]: 'r' },
      fits: true,
    },
    {
      name: 'with a beta label is not reached from another zone under the stable label',
      volume: { [betaZone]: 'a' },
      node: { [zone]: 'b' },
      fits: false,
    },
    {
      name: 'with a stable label is not reached from a node with only the beta label',
      volume: { [zone]: 'a' },
      node: { [betaZone]: 'a' },
      fits: false,
    },
  ]);
});

describe('a volume in several zones', () => {
  expectCases([
    { name: 'is reached from a node without zone labels', volume: { [zone]: 'a__b' }, node: {}, fits: true },
    { name: 'is reached from its first', volume: { [zone]: 'a__b' }, node: { [zone]: 'a' }, fits: true },
    { name: 'is reached from its last', volume: { [zone]: 'a__b' }, node: { [zone]: 'b' }, fits: true },
    { name: 'is not reached from another', volume: { [zone]: 'a__b' }, node: { [zone]: 'c' }, fits: false },
    {
      name: 'is reached by its beta zones',
      volume: { [betaZone]: 'a__b' },
      node: { [betaZone]: 'b' },
      fits: true,
    },
    {
      name: 'is not reached from another beta zone',
      volume: { [betaZone]: 'a__b' },
      node: { [betaZone]: 'c' },
      fits: false,
    },
    {
      name: 'is not reached from a zone with the whole list as its name',
      volume: { [zone]: 'a__b' },
      node: { [zone]: 'a__b' },
      fits: false,
    },
  ]);
});

describe('node affinity', () => {
  const elsewhere = { [zone]: 'b' };

  test('replaces zone labels; kube-scheduler requires both', () => {
    const objects = objectsWith({ [zone]: 'a' }, elsewhere, [labelIn(hostname, 'n1')]);
    expect(messageOf(objects, stowageProfile)).toBe('fits');
    expect(messageOf(objects, upstreamProfile)).toBe(mismatch);
  });

  test('that matches every node does not replace them', () => {
    const objects = objectsWith({ [zone]: 'a' }, elsewhere);
    expect(messageOf(objects, stowageProfile)).toBe(mismatch);
  });
});

describe('only bound volumes count', () => {
  test('a pod without volumes fits any node', () => {
    const objects = objectsWith({ [zone]: 'a' }, { [zone]: 'b' });
    expect(messageOf(objects, stowageProfile, pod('p', []))).toBe('fits');
  });

  test('a claim that waits for its first consumer has no zone yet', () => {
    const objects: ClusterObjects = {
      Node: [node('n1', { [zone]: 'b' })],
      StorageClass: [csiClass('disk.csi', 'local')],
      PersistentVolumeClaim: [claim('data', '1Gi')],
    };
    expect(messageOf(objects, stowageProfile)).toBe('fits');
    expect(messageOf(objects, upstreamProfile)).toBe('fits');
  });

  test('the volume of an ephemeral claim has one, which kube-scheduler ignores', () => {
    const objects: ClusterObjects = {
      ...objectsWith({ [zone]: 'a' }, { [zone]: 'b' }),
      PersistentVolumeClaim: [
        boundClaim('p-s', '1Gi', 'v1', {
          metadata: { ...ownedBy('p', 'p-s'), annotations: { [annotations.bindCompleted]: 'yes' } },
        }),
      ],
    };
    const asking = pod('p', [], { volumes: [ephemeralVolume('s')] });
    expect(messageOf(objects, stowageProfile, asking)).toBe(mismatch);
    expect(messageOf(objects, upstreamProfile, asking)).toBe('fits');
  });

  test('each of several volumes must be in the zone', () => {
    const objects = objectsWith({ [zone]: 'a' }, { [zone]: 'a' });
    const other = volume('v2', '1Gi', {
      phase: 'Bound',
      metadata: { name: 'v2', uid: 'uid-v2', resourceVersion: '1', labels: { [zone]: 'b' } },
    });
    const both: ClusterObjects = {
      ...objects,
      PersistentVolume: [...objects.PersistentVolume!, other],
      PersistentVolumeClaim: [...objects.PersistentVolumeClaim!, boundClaim('more', '1Gi', 'v2')],
    };
    expect(messageOf(both, stowageProfile, pod('p', ['data', 'more']))).toBe(mismatch);
  });
});
