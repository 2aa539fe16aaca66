import type { Drive, DriveVolume } from '../../kube/drive.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** Removes the volumes that end with the pod: generic ephemeral volumes with their claims, and inline volumes on drives. */
export function removeOwnVolumes(cluster: WhatIfCluster, pod: PodRecord): void {
  const claims = new Set(pod.claims.filter(({ isEphemeral }) => isEphemeral).map(({ key }) => key));
  for (const key of claims) {
    const { volumeName = '' } = cluster.get('PersistentVolumeClaim', key)?.spec ?? {};
    const volume = cluster.get('PersistentVolume', volumeName);
    cluster.remove('PersistentVolumeClaim', key);
    if (volume !== undefined && volume.spec?.persistentVolumeReclaimPolicy !== 'Retain')
      cluster.remove('PersistentVolume', volumeName);
  }
  if (claims.size === 0 && pod.inlineVolumes.length === 0) return;
  const isOwn = ({ claimRef, podRef }: DriveVolume) =>
    (claimRef !== undefined && claims.has(`${claimRef.namespace}/${claimRef.name}`)) ||
    (podRef !== undefined && `${podRef.namespace}/${podRef.name}` === pod.key);
  for (const drive of [...cluster.values('Drive')]) dropEntries(cluster, drive, isOwn);
}

function dropEntries(cluster: WhatIfCluster, drive: Drive, isOwn: (volume: DriveVolume) => boolean): void {
  const volumes = drive.spec?.volumes ?? [];
  if (!volumes.some(isOwn)) return;
  cluster.put('Drive', { ...drive, spec: { ...drive.spec, volumes: volumes.filter((one) => !isOwn(one)) } });
}
