import { describe } from 'vitest';
import type { Pod, TopologySpreadConstraint } from '../../../kube/api/core.ts';
import { removed, upserted } from '../../testing/index-events.ts';
import { atVersion, node, zone } from '../../testing/objects.ts';
import { expectRuleWakeCases, nodeWithFields, podWithSpec } from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { topologySpreadRule } from './rule.ts';

function pod(name: string, nodeName: string, app = 'web'): Pod {
  const base = podWithSpec({ nodeName }, name);
  return { ...base, metadata: { ...base.metadata, labels: { app } } };
}

/** The pod is refused if there is only zone a, with one pod: it requires two zones. */
function asking(rest: Partial<TopologySpreadConstraint> = {}): Pod {
  const constraint: TopologySpreadConstraint = {
    maxSkew: 1,
    topologyKey: zone,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'web' } },
    minDomains: 2,
    ...rest,
  };
  const base = podWithSpec({ topologySpreadConstraints: [constraint] });
  return { ...base, metadata: { ...base.metadata, labels: { app: 'web' } } };
}

const cluster = { Node: [node('n1', { [zone]: 'a' })], Pod: [pod('w', 'n1')] };
const deleting = { ...pod('w', 'n1').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('a pod that waits because of a spread constraint', () => {
  expectRuleWakeCases(eraseState(topologySpreadRule), [
    {
      name: 'wakes when one of the pods goes',
      cluster,
      pod: asking(),
      event: removed('Pod', 'default/w'),
      wakes: true,
    },
    {
      name: 'wakes when one of them is being deleted, because it no longer counts',
      cluster,
      pod: asking(),
      event: upserted('Pod', atVersion('2', { ...pod('w', 'n1'), metadata: deleting })),
      wakes: true,
    },
    {
      name: 'wakes when one of them gets other labels',
      cluster,
      pod: asking(),
      event: upserted('Pod', atVersion('2', pod('w', 'n1', 'db'))),
      wakes: true,
    },
    {
      name: 'does not wake when a pod comes that is not selected',
      cluster,
      pod: asking(),
      event: upserted('Pod', pod('d', 'n1', 'db')),
      wakes: false,
    },
    {
      name: 'wakes when a node comes with the label',
      cluster,
      pod: asking(),
      event: upserted('Node', node('n2', { [zone]: 'b' })),
      wakes: true,
    },
    {
      name: 'does not wake when a node comes without it',
      cluster,
      pod: asking(),
      event: upserted('Node', node('n2')),
      wakes: false,
    },
    {
      name: 'wakes when a node gets the label',
      cluster: { ...cluster, Node: [...cluster.Node, node('n2')] },
      pod: asking(),
      event: upserted('Node', atVersion('2', node('n2', { [zone]: 'b' }))),
      wakes: true,
    },
    {
      name: 'wakes when a domain goes away with its node',
      cluster: {
        Node: [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'b' })],
        Pod: [pod('w', 'n1'), pod('v', 'n1'), pod('u', 'n2')],
      },
      pod: asking({ minDomains: 3 }),
      event: removed('Node', 'n2'),
      wakes: true,
    },
    {
      name: 'wakes when a node loses a taint, because it may not have counted before',
      cluster: {
        ...cluster,
        Node: [
          ...cluster.Node,
          nodeWithFields('n2', { spec: { taints: [{ key: 'old', effect: 'NoSchedule' }] } }, { [zone]: 'a' }),
        ],
      },
      pod: asking({ nodeTaintsPolicy: 'Honor' }),
      event: upserted('Node', atVersion('2', node('n2', { [zone]: 'a' }))),
      wakes: true,
    },
    {
      name: 'does not wake when a node changes in ways that do not count',
      cluster,
      pod: asking(),
      event: upserted('Node', atVersion('2', nodeWithFields('n1', { status: {} }, { [zone]: 'a' }))),
      wakes: false,
    },
    {
      name: 'wakes when its own spec changes',
      cluster: { ...cluster, Pod: [...cluster.Pod, asking()] },
      pod: asking(),
      event: upserted('Pod', atVersion('2', asking({ maxSkew: 2 }))),
      wakes: true,
    },
    {
      name: 'does not wake when only its status changes',
      cluster: { ...cluster, Pod: [...cluster.Pod, asking()] },
      pod: asking(),
      event: upserted('Pod', atVersion('2', { ...asking(), status: { phase: 'Pending' } })),
      wakes: false,
    },
    {
      name: 'wakes when the reservation of another pod is reverted',
      cluster,
      pod: asking(),
      event: () => ({ kind: 'Release', volumes: [], pools: [], nodeName: 'n1' }),
      wakes: true,
    },
  ]);
});
