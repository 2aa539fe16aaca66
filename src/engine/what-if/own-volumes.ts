import type { Drive, DriveVolume } from '../../kube/drive.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** Drivers take so long to delete a volume: the pod's controller has created another pod before the bytes are free. */
export const volumeDeletionMs = 100;

/**
 * Removes what ends with the pod at once: the claims of its generic ephemeral volumes, and inline volumes on drives. Returns what deletes the volumes of these
 * claims, which takes their driver a while; undefined if there are none.
 */
export function removeOwnVolumes(cluster: WhatIfCluster, pod: PodRecord): (() => void) | undefined {
  if (pod.inlineVolumes.length > 0)
    dropEntries(
      cluster,
      ({ podRef }) => podRef !== undefined && `${podRef.namespace}/${podRef.name}` === pod.key,
    );
  const claims = new Set(pod.claims.filter(({ isEphemeral }) => isEphemeral).map(({ key }) => key));
  if (claims.size === 0) return undefined;
  const volumes = [...claims].flatMap((key) => {
    const { volumeName = '' } = cluster.get('PersistentVolumeClaim', key)?.spec ?? {};
    cluster.remove('PersistentVolumeClaim', key);
    return volumeName;
  });
  return () => {
    for (const name of volumes)
      if (cluster.get('PersistentVolume', name)?.spec?.persistentVolumeReclaimPolicy !== 'Retain')
        cluster.remove('PersistentVolume', name);
    dropEntries(
      cluster,
      ({ claimRef }) => claimRef !== undefined && claims.has(`${claimRef.namespace}/${claimRef.name}`),
    );
  };
}

function dropEntries(cluster: WhatIfCluster, isOwn: (volume: DriveVolume) => boolean): void {
  for (const drive of [...cluster.values('Drive')]) dropFrom(cluster, drive, isOwn);
}

function dropFrom(cluster: WhatIfCluster, drive: Drive, isOwn: (volume: DriveVolume) => boolean): void {
  const volumes = drive.spec?.volumes ?? [];
  if (!volumes.some(isOwn)) return;
  cluster.put('Drive', { ...drive, spec: { ...drive.spec, volumes: volumes.filter((one) => !isOwn(one)) } });
}
