import fc from 'fast-check';
import type { Node } from '../../../kube/api/core.ts';
import type { CSIDriver, CSINode, StorageClass } from '../../../kube/api/storage.ts';
import { annotations, labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { sometimes, withoutUndefined } from './chance.ts';
import { type Distribution, mixed } from './distribution.ts';
import { rack, zones } from './names.ts';
import { allowedTopologies } from './selectors.ts';

const nodeLabels = fc
  .record({
    hostname: fc.oneof(
      { weight: 8, arbitrary: fc.constant('own') },
      { weight: 1, arbitrary: fc.constant('other') },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
    [wellKnownLabels.zone]: sometimes(80, fc.constantFrom(...zones)),
    [wellKnownLabels.betaZone]: sometimes(10, fc.constantFrom(...zones)),
    [wellKnownLabels.region]: sometimes(10, fc.constantFrom('r1', 'r2')),
    [rack]: sometimes(50, fc.constantFrom('1', '2', '3', 'x', '')),
    'topology.ebs.csi.aws.com/zone': sometimes(20, fc.constantFrom(...zones)),
  })
  .map(withoutUndefined);

export function arbNode(name: string): fc.Arbitrary<Node> {
  return nodeLabels.map(({ hostname, ...rest }) => ({
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: {
        ...rest,
        ...(hostname !== undefined && { [wellKnownLabels.hostname]: hostname === 'own' ? name : 'n1' }),
      },
    },
  }));
}

export function arbCsiNode(name: string): fc.Arbitrary<CSINode> {
  return fc
    .record({
      d1: sometimes(60, fc.constantFrom(0, 1, 2, 3, undefined)),
      d2: sometimes(50, fc.constantFrom(0, 1, 2, undefined)),
      ebs: sometimes(30, fc.constantFrom(0, 1, 2, undefined)),
      migrated: sometimes(30, fc.constant('kubernetes.io/aws-ebs')),
      installed: fc.uniqueArray(fc.constantFrom('d1', 'd2', 'ebs.csi.aws.com'), { maxLength: 3 }),
    })
    .map(({ d1, d2, ebs, migrated, installed }) => {
      const counts: Record<string, number | undefined> = { d1, d2, 'ebs.csi.aws.com': ebs };
      return {
        metadata: {
          name,
          uid: `uid-csinode-${name}`,
          resourceVersion: '1',
          ...(migrated !== undefined && { annotations: { [annotations.migratedPlugins]: migrated } }),
        },
        spec: {
          drivers: installed.map((driver) => ({
            name: driver,
            nodeID: name,
            ...(counts[driver] !== undefined && { allocatable: { count: counts[driver] } }),
          })),
        },
      };
    });
}

export function arbCsiDriver(name: string, distribution: Distribution = mixed): fc.Arbitrary<CSIDriver> {
  return fc
    .record({
      storageCapacity: fc.oneof(
        { weight: distribution.trackingDrivers, arbitrary: fc.constant(true) },
        { weight: 100 - distribution.trackingDrivers, arbitrary: fc.constantFrom(false, undefined) },
      ),
      preventPodSchedulingIfMissing: sometimes(15, fc.boolean()),
    })
    .map((spec) => ({
      metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
      spec: withoutUndefined(spec),
    }));
}

/** Each class name has a fixed provisioner and binding mode, so that the pod's claims cover all combinations. */
export function arbClass(name: string): fc.Arbitrary<StorageClass> {
  const provisioner =
    { dyn: 'd1', dyn2: 'd2', imm: 'd1', ebs: 'kubernetes.io/aws-ebs' }[name] ??
    'kubernetes.io/no-provisioner';
  return sometimes(30, allowedTopologies).map((allowed) => ({
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
    provisioner,
    volumeBindingMode: name === 'imm' ? 'Immediate' : 'WaitForFirstConsumer',
    ...(allowed !== undefined && { allowedTopologies: allowed }),
  }));
}
