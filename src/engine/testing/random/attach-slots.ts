/** Random clusters with very few attach slots: every driver is limited on every node, and other pods use slots. */
import fc from 'fast-check';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import { boundClaim, claim, csiNode, node, storageClass, volume } from '../objects.ts';
import { sometimes } from './chance.ts';
import type { RandomObjects } from './cluster.ts';
import { claimNames, drivers, named, otherClaimNames } from './names.ts';
import { arbCsiDriver } from './nodes.ts';
import { arbAttachment, arbOtherPod } from './pods.ts';

const nodeNames = ['n1', 'n2', 'n3'];
const provisioners: Readonly<Record<string, string>> = {
  static: 'kubernetes.io/no-provisioner',
  dyn: 'd1',
  dyn2: 'd2',
  ebs: 'kubernetes.io/aws-ebs',
};

const sources = fc.oneof(
  fc
    .tuple(fc.constantFrom(...drivers), fc.constantFrom('h1', 'h2', 'h3', 'h4'))
    .map(([driver, volumeHandle]) => ({ csi: { driver, volumeHandle } })),
  fc.constantFrom('vol-1', 'vol-2').map((volumeID) => ({ awsElasticBlockStore: { volumeID } })),
);

function arbAttachable(name: string) {
  return sources.map((spec) => volume(name, '2Gi', { className: 'static', spec }));
}

function arbClaim(name: string): fc.Arbitrary<PersistentVolumeClaim> {
  return fc.oneof(
    fc
      .constantFrom('v1', 'v2', 'v3', 'v4')
      .map((bound) => boundClaim(name, '1Gi', bound, { className: 'static' })),
    fc.constantFrom(...Object.keys(provisioners)).map((className) => claim(name, '1Gi', { className })),
  );
}

const limits = fc.constantFrom(0, 1, 1, 2);

function arbLimits(name: string) {
  return fc
    .record({ d1: limits, d2: limits, ebs: limits, isMigrated: fc.boolean() })
    .map(({ d1, d2, ebs, isMigrated }) =>
      csiNode(
        name,
        { d1, d2, 'ebs.csi.aws.com': ebs },
        isMigrated ? { annotations: { [annotations.migratedPlugins]: 'kubernetes.io/aws-ebs' } } : {},
      ),
    );
}

function most<T>(names: readonly string[], arbitrary: (name: string) => fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc
    .tuple(...names.map((name) => sometimes(90, arbitrary(name))))
    .map((items) => items.filter((item) => item !== undefined));
}

export const arbFewSlots: fc.Arbitrary<RandomObjects> = fc.record({
  Node: most(nodeNames, (name) => fc.constant(node(name))),
  PersistentVolume: most(named('v', 4), arbAttachable),
  PersistentVolumeClaim: most([...claimNames, ...otherClaimNames], arbClaim),
  StorageClass: most(Object.keys(provisioners), (name) =>
    fc.constant(storageClass(name, { provisioner: provisioners[name]! })),
  ),
  CSIDriver: most(drivers, (name) => arbCsiDriver(name)),
  CSINode: most(nodeNames, arbLimits),
  CSIStorageCapacity: fc.constant([]),
  DriverCapacity: fc.constant([]),
  VolumeAttachment: most(named('va', 3), arbAttachment),
  Pod: most(named('other', 4), arbOtherPod),
});
