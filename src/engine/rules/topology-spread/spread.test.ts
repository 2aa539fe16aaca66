import { describe, expect, test } from 'vitest';
import type { Node, Pod, PodSpec, TopologySpreadConstraint } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { byName, hostname, node, zone } from '../../testing/objects.ts';
import { ruleAnswers } from '../../testing/rule-answers.ts';
import {
  expectRuleRefusal,
  nodeWithFields,
  podWithSpec,
  ruleVerdict,
} from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { topologySpreadRule } from './rule.ts';

const rule = eraseState(topologySpreadRule);
const skewed = "node(s) didn't match pod topology spread constraints";
const unlabelled = `${skewed} (missing required label)`;

const nodes: readonly Node[] = [
  node('n1', { [zone]: 'a' }),
  node('n2', { [zone]: 'a' }),
  node('n3', { [zone]: 'b' }),
];

const web = { matchLabels: { app: 'web' } };

function hard(topologyKey: string, rest: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint {
  return { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web, ...rest };
}

function labelled(base: Pod, metadata: Pod['metadata']): Pod {
  return { ...base, metadata: { ...base.metadata, labels: { app: 'web' }, ...metadata } };
}

/** The given number of pods of app `web` on each node. */
function podsOnNodes(counts: Record<string, number>, metadata: Pod['metadata'] = {}): Pod[] {
  return Object.entries(counts).flatMap(([nodeName, count]) =>
    Array.from({ length: count }, (_, at) =>
      labelled(podWithSpec({ nodeName }, `w-${nodeName}-${at}-${metadata.namespace ?? ''}`), metadata),
    ),
  );
}

function spread(constraints: readonly TopologySpreadConstraint[], spec: PodSpec = {}): Pod {
  return labelled(podWithSpec({ topologySpreadConstraints: constraints, ...spec }), {});
}

interface Case {
  readonly name: string;
  readonly nodes?: readonly Node[];
  readonly pods: readonly Pod[];
  readonly asking: Pod;
  readonly answers: Record<string, string | number>;
}

const cases: readonly Case[] = [
  {
    name: 'a domain may have at most maxSkew more pods than the domain with the fewest',
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(zone)]),
    answers: { n1: skewed, n2: skewed, n3: 0 },
  },
  {
    name: 'a larger maxSkew allows more',
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(zone, { maxSkew: 2 })]),
    answers: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'a pod that its own constraint does not select adds nothing',
    pods: podsOnNodes({ n1: 1 }),
    asking: labelled(spread([hard(zone)]), { labels: { app: 'db' } }),
    answers: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'the first constraint that fails gives the reason',
    nodes: [...nodes, node('n4')],
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(hostname), hard(zone)]),
    answers: { n1: skewed, n2: skewed, n3: 0, n4: unlabelled },
  },
  {
    name: 'nodes that lack any of the labels do not count for any constraint',
    nodes: [node('n1', { [zone]: 'a' }), node('n2')],
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(hostname), hard(zone)]),
    answers: { n1: 0, n2: unlabelled },
  },
  {
    name: 'pods of other namespaces, and pods that are being deleted, are not counted',
    pods: [
      ...podsOnNodes({ n1: 3 }, { namespace: 'elsewhere' }),
      ...podsOnNodes({ n2: 3 }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ],
    asking: spread([hard(zone)]),
    answers: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'with fewer domains than minDomains the minimum is 0',
    pods: podsOnNodes({ n1: 1, n3: 1 }),
    asking: spread([hard(zone, { minDomains: 3 })]),
    answers: { n1: skewed, n2: skewed, n3: skewed },
  },
  {
    name: 'with as many it does not',
    pods: podsOnNodes({ n1: 1, n3: 1 }),
    asking: spread([hard(zone, { minDomains: 2 })]),
    answers: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'nodes that the pod does not select do not count',
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(zone)], { nodeSelector: { [zone]: 'a' } }),
    answers: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'unless the constraint says so',
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(zone, { nodeAffinityPolicy: 'Ignore' })], { nodeSelector: { [zone]: 'a' } }),
    answers: { n1: skewed, n2: skewed, n3: 0 },
  },
  {
    name: 'tainted nodes count',
    nodes: [
      ...nodes.slice(0, 2),
      nodeWithFields('n3', { spec: { taints: [{ key: 'old', effect: 'NoSchedule' }] } }, { [zone]: 'b' }),
    ],
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(zone)]),
    answers: { n1: skewed, n2: skewed, n3: 0 },
  },
  {
    name: 'unless the constraint honours taints and the pod does not tolerate them',
    nodes: [
      ...nodes.slice(0, 2),
      nodeWithFields('n3', { spec: { taints: [{ key: 'old', effect: 'NoSchedule' }] } }, { [zone]: 'b' }),
    ],
    pods: podsOnNodes({ n1: 1 }),
    asking: spread([hard(zone, { nodeTaintsPolicy: 'Honor' })]),
    answers: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'an empty selector counts no pod, so there is never a skew',
    pods: podsOnNodes({ n1: 5 }),
    asking: spread([hard(zone, { labelSelector: {} })]),
    answers: { n1: 0, n2: 0, n3: 0 },
  },
  {
    name: 'matchLabelKeys count only pods with the same values',
    pods: [
      ...podsOnNodes({ n1: 1 }, { labels: { app: 'web', hash: '1' } }),
      ...podsOnNodes({ n3: 2 }, { labels: { app: 'web', hash: '2' } }),
    ],
    asking: labelled(spread([hard(zone, { matchLabelKeys: ['hash', 'none'] })]), {
      labels: { app: 'web', hash: '1' },
    }),
    answers: { n1: skewed, n2: skewed, n3: 0 },
  },
  {
    name: 'soft constraints score the domain with fewer pods higher',
    pods: podsOnNodes({ n1: 2, n3: 1 }),
    asking: spread([hard(zone, { whenUnsatisfiable: 'ScheduleAnyway' })]),
    answers: { n1: 33, n2: 33, n3: 100 },
  },
  {
    name: 'a node without the label scores lowest',
    nodes: [...nodes, node('n4')],
    pods: podsOnNodes({ n1: 2, n3: 1 }),
    asking: spread([hard(zone, { whenUnsatisfiable: 'ScheduleAnyway' })]),
    answers: { n1: 33, n2: 33, n3: 100, n4: 0 },
  },
  {
    name: 'without any pods all nodes score 100',
    pods: [],
    asking: spread([hard(zone, { whenUnsatisfiable: 'ScheduleAnyway' })]),
    answers: { n1: 100, n2: 100, n3: 100 },
  },
];

