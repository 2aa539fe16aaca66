import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/core.ts';
import {
  csiDriverForProvisioner,
  migrateInlineVolume,
  migrateVolume,
} from '../../../kube/in-tree-migration.ts';
import { canProvision } from '../../../kube/volumes.ts';
import { claimsOf, keyOf, nameOf, type OracleCluster } from './cluster.ts';

/** A volume as a driver counts it on one node; undefined where no driver does. */
export type Attached = { readonly driver: string; readonly handle: string } | undefined;

/** Whether the node can attach these besides what it has. A volume that is there already costs nothing. */
export function canAttach(cluster: OracleCluster, node: Node, wanted: readonly Attached[]): boolean {
  const present = attachedOn(cluster, nameOf(node));
  const limits = cluster.csiNode(nameOf(node))?.spec?.drivers ?? [];
  return limits.every(({ name, allocatable }) => {
    if (allocatable?.count === undefined) return true;
    const there = new Set(handlesOf(present, name));
    const added = new Set(handlesOf(wanted, name).filter((handle) => !there.has(handle)));
    return added.size === 0 || there.size + added.size <= allocatable.count;
  });
}

/** Whether each driver that insists on it is installed on the node. */
export function hasDrivers(cluster: OracleCluster, node: Node, wanted: readonly Attached[]): boolean {
  const installed = (cluster.csiNode(nameOf(node))?.spec?.drivers ?? []).map(({ name }) => name);
  return wanted.every(
    (volume) =>
      volume === undefined ||
      cluster.driver(volume.driver)?.spec?.preventPodSchedulingIfMissing !== true ||
      installed.includes(volume.driver),
  );
}

function handlesOf(volumes: readonly Attached[], driver: string | undefined): string[] {
  return volumes.flatMap((volume) =>
    volume !== undefined && volume.driver === driver ? [volume.handle] : [],
  );
}

/** The volumes of the node's pods, and its VolumeAttachments. */
function attachedOn(cluster: OracleCluster, nodeName: string): Attached[] {
  const pods = (cluster.objects.Pod ?? []).filter(
    ({ spec, status }) =>
      spec?.nodeName === nodeName && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  );
  const attachments = (cluster.objects.VolumeAttachment ?? []).filter(
    ({ spec }) => spec?.nodeName === nodeName,
  );
  return [
    ...pods.flatMap((pod) => certainVolumes(cluster, pod, nodeName)),
    ...attachments.map(({ spec }) => {
      const volume = cluster.volume(spec?.source?.persistentVolumeName ?? '');
      return volume === undefined ? undefined : attachedVolume(cluster, volume, nodeName);
    }),
  ];
}

/** What a pod attaches, as far as its claims say: a claim without a volume counts for its class's provisioner. */
export function certainVolumes(cluster: OracleCluster, pod: Pod, nodeName: string): Attached[] {
  const claims = claimsOf(pod).flatMap(({ key }) => cluster.claim(key) ?? []);
  return [
    ...claims.map((claim) => {
      const volume = cluster.volume(claim.spec?.volumeName ?? '');
      return volume === undefined
        ? unmadeVolume(cluster, claim, nodeName)
        : attachedVolume(cluster, volume, nodeName);
    }),
    ...inlineDisks(cluster, pod, nodeName),
  ];
}

/** In-tree disks named in the pod itself, where the node attaches through CSI. */
export function inlineDisks(cluster: OracleCluster, pod: Pod, nodeName: string): Attached[] {
  return (pod.spec?.volumes ?? []).map((volume) => {
    const migrated = migrateInlineVolume(volume);
    if (migrated?.ok !== true || !servesCsi(cluster, nodeName)) return undefined;
    return { driver: migrated.source.driver, handle: migrated.source.volumeHandle };
  });
}

export function attachedVolume(cluster: OracleCluster, volume: PersistentVolume, nodeName: string): Attached {
  const csi = volume.spec?.csi;
  if (csi !== undefined) return { driver: csi.driver ?? '', handle: csi.volumeHandle ?? '' };
  const migrated = migrateVolume(volume);
  if (migrated?.ok !== true || !servesCsi(cluster, nodeName)) return undefined;
  return { driver: migrated.source.driver, handle: migrated.source.volumeHandle };
}

export function unmadeVolume(
  cluster: OracleCluster,
  claim: PersistentVolumeClaim,
  nodeName: string,
): Attached {
  const storageClass = cluster.classOf(claim);
  if (!canProvision(storageClass)) return undefined;
  const provisioner = storageClass?.provisioner ?? '';
  const driver = servesCsi(cluster, nodeName) ? csiDriverForProvisioner(provisioner) : undefined;
  return { driver: driver ?? provisioner, handle: `new volume of ${keyOf(claim)}` };
}

function servesCsi(cluster: OracleCluster, nodeName: string): boolean {
  return cluster.csiNode(nodeName) !== undefined;
}
