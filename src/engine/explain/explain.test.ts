import { describe, expect, test } from 'vitest';
import type { PersistentVolume, Pod } from '../../kube/core.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterIndex } from '../index/cluster-index.ts';
import { plan } from '../plan.ts';
import type { Finding, Margin, Obstacle } from '../rules/finding.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import {
  boundClaim,
  byName,
  claim,
  csiNode,
  gib,
  hostname,
  localVolume,
  madeBy,
  node,
  onlyAt,
  pod,
  reservedFor,
  storageClass,
  type VolumeOptions,
  volume,
  zone,
} from '../testing/objects.ts';
import type { Explanation } from './explain.ts';

function explained(index: ClusterIndex, asking: Pod, nowMs = 0): Explanation {
  const answer = plan(asking, index, { nowMs });
  return answer.kind === 'placement' ? expect.fail(`placed on ${answer.node}`) : answer.explain();
}

/** The findings about the only node. */
function findingsOf(objects: ClusterObjects, asking = pod('p', ['data']), nowMs = 0): readonly Finding[] {
  const [only, ...others] = explained(clusterOf(objects), asking, nowMs).nodes;
  expect(others).toEqual([]);
  return only!.findings;
}

function bytes({ needed, free, promised }: Margin) {
  return [needed.bytes, free.bytes, promised.bytes].map((count) => count / gib(1));
}

/** `name: codes`, in order. */
function candidatesIn(finding: Finding): string[] {
  return finding.candidates.map(({ name, obstacles }) => `${name}: ${codes(obstacles)}`);
}

function codes(obstacles: readonly Obstacle[]): string {
  return obstacles.map(({ code }) => code).join(' ');
}

const cluster: ClusterObjects = {
  Node: [node('n1', { [zone]: 'a' })],
  StorageClass: [storageClass('local')],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};

function disk(name: string, size: string, options: VolumeOptions = {}): PersistentVolume {
  return volume(name, size, options);
}

