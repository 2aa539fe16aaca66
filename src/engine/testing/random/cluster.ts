/**
 * Random clusters, small enough for the oracle and dense with coincidences: few names, few sizes, many ties, and a little of
 * everything that objects get wrong in real life.
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

/** The time that random expiry times lie around. */
export const randomNowMs = Date.parse('2026-01-01T00:00:00Z');

/** Every kind is there, if only as an empty list. */
export type RandomObjects = Required<Pick<ClusterObjects, StorageKind>>;

export interface RandomCluster {
  readonly objects: RandomObjects;
  readonly pod: Pod;
}

export function arbObjects(flavour: Distribution): fc.Arbitrary<RandomObjects> {
  return looseObjects(flavour).map((objects) => ({
    ...objects,
    PersistentVolume: objects.PersistentVolume.map((volume) =>
      volumeAsBound(volume, objects.PersistentVolumeClaim),
    ),
  }));
}

/** A volume that a claim is bound to says so itself; who else it might say it to stays random. */
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

function looseObjects(flavour: Distribution): fc.Arbitrary<RandomObjects> {
  return fc.record({
    Node: present(nodeNames, 50, arbNode),
    PersistentVolume: present(volumeNames, flavour.volumes, (name) => arbVolume(name, flavour)),
    PersistentVolumeClaim: fc
      .tuple(
        present(claimNames, 98, (name) => arbClaim(name, flavour)),
        present(otherClaimNames, 60, (name) => arbClaim(name, { ...flavour, pinnedClaims: 50 })),
        sometimes(90, arbEphemeralClaim(flavour)),
      )
      .map(([own, others, ephemeral]) => [
        ...own,
        ...others,
        ...(ephemeral === undefined ? [] : [ephemeral]),
      ]),
    StorageClass: present(classNames, 98, arbClass),
    CSIDriver: present([...drivers, 'ebs.csi.aws.com'], 85, (name) => arbCsiDriver(name, flavour)),
    CSINode: present(nodeNames, flavour.attachLimits, arbCsiNode),
    CSIStorageCapacity: present(named('cap', 6), flavour.pools, (name) => arbCapacity(name, flavour)),
    DriverCapacity: present(drivers, 30, (name) => arbDriverCapacity(name, flavour)),
    VolumeAttachment: present(named('va', 3), 30, arbAttachment),
    Pod: present(named('other', 3), 35, arbOtherPod),
  });
}

/** Those of the names that are there, each as drawn. */
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
  ...distributions.map((flavour) => fc.record({ objects: arbObjects(flavour), pod: arbPod })),
);
