import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectRefusal } from '../testing/expect-plan.ts';
import { candidatesIn, findingsOf, gibIn, withoutVolumes } from '../testing/findings.ts';
import {
  boundClaim,
  byName,
  claim,
  claimRefTo,
  csiClass,
  csiNode,
  hostname,
  labelIn,
  localVolume,
  node,
  pod,
  volume,
  zone,
} from '../testing/objects.ts';

describe('a claim without a volume lists close candidates and their obstacles', () => {
  const labelled = { name: 'v', uid: 'u', resourceVersion: '1' };

  interface Case {
    readonly name: string;
    readonly volume: PersistentVolume;
    readonly obstacles: string;
  }

  const cases: readonly Case[] = [
    { name: 'too small', volume: volume('v', '4Gi'), obstacles: 'TooSmall' },
    { name: 'of another class', volume: volume('v', '5Gi', { className: 'gold' }), obstacles: 'OtherClass' },
    {
      name: 'of another volume mode',
      volume: volume('v', '5Gi', { spec: { volumeMode: 'Block' } }),
      obstacles: 'OtherMode',
    },
    {
      name: 'of another attributes class',
      volume: volume('v', '5Gi', { spec: { volumeAttributesClassName: 'gold' } }),
      obstacles: 'OtherAttributesClass',
    },
    {
      name: 'without the access mode',
      volume: volume('v', '5Gi', { spec: { accessModes: ['ReadOnlyMany'] } }),
      obstacles: 'MissingAccessMode',
    },
    { name: 'not available', volume: volume('v', '5Gi', { phase: 'Released' }), obstacles: 'NotAvailable' },
    {
      name: 'bound to another claim, which is one obstacle and not two',
      volume: volume('v', '5Gi', { phase: 'Bound', spec: claimRefTo('theirs', 'uid') }),
      obstacles: 'ClaimedByOther',
    },
    {
      name: 'being deleted',
      volume: volume('v', '5Gi', { metadata: { ...labelled, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      obstacles: 'Deleting',
    },
    { name: 'on another node', volume: localVolume('v', '5Gi', 'n2'), obstacles: 'OtherNode' },
    { name: 'malformed', volume: volume('v', 'plenty'), obstacles: 'Malformed' },
    {
      name: 'on another node and too small',
      volume: localVolume('v', '4Gi', 'n2'),
      obstacles: 'TooSmall OtherNode',
    },
    {
      name: 'too small and not available',
      volume: volume('v', '4Gi', { phase: 'Pending' }),
      obstacles: 'TooSmall NotAvailable',
    },
  ];

  test.each(byName(cases))('%s', (_, { volume: candidate, obstacles }) => {
    const [finding, ...others] = findingsOf({ ...withoutVolumes, PersistentVolume: [candidate] });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      rule: 'VolumeBinding',
      reason: 'NoVolumeFits',
      claim: 'default/data',
      omitted: 0,
    });
    expect(candidatesIn(finding!)).toEqual([`v: ${obstacles}`]);
  });

  test('labels that differ from the selector', () => {
    const findings = findingsOf({
      ...withoutVolumes,
      PersistentVolume: [volume('v', '5Gi')],
      PersistentVolumeClaim: [claim('data', '5Gi', { spec: { selector: { matchLabels: { tier: 'x' } } } })],
    });
    expect(candidatesIn(findings[0]!)).toEqual(['v: LabelsDiffer']);
  });

  test('the missing bytes', () => {
    const [finding] = findingsOf({ ...withoutVolumes, PersistentVolume: [volume('v', '4Gi')] });
    const { margin } = finding!.candidates[0]!.obstacles[0]!;
    expect(margin!.unit).toBe('bytes');
    expect(gibIn(margin!)).toEqual([5, 4, 0]);
  });

  test('fewest obstacles first, then the nearest size, then by name; reachable volumes before others', () => {
    const [finding] = findingsOf({
      ...withoutVolumes,
      PersistentVolume: [
        volume('small-2', '2Gi'),
        volume('small-4', '4Gi'),
        volume('b-gold', '5Gi', { className: 'gold' }),
        volume('a-gold', '5Gi', { className: 'gold' }),
        localVolume('elsewhere', '5Gi', 'n2'),
      ],
    });
    expect(candidatesIn(finding!)).toEqual([
      'a-gold: OtherClass',
      'b-gold: OtherClass',
      'small-4: TooSmall',
      'small-2: TooSmall',
      'elsewhere: OtherNode',
    ]);
  });

  test('at most five, with the count of the others', () => {
    const volumes = Array.from({ length: 12 }, (_, at) => volume(`v${at}`, '1Gi'));
    const [finding] = findingsOf({ ...withoutVolumes, PersistentVolume: volumes });
    expect(finding!.candidates).toHaveLength(5);
    expect(finding!.omitted).toBe(7);
  });

  test('none with more than two obstacles', () => {
    const far = volume('far', '1Gi', { className: 'gold', phase: 'Released' });
    const [finding] = findingsOf({ ...withoutVolumes, PersistentVolume: [far] });
    expect(finding).toMatchObject({ candidates: [], omitted: 0 });
  });
});

describe('a claim with a bound or reserved volume', () => {
  test('reports that the node cannot reach the volume', () => {
    const findings = findingsOf({
      ...withoutVolumes,
      PersistentVolume: [volume('v1', '1Gi', { phase: 'Bound', terms: [labelIn(hostname, 'n2')] })],
      PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')],
    });
    expect(findings).toMatchObject([{ reason: 'BoundVolumeUnreachable', claim: 'default/data' }]);
    expect(candidatesIn(findings[0]!)).toEqual(['v1: OtherNode']);
  });

  test('reports that the volume is gone', () => {
    const findings = findingsOf({
      ...withoutVolumes,
      PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')],
    });
    expect(findings).toMatchObject([{ reason: 'BoundVolumeMissing', claim: 'default/data', candidates: [] }]);
  });

  test('reports that it is pinned to another node', () => {
    const findings = findingsOf({
      ...withoutVolumes,
      PersistentVolumeClaim: [claim('data', '5Gi', { selectedNode: 'n2' })],
    });
    expect(findings).toMatchObject([{ reason: 'ClaimPinnedElsewhere', claim: 'default/data' }]);
  });

  test('reports that the node cannot reach the reserved volume', () => {
    const findings = findingsOf({
      ...withoutVolumes,
      PersistentVolume: [localVolume('mine', '5Gi', 'n2', { spec: claimRefTo('data') })],
    });
    expect(findings).toMatchObject([{ reason: 'PreboundVolumeElsewhere', claim: 'default/data' }]);
    expect(candidatesIn(findings[0]!)).toEqual(['mine: OtherNode']);
  });

  test('reports that the class excludes the node', () => {
    const allowedTopologies = [{ matchLabelExpressions: [{ key: zone, values: ['b'] }] }];
    const findings = findingsOf({
      ...withoutVolumes,
      StorageClass: [csiClass('disk.csi', 'local', { allowedTopologies })],
    });
    expect(findings).toMatchObject([{ reason: 'TopologyNotAllowed', claim: 'default/data' }]);
  });

  test('is listed for each of several claims, in the order of the pod', () => {
    const findings = findingsOf(
      {
        ...withoutVolumes,
        PersistentVolume: [volume('v1', '1Gi', { phase: 'Bound', terms: [labelIn(hostname, 'n2')] })],
        PersistentVolumeClaim: [claim('data', '5Gi'), boundClaim('old', '1Gi', 'v1'), claim('more', '9Gi')],
      },
      pod('p', ['data', 'old', 'more']),
    );
    expect(findings.map(({ reason, claim: key }) => `${key}: ${reason}`)).toEqual([
      'default/old: BoundVolumeUnreachable',
      'default/data: NoVolumeFits',
      'default/more: NoVolumeFits',
    ]);
  });
});

describe('an explanation', () => {
  test('lists the nodes by name, and a node without findings fits', () => {
    const index = clusterOf({ ...withoutVolumes, Node: ['n3', 'n1', 'n2'].map((name) => node(name)) });
    const refusal = expectRefusal(index, pod('p', ['data']));
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n2'));
    const counts = refusal.explain().nodes.map((found) => [found.node, found.findings.length]);
    expect(counts).toEqual([
      ['n1', 1],
      ['n2', 0],
      ['n3', 1],
    ]);
  });

  test('of a pod that is refused on every node has the reason and no nodes', () => {
    const explanation = expectRefusal(clusterOf({ Node: [node('n1')] }), pod('p', ['data'])).explain();
    expect(explanation).toMatchObject({
      pod: 'default/p',
      podRefusals: [{ reason: 'ClaimNotFound', claim: 'default/data' }],
      nodes: [],
    });
  });

  test('asks every rule about every node', () => {
    const objects: ClusterObjects = {
      Node: [node('n1', { [zone]: 'b' })],
      CSINode: [csiNode('n1', { d: 0 })],
      PersistentVolume: [
        volume('v1', '1Gi', {
          phase: 'Bound',
          metadata: { name: 'v1', uid: 'u', resourceVersion: '1', labels: { [zone]: 'a' }, annotations: {} },
          spec: { csi: { driver: 'd', volumeHandle: 'v1' } },
        }),
      ],
      PersistentVolumeClaim: [
        boundClaim('data', '1Gi', 'v1', {
          metadata: {
            namespace: 'default',
            name: 'data',
            uid: 'u2',
            resourceVersion: '1',
            annotations: { [annotations.bindCompleted]: 'yes' },
          },
        }),
      ],
    };
    expect(findingsOf(objects).map(({ rule, reason }) => `${rule}: ${reason}`)).toEqual([
      'NodeVolumeLimits: AttachLimitReached',
      'VolumeZone: ZoneMismatch',
    ]);
  });
});
