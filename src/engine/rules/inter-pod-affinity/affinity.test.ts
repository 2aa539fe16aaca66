import { describe, expect, test } from 'vitest';
import type { Affinity, Node, Pod, PodAffinityTerm } from '../../../kube/api/core.ts';
import { readPod } from '../../records/pod-record.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { byName, hostname, node, zone } from '../../testing/objects.ts';
import { ruleAnswers } from '../../testing/rule-answers.ts';
import { expectRuleRefusal, podWithSpec, ruleVerdict } from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { interPodAffinityRule } from './rule.ts';

const rule = eraseState(interPodAffinityRule);
const near = "node(s) didn't match pod affinity rules";
const apart = "node(s) didn't match pod anti-affinity rules";
const refused = "node(s) didn't satisfy existing pods anti-affinity rules";

const web = { matchLabels: { app: 'web' } };
const zones: readonly Node[] = [
  node('n1', { [zone]: 'a' }),
  node('n2', { [zone]: 'a' }),
  node('n3', { [zone]: 'b' }),
];

function term(topologyKey: string, rest: Partial<PodAffinityTerm> = {}): PodAffinityTerm {
  return { labelSelector: web, topologyKey, ...rest };
}

function requiredNear(...terms: PodAffinityTerm[]): Affinity {
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

function requiredAnti(...terms: PodAffinityTerm[]): Affinity {
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

interface PodOptions {
  readonly app?: string;
  readonly namespace?: string;
  readonly affinity?: Affinity;
  readonly isDeleting?: boolean;
  readonly phase?: 'Running' | 'Succeeded';
}

function podOn(name: string, nodeName: string, options: PodOptions = {}): Pod {
  const { app = 'web', namespace = 'default', affinity, isDeleting = false, phase = 'Running' } = options;
  const base = podWithSpec({ ...(nodeName !== '' && { nodeName }), ...(affinity && { affinity }) }, name);
  const metadata = { ...base.metadata, namespace, labels: { app } };
  return {
    ...base,
    metadata: isDeleting ? { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } : metadata,
    status: { phase },
  };
}

function asking(affinity: Affinity, app = 'other'): Pod {
  return podOn('p', '', { app, affinity });
}

interface Case {
  readonly name: string;
  readonly cluster?: ClusterObjects;
  readonly pods: readonly Pod[];
  readonly asking: Pod;
  /** The reason of the refusal, or the score, by node. */
  readonly nodes: Record<string, string | number>;
}

const teamA = { metadata: { name: 'elsewhere', labels: { team: 'a' } } };

const required: readonly Case[] = [
  {
    name: 'affinity accepts the whole domain of a pod that it selects',
    pods: [podOn('w', 'n1')],
    asking: asking(requiredNear(term(zone))),
    nodes: { n1: 0, n2: 0, n3: near },
  },
  {
    name: 'all terms must select the same pod',
    pods: [podOn('w', 'n1'), podOn('d', 'n1', { app: 'db' })],
    asking: asking(
      requiredNear(term(zone), term(hostname, { labelSelector: { matchLabels: { app: 'db' } } })),
    ),
    nodes: { n1: near, n2: near, n3: near },
  },
  {
    name: 'each term counts by its own key',
    pods: [podOn('w', 'n1')],
    asking: asking(requiredNear(term(zone), term(hostname))),
    nodes: { n1: 0, n2: near, n3: near },
  },
  {
    name: 'a pod that selects itself may be the first',
    pods: [],
    asking: asking(requiredNear(term(zone)), 'web'),
    nodes: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'it may not be the first if there is another one',
    pods: [podOn('w', 'n3')],
    asking: asking(requiredNear(term(zone)), 'web'),
    nodes: { n1: near, n2: near, n3: 0 },
  },
  {
    name: 'even the first needs the label',
    pods: [],
    asking: asking(requiredNear(term('rack')), 'web'),
    nodes: { n1: near, n2: near, n3: near },
  },
  {
    name: 'pods of another namespace do not count',
    pods: [podOn('w', 'n1', { namespace: 'elsewhere' })],
    asking: asking(requiredNear(term(zone))),
    nodes: { n1: near, n2: near, n3: near },
  },
  {
    name: 'unless the term names it',
    pods: [podOn('w', 'n1', { namespace: 'elsewhere' })],
    asking: asking(requiredNear(term(hostname, { namespaces: ['elsewhere'] }))),
    nodes: { n1: 0, n2: near, n3: near },
  },
  {
    name: 'or selects it by its labels',
    cluster: { Namespace: [teamA] },
    pods: [podOn('w', 'n1', { namespace: 'elsewhere' })],
    asking: asking(requiredNear(term(hostname, { namespaceSelector: { matchLabels: { team: 'a' } } }))),
    nodes: { n1: 0, n2: near, n3: near },
  },
  {
    name: 'an empty namespace selector means every namespace, known or not',
    pods: [podOn('w', 'n1', { namespace: 'elsewhere' })],
    asking: asking(requiredNear(term(hostname, { namespaceSelector: {} }))),
    nodes: { n1: 0, n2: near, n3: near },
  },
  {
    name: 'no label selector selects no pod, an empty one every pod',
    pods: [podOn('w', 'n1')],
    asking: asking({
      ...requiredNear(term(zone, { labelSelector: {} })),
      ...requiredAnti({ topologyKey: zone }),
    }),
    nodes: { n1: 0, n2: 0, n3: near },
  },
  {
    name: 'a pod that is being deleted still counts, one that is finished does not',
    pods: [podOn('w', 'n1', { isDeleting: true }), podOn('x', 'n3', { phase: 'Succeeded' })],
    asking: asking(requiredNear(term(zone))),
    nodes: { n1: 0, n2: 0, n3: near },
  },
  {
    name: 'anti-affinity refuses the whole domain',
    pods: [podOn('w', 'n1')],
    asking: asking(requiredAnti(term(zone))),
    nodes: { n1: apart, n2: apart, n3: 0 },
  },
  {
    name: 'anti-affinity to a key that the node lacks is not an obstacle',
    pods: [podOn('w', 'n1')],
    asking: asking(requiredAnti(term('rack'))),
    nodes: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'any of the terms refuses',
    pods: [podOn('w', 'n3'), podOn('d', 'n1', { app: 'db' })],
    asking: asking(
      requiredAnti(term(zone), term(hostname, { labelSelector: { matchLabels: { app: 'db' } } })),
    ),
    nodes: { n1: apart, n2: 0, n3: apart },
  },
  {
    name: 'a pod on a node refuses pods that its anti-affinity selects',
    pods: [podOn('d', 'n1', { app: 'db', affinity: requiredAnti(term(zone)) })],
    asking: asking({}, 'web'),
    nodes: { n1: refused, n2: refused, n3: 0 },
  },
  {
    name: 'of its own namespace, unless it selects others by their labels',
    cluster: { Namespace: [{ metadata: { name: 'default', labels: { team: 'a' } } }] },
    pods: [
      podOn('d', 'n1', { namespace: 'elsewhere', affinity: requiredAnti(term(hostname)) }),
      podOn('e', 'n2', {
        namespace: 'elsewhere',
        affinity: requiredAnti(term(hostname, { namespaceSelector: { matchLabels: { team: 'a' } } })),
      }),
    ],
    asking: asking({}, 'web'),
    nodes: { n1: 0, n2: refused, n3: 0 },
  },
  {
    name: 'the first of several reasons is given: affinity, then anti-affinity, then the anti-affinity of other pods',
    pods: [podOn('w', 'n1', { affinity: requiredAnti(term(hostname)) }), podOn('d', 'n3', { app: 'db' })],
    asking: asking(
      {
        ...requiredNear(term(zone)),
        ...requiredAnti(term(hostname, { labelSelector: { matchLabels: { app: 'web' } } })),
      },
      'web',
    ),
    nodes: { n1: apart, n2: 0, n3: near },
  },
];

const softTerm = (weight: number, topologyKey: string) => ({ weight, podAffinityTerm: term(topologyKey) });

const ranked: readonly Case[] = [
  {
    name: 'the best node has 100, the worst 0',
    pods: [podOn('w', 'n1'), podOn('x', 'n1'), podOn('y', 'n3')],
    asking: asking({
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [softTerm(10, hostname)] },
    }),
    nodes: { n1: 100, n2: 0, n3: 50 },
  },
  {
    name: 'anti-affinity counts against a node',
    pods: [podOn('w', 'n1')],
    asking: asking({
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [softTerm(2, zone)] },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [softTerm(5, hostname)] },
    }),
    nodes: { n1: 0, n2: 100, n3: 60 },
  },
  {
    name: 'pods on nodes have preferences of their own, and what they require counts one',
    pods: [
      podOn('w', 'n1', { app: 'db', affinity: requiredNear(term(hostname)) }),
      podOn('x', 'n3', {
        app: 'db',
        affinity: {
          podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [softTerm(4, hostname)] },
        },
      }),
    ],
    asking: asking({}, 'web'),
    nodes: { n1: 25, n2: 0, n3: 100 },
  },
];

