import type { Drive, DriveVolume } from '../../kube/stowage/drive.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { areClaimsScaledAway, claimsFor } from '../workloads/stateful-set-claims.ts';
import { ordinalOf } from '../workloads/stateful-set-members.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** Drivers take so long to delete a volume: the pod's controller has created another pod before the bytes are free. */
export const volumeDeletionMs = 100;

/**
 * Removes the claims that end with the pod. Returns what deletes their volumes and the pod's inline volumes on drives, which takes their driver a while;
 * undefined if there are none.
 */
export function removeOwnVolumes(cluster: WhatIfCluster, pod: PodRecord): (() => void) | undefined {
  const claims = ownClaims(cluster, pod);
  if (claims.size === 0 && pod.inlineVolumes.length === 0) return undefined;
  // Volumes that were created for a claim are named after its uid.
  const ended = [...claims].flatMap((key) => {
    const { metadata, spec } = cluster.get('PersistentVolumeClaim', key) ?? {};
    cluster.remove('PersistentVolumeClaim', key);
    return metadata === undefined ? [] : [`pvc-${metadata.uid}`, spec?.volumeName ?? ''];
  });
  return () => {
    const deleted = ended.filter(
      (name) => cluster.get('PersistentVolume', name)?.spec?.persistentVolumeReclaimPolicy !== 'Retain',
    );
    for (const name of deleted) cluster.remove('PersistentVolume', name);
    // A pod of the same name may exist by now.
    dropEntries(cluster, ({ name, podRef }) => deleted.includes(name) || podRef?.uid === pod.uid);
  };
}

/** The keys of the claims that are deleted with the pod: of generic ephemeral volumes, and of members that are scaled away, if their set says so. */
export function ownClaims(cluster: WhatIfCluster, pod: PodRecord): ReadonlySet<string> {
  const keys = new Set(pod.claims.filter(({ isEphemeral }) => isEphemeral).map(({ key }) => key));
  const [kind, name = ''] = pod.owner.split('/');
  const set = kind === 'StatefulSet' ? cluster.get('StatefulSet', `${pod.namespace}/${name}`) : undefined;
  const stored = { metadata: { name: pod.name } };
  if (set === undefined || !areClaimsScaledAway(set, stored)) return keys;
  for (const { metadata } of claimsFor(set, ordinalOf(stored) ?? -1))
    keys.add(`${pod.namespace}/${metadata?.name}`);
  return keys;
}

function dropEntries(cluster: WhatIfCluster, isOwn: (volume: DriveVolume) => boolean): void {
  for (const drive of [...cluster.values('Drive')]) dropFrom(cluster, drive, isOwn);
}

function dropFrom(cluster: WhatIfCluster, drive: Drive, isOwn: (volume: DriveVolume) => boolean): void {
  const volumes = drive.spec?.volumes ?? [];
  if (!volumes.some(isOwn)) return;
  cluster.put('Drive', { ...drive, spec: { ...drive.spec, volumes: volumes.filter((one) => !isOwn(one)) } });
}
