import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import { stowageProfile, upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, planOutcome } from '../../testing/cluster.ts';
import {
  boundClaim,
  byName,
  claim,
  hostname,
  node,
  pod,
  storageClass,
  volume,
} from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';
import { volumeRules } from '../volume-rules.ts';

const nodes = [node('a', { rack: 'r1' }), node('b', { rack: 'r2' }), node('c', { rack: 'r3' })];

interface Preference {
  readonly weight: unknown;
  readonly rack: string;
}

function preferring(
  name: string,
  preferences: readonly Preference[] | string,
  phase = 'Bound',
): PersistentVolume {
  const terms =
    typeof preferences === 'string'
      ? preferences
      : JSON.stringify(
          preferences.map(({ weight, rack }) => ({
            weight,
            preference: { matchExpressions: [{ key: 'rack', operator: 'In', values: [rack] }] },
          })),
        );
  return volume(name, '1Gi', {
    phase,
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      annotations: { [annotations.preferredNodeAffinity]: terms },
    },
  });
}

function bound(...volumes: readonly PersistentVolume[]): ClusterObjects {
  return {
    Node: nodes,
    PersistentVolume: volumes,
    PersistentVolumeClaim: volumes.map(({ metadata }) =>
      boundClaim(`of-${metadata!.name}`, '1Gi', metadata!.name!),
    ),
  };
}

interface Case {
  readonly name: string;
  readonly volumes: readonly PersistentVolume[];
  readonly chosen: string;
  readonly score: number;
}

const cases: readonly Case[] = [
  {
    name: 'a node that a volume prefers is chosen, with the full score',
    volumes: [preferring('v1', [{ weight: 1, rack: 'r2' }])],
    chosen: 'b',
    score: 100,
  },
  {
    name: 'the heavier of two preferences wins',
    volumes: [
      preferring('v1', [
        { weight: 10, rack: 'r2' },
        { weight: 30, rack: 'r3' },
      ]),
    ],
    chosen: 'c',
    score: 100,
  },
  {
    name: 'weights of several volumes add up',
    volumes: [
      preferring('v1', [
        { weight: 40, rack: 'r1' },
        { weight: 30, rack: 'r2' },
      ]),
      preferring('v2', [{ weight: 30, rack: 'r2' }]),
    ],
    chosen: 'b',
    score: 100,
  },
  {
    name: 'a preference for a node that does not exist has no effect',
    volumes: [preferring('v1', [{ weight: 50, rack: 'r9' }])],
    chosen: 'a',
    score: 0,
  },
  {
    name: 'a weight of zero is not a preference',
    volumes: [preferring('v1', [{ weight: 0, rack: 'r2' }])],
    chosen: 'a',
    score: 0,
  },
  {
    name: 'a weight above 100 is not a preference',
    volumes: [preferring('v1', [{ weight: 101, rack: 'r2' }])],
    chosen: 'a',
    score: 0,
  },
  {
    name: 'an annotation that is not JSON is not a preference',
    volumes: [preferring('v1', 'rack r2, please')],
    chosen: 'a',
    score: 0,
  },
];

test.each(byName(cases))('%s', (_, { volumes, chosen, score }) => {
  const claims = volumes.map(({ metadata }) => `of-${metadata!.name}`);
  const answer = plan(pod('p', claims), clusterOf(bound(...volumes)), { nowMs: 0, rules: volumeRules });
  expect(answer).toMatchObject({ kind: 'placement', node: chosen, score });
});

test('a preference never refuses a node', () => {
  const index = clusterOf({ ...bound(preferring('v1', [{ weight: 100, rack: 'r9' }])), Node: [nodes[0]!] });
  expect(planOutcome(index, pod('p', ['of-v1']))).toMatchObject({ node: 'a' });
});

test('a volume that the pod would get counts like one that it already has', () => {
  const index = clusterOf({
    Node: nodes,
    StorageClass: [storageClass('local')],
    PersistentVolume: [preferring('v1', [{ weight: 5, rack: 'r3' }], 'Available')],
    PersistentVolumeClaim: [claim('data', '1Gi')],
  });
  expect(planOutcome(index, pod('p', ['data']))).toEqual({ node: 'c', volumes: { data: 'v1' }, pools: {} });
});

test('the upstream profile ignores preferences of volumes', () => {
  const index = clusterOf(bound(preferring('v1', [{ weight: 100, rack: 'r2' }])), upstreamProfile);
  expect(planOutcome(index, pod('p', ['of-v1']))).toMatchObject({ node: 'a' });
});

describe('malformed preferences cause a warning', () => {
  test.each([
    ['not a list', '{"weight": 1}', /must be a JSON list/],
    ['a weight that is not a number', '[{"weight": "1"}]', /\[0\]\.weight: must be an integer from 1 to 100/],
    [
      'a term with an unknown operator',
      '[{"weight": 1, "preference": {"matchExpressions": [{"key": "rack", "operator": "Near"}]}}]',
      /preference.*operator/,
    ],
    [
      'too many terms',
      JSON.stringify(Array(65).fill({ weight: 1 })),
      /has 65 terms; only the first 64 are used/,
    ],
  ])('%s', (_, text, problem) => {
    const { warnings } = clusterOf({}).upsert('PersistentVolume', preferring('v1', text));
    expect(warnings.map((warning) => warning.problem)).toContainEqual(expect.stringMatching(problem));
    expect(warnings[0]).toMatchObject({ kind: 'PersistentVolume', key: 'v1' });
  });
});

test('a preference is evaluated again when a node is relabelled', () => {
  const index = clusterOf(bound(preferring('v1', [{ weight: 1, rack: 'r9' }])), stowageProfile);
  expect(planOutcome(index, pod('p', ['of-v1']))).toMatchObject({ node: 'a' });
  index.upsert('Node', {
    metadata: { name: 'c', resourceVersion: '2', labels: { [hostname]: 'c', rack: 'r9' } },
  });
  expect(planOutcome(index, pod('p', ['of-v1']))).toMatchObject({ node: 'c' });
});
