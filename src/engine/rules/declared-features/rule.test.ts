import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { upserted } from '../../testing/index-events.ts';
import { atVersion, byName, node } from '../../testing/objects.ts';
import { expectSameAsOracle } from '../../testing/rule-checks/expect-same-as-oracle.ts';
import {
  expectRuleRefusal,
  expectRuleWakeCases,
  nodeWithFields,
  podWithSpec,
  ruleVerdict,
} from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { declaredFeaturesRule } from './rule.ts';

const rule = eraseState(declaredFeaturesRule);
const refused = "0/1 nodes are available: 1 node(s) didn't match Pod's required features.";
const restartAll = 'RestartAllContainersOnContainerExits';
const hostNetworkUsers = 'UserNamespacesHostNetworkSupport';

function able(name: string, ...declaredFeatures: string[]): Node {
  return nodeWithFields(name, { status: { declaredFeatures } });
}

const restarting = [{ name: 'c', restartPolicyRules: [{ action: 'RestartAllContainers' }] }];

interface Case {
  readonly name: string;
  readonly node: Node;
  readonly spec: Pod['spec'];
  readonly says: string;
}

describe('a pod', () => {
  const cases: readonly Case[] = [
    { name: 'without special needs fits any node', node: node('n1'), spec: {}, says: 'fits' },
    {
      name: 'that restarts all containers needs a node with the feature',
      node: able('n1', hostNetworkUsers),
      spec: { containers: restarting },
      says: refused,
    },
    {
      name: 'with the rule in an init container needs it too',
      node: node('n1'),
      spec: { initContainers: restarting },
      says: refused,
    },
    {
      name: 'fits such a node',
      node: able('n1', 'Other', restartAll),
      spec: { containers: restarting },
      says: 'fits',
    },
    {
      name: 'that restarts one container needs no feature',
      node: node('n1'),
      spec: { containers: [{ restartPolicyRules: [{ action: 'Restart' }] }] },
      says: 'fits',
    },
    {
      name: "with the host's network and a user namespace of its own needs a node with the feature",
      node: able('n1', restartAll),
      spec: { hostNetwork: true, hostUsers: false },
      says: refused,
    },
    {
      name: "with the host's network and the host's users needs no feature",
      node: node('n1'),
      spec: { hostNetwork: true, hostUsers: true },
      says: 'fits',
    },
    {
      name: 'needs all features',
      node: able('n1', restartAll),
      spec: { hostNetwork: true, hostUsers: false, containers: restarting },
      says: refused,
    },
    {
      name: 'with malformed rules needs no feature',
      node: node('n1'),
      spec: { containers: [{ restartPolicyRules: 7 }, 'x', null] } as unknown as Pod['spec'],
      says: 'fits',
    },
  ];
  test.each(byName(cases))('%s', (_, { node: only, spec, says }) => {
    expect(ruleVerdict(rule, clusterOf({ Node: [only] }), podWithSpec(spec))).toBe(says);
  });

  test('gets a message that counts the nodes', () => {
    const refusal = expectRuleRefusal(
      rule,
      clusterOf({ Node: [node('n1')] }),
      podWithSpec({ containers: restarting }),
    );
    expect(refusal.explain().nodes[0]!.findings).toMatchObject([{ reason: 'FeatureNotDeclared' }]);
  });
});

describe('a pod that was refused', () => {
  const waiting = { cluster: { Node: [node('n1')] }, pod: podWithSpec({ containers: restarting }) };
  expectRuleWakeCases(rule, [
    {
      ...waiting,
      name: 'is woken when its node declares the feature',
      event: upserted('Node', atVersion('2', able('n1', restartAll))),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken when it declares another feature',
      event: upserted('Node', atVersion('2', able('n1', hostNetworkUsers))),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is woken by a node with the feature',
      event: upserted('Node', able('n2', restartAll)),
      wakes: true,
    },
    { ...waiting, name: 'is not woken by another', event: upserted('Node', node('n2')), wakes: false },
  ]);
});

test('it agrees with a simple reference implementation', () => {
  expectSameAsOracle(rule, (model, asking) => {
    const { containers = [], initContainers = [], hostNetwork, hostUsers } = asking.spec ?? {};
    const restarts = JSON.stringify([containers, initContainers]).includes('RestartAllContainers');
    const needed = [
      ...(restarts ? [restartAll] : []),
      ...(hostNetwork === true && hostUsers === false ? [hostNetworkUsers] : []),
    ];
    const unable = model
      .nodes()
      .filter(({ status }) => !needed.every((feature) => status?.declaredFeatures?.includes(feature)));
    return {
      refusals: [],
      refused: Object.fromEntries(unable.map(({ metadata }) => [metadata!.name!, ['FeatureNotDeclared']])),
      scores: {},
    };
  });
});
