import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { byName, node, zone } from '../../testing/objects.ts';
import { ruleAnswers } from '../../testing/rule-answers.ts';
import { podWithSpec } from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { topologySpreadRule } from './rule.ts';

const nodes = [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'a' }), node('n3', { [zone]: 'b' })];

function pod(name: string, nodeName = '', owner?: string): Pod {
  const base = podWithSpec(nodeName === '' ? {} : { nodeName }, name);
  const [kind, ownerName] = owner?.split('/') ?? [];
  return {
    ...base,
    metadata: {
      ...base.metadata,
      labels: { app: 'web' },
      ...(owner && { ownerReferences: [{ kind: kind!, name: ownerName!, uid: 'uid', controller: true }] }),
    },
  };
}

const web = { app: 'web' };
const service = { metadata: { namespace: 'default', name: 'web' }, spec: { selector: web } };
const set = { metadata: { namespace: 'default', name: 'web' }, spec: { selector: { matchLabels: web } } };
const there = [pod('a', 'n1'), pod('b', 'n1'), pod('c', 'n1')];
/** Three pods on n1: they count for the node and for its zone. */
const spreadOut = { n1: 40, n2: 73, n3: 100 };

const indifferent = { n1: 0, n2: 0, n3: 0 };

const cases: readonly {
  readonly name: string;
  readonly cluster: ClusterObjects;
  readonly asking: Pod;
  readonly answers: Record<string, number>;
}[] = [
  {
    name: 'is not spread without a service or controller',
    cluster: {},
    asking: pod('p'),
    answers: indifferent,
  },
  {
    name: 'is spread over nodes and zones with the pods of its service',
    cluster: { Service: [service] },
    asking: pod('p'),
    answers: spreadOut,
  },
  {
    name: 'is not spread by services that select other pods, or none, or are in another namespace',
    cluster: {
      Service: [
        { metadata: { namespace: 'default', name: 'db' }, spec: { selector: { app: 'db' } } },
        { metadata: { namespace: 'default', name: 'none' }, spec: {} },
        { metadata: { namespace: 'elsewhere', name: 'web' }, spec: { selector: web } },
      ],
    },
    asking: pod('p'),
    answers: indifferent,
  },
  ...(['ReplicaSet', 'StatefulSet'] as const).map((kind) => ({
    name: `is spread with the pods of its ${kind}`,
    cluster: { [kind]: [set] },
    asking: pod('p', '', `${kind}/web`),
    answers: spreadOut,
  })),
  {
    name: 'is spread with the pods of its ReplicationController',
    cluster: { ReplicationController: [service] },
    asking: pod('p', '', 'ReplicationController/web'),
    answers: spreadOut,
  },
  {
    name: 'is not spread if its owner has another kind',
    cluster: { ReplicaSet: [set] },
    asking: pod('p', '', 'Job/web'),
    answers: indifferent,
  },
];

describe('a pod without constraints', () => {
  test.each(byName(cases))('%s', (_, { cluster, asking, answers }) => {
    const index = clusterOf({ Node: nodes, Pod: there, ...cluster });
    expect(ruleAnswers(index, asking, eraseState(topologySpreadRule))).toEqual(answers);
  });

  test('is spread over nodes even without zones, and an empty zone counts as no zone', () => {
    const bare = [node('n1'), node('n2'), node('n3', { [zone]: '' })];
    const index = clusterOf({ Node: bare, Pod: there, Service: [service] });
    // n3 shares the "zone" of the nodes without one, which has all the pods.
    expect(ruleAnswers(index, pod('p'), eraseState(topologySpreadRule))).toEqual({ n1: 44, n2: 100, n3: 22 });
  });

  test('is no longer spread once its service is gone', () => {
    const index = clusterOf({ Node: nodes, Pod: there, Service: [service] });
    index.remove('Service', 'default/web');
    expect(ruleAnswers(index, pod('p'), eraseState(topologySpreadRule))).toEqual(indifferent);
  });
});
