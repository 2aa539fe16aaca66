/**
 * Random clusters, small enough for the oracle and dense with special cases: few names, few sizes, many ties, and some of every defect
 * that real objects have.
 */
import fc from 'fast-check';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { ClusterObjects, StorageKind } from '../cluster.ts';
import { sometimes } from './chance.ts';
import { arbClaim } from './claims.ts';
import { type Distribution, distributions } from './distribution.ts';
import { claimNames, classNames, drivers, named, nodeNames, otherClaimNames, volumeNames } from './names.ts';
import { arbClass, arbCsiDriver, arbCsiNode, arbNode } from './nodes.ts';
import { arbAttachment, arbEphemeralClaim, arbOtherPod, arbPod } from './pods.ts';
import { arbCapacity, arbDriverCapacity } from './pools.ts';
import { arbVolume } from './volumes.ts';

/** Random expiry times are shortly before and after this time. */
export const randomNowMs = Date.parse('2026-01-01T00:00:00Z');

/** Every kind has a list, which may be empty. */
export type RandomObjects = Required<Pick<ClusterObjects, StorageKind>>;

export interface RandomCluster {
  readonly objects: RandomObjects;
  readonly pod: Pod;
}

export function arbObjects(distribution: Distribution): fc.Arbitrary<RandomObjects> {
  return independentObjects(distribution).map((objects) => ({
    ...objects,
    PersistentVolume: objects.PersistentVolume.map((volume) =>
      volumeAsBound(volume, objects.PersistentVolumeClaim),
    ),
  }));
}

/** Sets the claimRef of a volume that a claim names, unless it already has a random one. */
function volumeAsBound(volume: PersistentVolume, claims: readonly PersistentVolumeClaim[]): PersistentVolume {
  const owner = claims.find(({ spec }) => spec?.volumeName === volume.metadata?.name);
  if (owner === undefined || volume.spec?.claimRef !== undefined) return volume;
  const { namespace = '', name = '', uid = '' } = owner.metadata ?? {};
  return {
    ...volume,
    spec: { ...volume.spec, claimRef: { namespace, name, uid } },
    status: { phase: 'Bound' },
  };
}

function independentObjects(distribution: Distribution): fc.Arbitrary<RandomObjects> {
  return fc.record({
    Node: present(nodeNames, 50, arbNode),
    PersistentVolume: present(volumeNames, distribution.volumes, (name) => arbVolume(name, distribution)),
    PersistentVolumeClaim: fc
      .tuple(
        present(claimNames, 98, (name) => arbClaim(name, distribution)),
        present(otherClaimNames, 60, (name) => arbClaim(name, { ...distribution, pinnedClaims: 50 })),
        sometimes(90, arbEphemeralClaim(distribution)),
      )
      .map(([own, others, ephemeral]) => [
        ...own,
        ...others,
        ...(ephemeral === undefined ? [] : [ephemeral]),
      ]),
    StorageClass: present(classNames, 98, arbClass),
    CSIDriver: present([...drivers, 'ebs.csi.aws.com'], 85, (name) => arbCsiDriver(name, distribution)),
    CSINode: present(nodeNames, distribution.attachLimits, arbCsiNode),
    CSIStorageCapacity: present(named('cap', 6), distribution.pools, (name) =>
      arbCapacity(name, distribution),
    ),
    DriverCapacity: fc
      .tuple(
        present(drivers, 30, (name) => arbDriverCapacity(name, distribution)),
        present(named('shard', 2), 20, (name) =>
          fc.constantFrom(...drivers).chain((driver) => arbDriverCapacity(name, distribution, driver)),
        ),
      )
      .map((objects) => objects.flat()),
    VolumeAttachment: present(named('va', 3), 30, arbAttachment),
    Pod: present(named('other', 3), 35, arbOtherPod),
  });
}

/** An object for each name, with the given probability. */
function present<T>(
  names: readonly string[],
  percent: number,
  arbitrary: (name: string) => fc.Arbitrary<T>,
): fc.Arbitrary<T[]> {
  return fc
    .tuple(...names.map((name) => sometimes(percent, arbitrary(name))))
    .map((items) => items.filter((item) => item !== undefined));
}

export const arbCluster: fc.Arbitrary<RandomCluster> = fc.oneof(
  ...distributions.map((distribution) => fc.record({ objects: arbObjects(distribution), pod: arbPod })),
);