describe('pod affinity', () => {
  test.each(byName([...required, ...ranked]))('%s', (_, { cluster, pods, asking: pod, nodes }) => {
    const index = clusterOf({ Node: zones, Pod: pods, ...cluster });
    expect(ruleAnswers(index, pod, rule)).toEqual(nodes);
  });

  test('a pod that is placed but not bound counts, until the reservation is reverted', () => {
    const index = clusterOf({ Node: zones });
    const pod = asking(requiredAnti(term(hostname)));
    index.setAssumedPod('default/w', readPod(podOn('w', 'n2')));
    expect(ruleAnswers(index, pod, rule)).toEqual({ n1: 0, n2: apart, n3: 0 });
    index.setAssumedPod('default/w', undefined);
    expect(ruleAnswers(index, pod, rule)).toEqual({ n1: 0, n2: 0, n3: 0 });
  });

  test('evicting pods helps against anti-affinity, not against affinity', () => {
    const index = clusterOf({ Node: zones, Pod: [podOn('w', 'n1')] });
    const pod = asking({ ...requiredNear(term(zone)), ...requiredAnti(term(zone)) });
    expect([...expectRuleRefusal(rule, index, pod).nodesWherePreemptionMayHelp()]).toEqual(['n1', 'n2']);
  });

  test('the explanation has all obstacles of each node', () => {
    const index = clusterOf({ Node: zones, Pod: [podOn('w', 'n1', { affinity: requiredAnti(term(zone)) })] });
    const pod = asking({ ...requiredNear(term(hostname)), ...requiredAnti(term(zone)) }, 'web');
    const { nodes } = expectRuleRefusal(rule, index, pod).explain();
    expect(nodes.map(({ findings }) => findings.map(({ reason }) => reason))).toEqual([
      ['AntiAffinityNotMet', 'RefusedByNeighbours'],
      ['AffinityNotMet', 'AntiAffinityNotMet', 'RefusedByNeighbours'],
      ['AffinityNotMet'],
    ]);
  });

  test('a malformed selector refuses the pod', () => {
    const bad = term(zone, { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Near' as 'In' }] } });
    const index = clusterOf({ Node: zones });
    expect(ruleVerdict(rule, index, asking(requiredAnti(bad)))).toMatch(
      /parsing pod: spec\.affinity\.podAntiAffinity/,
    );
  });

  test('malformed terms of a pod on a node are ignored', () => {
    const bad = term(zone, { labelSelector: { matchLabels: { app: 7 as unknown as string } } });
    const index = clusterOf({
      Node: zones,
      Pod: [podOn('w', 'n1', { affinity: requiredAnti(bad, term(zone)) })],
    });
    expect(ruleVerdict(rule, index, asking({}, 'web'))).toBe('fits');
  });
});