describe('a claim that finds no volume names what came close and what was in the way', () => {
  const labelled = { name: 'v', uid: 'u', resourceVersion: '1' };

  interface Case {
    readonly name: string;
    readonly volume: PersistentVolume;
    readonly obstacles: string;
  }

  const cases: readonly Case[] = [
    { name: 'too small', volume: disk('v', '4Gi'), obstacles: 'TooSmall' },
    { name: 'of another class', volume: disk('v', '5Gi', { className: 'gold' }), obstacles: 'OtherClass' },
    {
      name: 'of the other mode',
      volume: disk('v', '5Gi', { spec: { volumeMode: 'Block' } }),
      obstacles: 'OtherMode',
    },
    {
      name: 'of another attributes class',
      volume: disk('v', '5Gi', { spec: { volumeAttributesClassName: 'gold' } }),
      obstacles: 'OtherAttributesClass',
    },
    {
      name: 'without the access mode',
      volume: disk('v', '5Gi', { spec: { accessModes: ['ReadOnlyMany'] } }),
      obstacles: 'MissingAccessMode',
    },
    { name: 'not available', volume: disk('v', '5Gi', { phase: 'Released' }), obstacles: 'NotAvailable' },
    {
      name: 'bound to another claim, which is one obstacle and not two',
      volume: disk('v', '5Gi', { phase: 'Bound', spec: reservedFor('theirs', 'uid') }),
      obstacles: 'ClaimedByOther',
    },
    {
      name: 'being deleted',
      volume: disk('v', '5Gi', { metadata: { ...labelled, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      obstacles: 'Deleting',
    },
    { name: 'on another node', volume: localVolume('v', '5Gi', 'n2'), obstacles: 'OtherNode' },
    { name: 'unreadable', volume: disk('v', 'plenty'), obstacles: 'Malformed' },
    {
      name: 'on another node and too small',
      volume: localVolume('v', '4Gi', 'n2'),
      obstacles: 'TooSmall OtherNode',
    },
    {
      name: 'too small and not available',
      volume: disk('v', '4Gi', { phase: 'Pending' }),
      obstacles: 'TooSmall NotAvailable',
    },
  ];

  test.each(byName(cases))('%s', (_, { volume: candidate, obstacles }) => {
    const [finding, ...others] = findingsOf({ ...cluster, PersistentVolume: [candidate] });
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
      ...cluster,
      PersistentVolume: [disk('v', '5Gi')],
      PersistentVolumeClaim: [claim('data', '5Gi', { spec: { selector: { matchLabels: { tier: 'x' } } } })],
    });
    expect(candidatesIn(findings[0]!)).toEqual(['v: LabelsDiffer']);
  });

  test('how much is missing', () => {
    const [finding] = findingsOf({ ...cluster, PersistentVolume: [disk('v', '4Gi')] });
    const { margin } = finding!.candidates[0]!.obstacles[0]!;
    expect(margin!.unit).toBe('bytes');
    expect(bytes(margin!)).toEqual([5, 4, 0]);
  });

  test('fewest obstacles first, then the nearest size, then by name; what the node reaches before what it does not', () => {
    const [finding] = findingsOf({
      ...cluster,
      PersistentVolume: [
        disk('small-2', '2Gi'),
        disk('small-4', '4Gi'),
        disk('b-gold', '5Gi', { className: 'gold' }),
        disk('a-gold', '5Gi', { className: 'gold' }),
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
    const volumes = Array.from({ length: 12 }, (_, at) => disk(`v${at}`, '1Gi'));
    const [finding] = findingsOf({ ...cluster, PersistentVolume: volumes });
    expect(finding!.candidates).toHaveLength(5);
    expect(finding!.omitted).toBe(7);
  });

  test('none that misses by more than two things', () => {
    const far = disk('far', '1Gi', { className: 'gold', phase: 'Released' });
    const [finding] = findingsOf({ ...cluster, PersistentVolume: [far] });
    expect(finding).toMatchObject({ candidates: [], omitted: 0 });
  });
});

describe('a claim that has a volume, or is to have one,', () => {
  test('says that the volume cannot be reached from here', () => {
    const findings = findingsOf({
      ...cluster,
      PersistentVolume: [disk('v1', '1Gi', { phase: 'Bound', terms: [onlyAt(hostname, 'n2')] })],
      PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')],
    });
    expect(findings).toMatchObject([{ reason: 'BoundVolumeUnreachable', claim: 'default/data' }]);
    expect(candidatesIn(findings[0]!)).toEqual(['v1: OtherNode']);
  });

  test('says that the volume is gone', () => {
    const findings = findingsOf({ ...cluster, PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')] });
    expect(findings).toMatchObject([{ reason: 'BoundVolumeMissing', claim: 'default/data', candidates: [] }]);
  });

  test('says that it is pinned to another node', () => {
    const findings = findingsOf({
      ...cluster,
      PersistentVolumeClaim: [claim('data', '5Gi', { selectedNode: 'n2' })],
    });
    expect(findings).toMatchObject([{ reason: 'ClaimPinnedElsewhere', claim: 'default/data' }]);
  });

  test('says that the volume reserved for it is elsewhere', () => {
    const findings = findingsOf({
      ...cluster,
      PersistentVolume: [localVolume('mine', '5Gi', 'n2', { spec: reservedFor('data') })],
    });
    expect(findings).toMatchObject([{ reason: 'PreboundVolumeElsewhere', claim: 'default/data' }]);
    expect(candidatesIn(findings[0]!)).toEqual(['mine: OtherNode']);
  });

  test('says that its class leaves the node out', () => {
    const allowedTopologies = [{ matchLabelExpressions: [{ key: zone, values: ['b'] }] }];
    const findings = findingsOf({
      ...cluster,
      StorageClass: [madeBy('disk.csi', 'local', { allowedTopologies })],
    });
    expect(findings).toMatchObject([{ reason: 'TopologyNotAllowed', claim: 'default/data' }]);
  });

  test('is listed for each of several claims, in the order of the pod', () => {
    const findings = findingsOf(
      {
        ...cluster,
        PersistentVolume: [disk('v1', '1Gi', { phase: 'Bound', terms: [onlyAt(hostname, 'n2')] })],
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
  test('goes through the nodes by name, and a node without findings would do', () => {
    const index = clusterOf({ ...cluster, Node: ['n3', 'n1', 'n2'].map((name) => node(name)) });
    const answer = plan(pod('p', ['data']), index, { nowMs: 0 });
    if (answer.kind === 'placement') return expect.fail('placed');
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n2'));
    const counts = answer.explain().nodes.map((found) => [found.node, found.findings.length]);
    expect(counts).toEqual([
      ['n1', 1],
      ['n2', 0],
      ['n3', 1],
    ]);
  });

  test('of a pod that runs nowhere says why, and goes through no nodes', () => {
    const explanation = explained(clusterOf({ Node: [node('n1')] }), pod('p', ['data']));
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
