/** Tables of cases for attach limits that have the same result under both profiles. */
import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { CSINode } from '../../kube/api/storage.ts';
import { stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from './cluster.ts';
import { verdictOf } from './expect-plan.ts';
import { boundClaim, byName, csiClass, node, pod, storageClass, volume } from './objects.ts';

export const ebs = 'ebs.csi.aws.com';
export const overLimit = '0/1 nodes are available: 1 node(s) exceed max volume count.';

/** Whether a pod fits on node `n1`, which runs `pods`. Drivers provision volumes of the classes `ebs` and `in-tree`. */
export interface LimitCase {
  readonly name: string;
  readonly csiNode?: CSINode;
  readonly disks?: readonly PersistentVolume[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly pods?: readonly Pod[];
  readonly more?: ClusterObjects;
  readonly pod: Pod;
  readonly fits: boolean;
}

export function expectLimitCases(cases: readonly LimitCase[]): void {
  test.each(byName(cases))('%s', (_, entry) => {
    for (const profile of [stowageProfile, upstreamProfile]) {
      const index = clusterOf(objectsOf(entry), profile);
      expect(verdictOf(index, entry.pod)).toBe(entry.fits ? 'fits' : overLimit);
    }
  });
}

function objectsOf({ csiNode, disks = [], claims, pods = [], more }: LimitCase): ClusterObjects {
  return {
    Node: [node('n1')],
    StorageClass: [storageClass('local'), csiClass(ebs, 'ebs'), csiClass('kubernetes.io/aws-ebs', 'in-tree')],
    PersistentVolume: disks,
    PersistentVolumeClaim: claims,
    CSINode: csiNode === undefined ? [] : [csiNode],
    Pod: pods,
    ...more,
  };
}

/** A disk of the driver, bound to the claim of the same name. */
export function disk(name: string, driver = ebs): PersistentVolume {
  return volume(`pv-${name}`, '1Gi', {
    phase: 'Bound',
    spec: { csi: { driver, volumeHandle: `vol-${name}` } },
  });
}

/** The claim that the disk of the same name is bound to. */
export function boundDiskClaim(name: string): PersistentVolumeClaim {
  return boundClaim(name, '1Gi', `pv-${name}`);
}

/** A pod on node `n1`. */
export function podOnNode1(name: string, ...claims: readonly string[]): Pod {
  return pod(name, claims, { nodeName: 'n1' });
}

export function newPod(...claims: readonly string[]): Pod {
  return pod('new', claims);
}
