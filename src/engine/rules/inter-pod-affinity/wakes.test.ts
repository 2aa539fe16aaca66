import { describe } from 'vitest';
import type { Affinity, Pod, PodAffinityTerm } from '../../../kube/api/core.ts';
import { removed, upserted } from '../../testing/index-events.ts';
import { atVersion, hostname, node, zone } from '../../testing/objects.ts';
import { expectRuleWakeCases, podWithSpec } from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { interPodAffinityRule } from './rule.ts';

const nodes = [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'a' })];

function terms(rest: Partial<PodAffinityTerm> = {}): readonly PodAffinityTerm[] {
  return [{ labelSelector: { matchLabels: { app: 'web' } }, topologyKey: zone, ...rest }];
}

function near(rest?: Partial<PodAffinityTerm>): Affinity {
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms(rest) } };
}

function apart(rest?: Partial<PodAffinityTerm>): Affinity {
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms(rest) } };
}

function pod(name: string, app: string, nodeName: string, affinity: Affinity = {}): Pod {
  const base = podWithSpec({ affinity, ...(nodeName !== '' && { nodeName }) }, name);
  return { ...base, metadata: { ...base.metadata, labels: { app } } };
}

function elsewhere(base: Pod): Pod {
  return { ...base, metadata: { ...base.metadata, namespace: 'elsewhere' } };
}

const web = pod('w', 'web', 'n1');
const lonely = pod('p', 'other', '', near());
const shy = pod('p', 'other', '', apart());
const guard = pod('g', 'guard', 'n1', apart());
const plain = pod('p', 'web', '');

describe('a pod that waits because of affinity', () => {
  expectRuleWakeCases(eraseState(interPodAffinityRule), [
    {
      name: 'wakes when a pod comes that its affinity selects',
      cluster: { Node: nodes },
      pod: lonely,
      event: upserted('Pod', web),
      wakes: true,
    },
    {
      name: 'does not wake when that pod has no node yet',
      cluster: { Node: nodes },
      pod: lonely,
      event: upserted('Pod', pod('w', 'web', '')),
      wakes: false,
    },
    {
      name: 'does not wake when another pod comes',
      cluster: { Node: nodes },
      pod: lonely,
      event: upserted('Pod', pod('d', 'db', 'n1')),
      wakes: false,
    },
    {
      name: 'wakes when the pod goes that its anti-affinity selects',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: removed('Pod', 'default/w'),
      wakes: true,
    },
    {
      name: 'wakes when that pod gets other labels',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: upserted('Pod', atVersion('2', pod('w', 'db', 'n1'))),
      wakes: true,
    },
    {
      name: 'does not wake when that pod changes in other ways',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: upserted('Pod', atVersion('2', { ...web, status: { phase: 'Running' } })),
      wakes: false,
    },
    {
      name: 'wakes when the pod goes whose anti-affinity selects it',
      cluster: { Node: nodes, Pod: [guard] },
      pod: plain,
      event: removed('Pod', 'default/g'),
      wakes: true,
    },
    {
      name: 'wakes when that pod is finished',
      cluster: { Node: nodes, Pod: [guard] },
      pod: plain,
      event: upserted('Pod', atVersion('2', { ...guard, status: { phase: 'Succeeded' } })),
      wakes: true,
    },
    {
      name: 'wakes when the last matching pod goes, because it may then be the first',
      cluster: {
        Node: [node('n1', { [zone]: 'a' }), node('n2')],
        Pod: [pod('w', 'web', 'n1', apart({ topologyKey: hostname }))],
      },
      pod: pod('p', 'web', '', near()),
      event: removed('Pod', 'default/w'),
      wakes: true,
    },
    {
      name: 'wakes when the node of a pod that excludes it goes',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: removed('Node', 'n1'),
      wakes: true,
    },
    {
      name: 'wakes when a node moves to another domain',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: upserted('Node', atVersion('2', node('n2', { [zone]: 'b' }))),
      wakes: true,
    },
    {
      name: 'wakes when a node moves out of the domain of a pod whose anti-affinity selects it',
      cluster: { Node: nodes, Pod: [guard] },
      pod: plain,
      event: upserted('Node', atVersion('2', node('n2', { [zone]: 'b' }))),
      wakes: true,
    },
    {
      name: 'does not wake when a node changes in other ways',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: upserted('Node', atVersion('2', node('n2', { [zone]: 'a', disk: 'ssd' }))),
      wakes: false,
    },
    {
      name: 'wakes when a namespace gets the label that it selects by',
      cluster: { Node: nodes, Pod: [elsewhere(web)] },
      pod: pod('p', 'other', '', near({ namespaceSelector: { matchLabels: { team: 'a' } } })),
      event: upserted('Namespace', { metadata: { name: 'elsewhere', labels: { team: 'a' } } }),
      wakes: true,
    },
    {
      name: 'does not wake when a namespace changes that no term selects',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: upserted('Namespace', { metadata: { name: 'elsewhere', labels: { team: 'a' } } }),
      wakes: false,
    },
    {
      name: 'wakes when it gets other labels itself',
      cluster: { Node: nodes, Pod: [guard, plain] },
      pod: plain,
      event: upserted('Pod', atVersion('2', pod('p', 'other', ''))),
      wakes: true,
    },
    {
      name: 'does not wake when only its status changes',
      cluster: { Node: nodes, Pod: [guard, plain] },
      pod: plain,
      event: upserted('Pod', atVersion('2', { ...plain, status: { phase: 'Pending' } })),
      wakes: false,
    },
    {
      name: 'wakes when the reservation of another pod is reverted',
      cluster: { Node: nodes, Pod: [web] },
      pod: shy,
      event: () => ({ kind: 'Release', volumes: [], pools: [], nodeName: 'n1' }),
      wakes: true,
    },
  ]);
});
