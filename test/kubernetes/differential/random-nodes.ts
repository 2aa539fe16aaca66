/** Random valid nodes. */
import fc from 'fast-check';
import { sometimes, withoutUndefined } from '../../../src/engine/testing/random/chance.ts';
import { rack, zones } from '../../../src/engine/testing/random/names.ts';
import type { Node, Taint } from '../../../src/kube/api/core.ts';
import { labels } from '../../../src/kube/well-known.ts';
import { feature, gpu, rare } from './names.ts';
import type { Theme } from './themes.ts';

const arbTaints = fc.uniqueArray(
  fc.constantFrom<Taint>(
    { key: 'old', value: 'yes', effect: 'NoSchedule' },
    { key: 'old', value: 'no', effect: 'NoExecute' },
    { key: 'odd', effect: 'NoExecute' },
    { key: 'odd', effect: 'PreferNoSchedule' },
    { key: 'size', value: '5', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
  ),
  { minLength: 1, maxLength: 2, selector: ({ key, effect }) => `${key} ${effect}` },
);

const arbLabels = (name: string) =>
  fc
    .record({
      [labels.hostname]: fc.constantFrom(name, name, name, name, name, name, name, 'n1', undefined),
      [labels.zone]: sometimes(80, fc.constantFrom(...zones)),
      [labels.betaZone]: sometimes(10, fc.constantFrom(...zones)),
      [labels.region]: sometimes(15, fc.constantFrom('r1', 'r2')),
      [labels.betaRegion]: sometimes(5, fc.constantFrom('r1', 'r2')),
      [rack]: sometimes(50, fc.constantFrom('1', '2', '3', 'x', '')),
      'topology.ebs.csi.aws.com/zone': sometimes(20, fc.constantFrom(...zones)),
      'topology.gke.io/zone': sometimes(20, fc.constantFrom(...zones)),
      'topology.cinder.csi.openstack.org/zone': sometimes(15, fc.constantFrom(...zones)),
    })
    .map(withoutUndefined);

const arbAllocatable = fc
  .record({
    cpu: sometimes(98, fc.constantFrom('2', '4', '4', '8', '8', '3900m')),
    memory: sometimes(98, fc.constantFrom('4Gi', '8Gi', '7910184Ki')),
    pods: fc.constantFrom('0', '1', '2', '4', '110', '110', '110', '110', '110', '110'),
    'ephemeral-storage': sometimes(70, fc.constantFrom('4Gi', '20Gi')),
    [gpu]: sometimes(40, fc.constantFrom('0', '1', '2')),
    [rare]: sometimes(10, fc.constant('1')),
    'hugepages-2Mi': sometimes(30, fc.constant('4Mi')),
    'attachable-volumes-aws-ebs': sometimes(5, fc.constant('1')),
  })
  .map(withoutUndefined);

export function arbNode(name: string, theme: Theme): fc.Arbitrary<Node> {
  return fc
    .record({
      labels: arbLabels(name),
      allocatable: arbAllocatable,
      taints: sometimes(Math.round(theme.nodes / 3), arbTaints),
      unschedulable: sometimes(Math.round(theme.nodes / 6), fc.constant(true)),
      features: sometimes(40, fc.constant([feature])),
      deletionTimestamp: sometimes(2, fc.constant('2026-01-01T00:00:00Z')),
    })
    .map(({ labels: own, allocatable, taints, unschedulable, features, deletionTimestamp }) => ({
      metadata: withoutUndefined({ name, labels: own, deletionTimestamp }),
      spec: withoutUndefined({ taints, unschedulable }),
      status: withoutUndefined({
        allocatable,
        capacity: allocatable,
        conditions: [{ type: 'Ready', status: 'True' as const }],
        declaredFeatures: features,
      }),
    }));
}