describe('topology spread', () => {
  test.each(byName(cases))('%s', (_, { nodes: given = nodes, pods, asking, answers }) => {
    expect(ruleAnswers(clusterOf({ Node: given, Pod: pods }), asking, rule)).toEqual(answers);
  });

  test('a deleted node no longer counts as an empty domain', () => {
    const index = clusterOf({ Node: nodes, Pod: podsOnNodes({ n1: 1 }) });
    const asking = spread([hard(zone)]);
    expect(ruleAnswers(index, asking, rule)).toEqual({ n1: skewed, n2: skewed, n3: 0 });
    index.remove('Node', 'n3');
    expect(ruleAnswers(index, asking, rule)).toEqual({ n1: 0, n2: 0 });
  });

  test('evicting pods helps against skew, not against a missing label', () => {
    const index = clusterOf({ Node: [...nodes.slice(0, 2), node('n4')], Pod: podsOnNodes({ n1: 1, n2: 1 }) });
    const asking = spread([hard(zone, { minDomains: 2 })]);
    const refusal = expectRuleRefusal(rule, index, asking);
    expect(refusal.message).toBe(`0/3 nodes are available: 1 ${unlabelled}, 2 ${skewed}.`);
    expect([...refusal.nodesWherePreemptionMayHelp()]).toEqual(['n1', 'n2']);
    expect(refusal.explain().nodes[0]!.findings[0]!.margin).toEqual({
      unit: 'resource',
      resource: `skew over ${zone}`,
      needed: 3,
      free: 1,
    });
  });

  test('a malformed selector refuses the pod', () => {
    const bad = hard(zone, { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Near' as 'In' }] } });
    expect(ruleVerdict(rule, clusterOf({ Node: nodes }), spread([bad]))).toMatch(
      /obtaining pod's hard topology spread constraints: spec\.topologySpreadConstraints\[0\]/,
    );
  });
});
