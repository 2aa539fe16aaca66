import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import {
  csiDriverForProvisioner,
  migrateInlineVolume,
  migrateVolume,
} from '../../../kube/legacy/in-tree-migration.ts';
import { canProvision } from '../../../kube/volumes.ts';
import { claimsOf, type OracleCluster, objectKey, objectName } from './cluster.ts';

/** A volume as a driver counts it on one node; undefined if no driver counts it. */
export type Attached = { readonly driver: string; readonly handle: string } | undefined;

/** Whether the node can attach these volumes too. A volume that is already attached needs no further slot. */
export function canAttach(cluster: OracleCluster, node: Node, wanted: readonly Attached[]): boolean {
  const present = [...ofPodsOn(cluster, objectName(node)), ...ofAttachmentsOn(cluster, objectName(node))];
  return hasSlots(cluster, node, { wanted, present, withoutSlot: present });
}

/** As kube-scheduler counts: only a volume that a pod on the node uses needs no further slot, and an attachment counts for its attacher. */
export function canAttachUpstream(cluster: OracleCluster, node: Node, wanted: readonly Attached[]): boolean {
  const withoutSlot = ofPodsOn(cluster, objectName(node));
  const attached = attachmentsOn(cluster, objectName(node)).map(({ spec }) => {
    const csi = cluster.volume(spec?.source?.persistentVolumeName ?? '')?.spec?.csi;
    return csi && { driver: spec?.attacher ?? '', handle: csi.volumeHandle ?? '' };
  });
  return hasSlots(cluster, node, { wanted, present: [...withoutSlot, ...attached], withoutSlot });
}

interface Slots {
  readonly wanted: readonly Attached[];
  readonly present: readonly Attached[];
  readonly withoutSlot: readonly Attached[];
}

function hasSlots(cluster: OracleCluster, node: Node, { wanted, present, withoutSlot }: Slots): boolean {
  const limits = cluster.csiNode(objectName(node))?.spec?.drivers ?? [];
  return limits.every(({ name, allocatable }) => {
    if (allocatable?.count === undefined) return true;
    const there = new Set(handlesOf(present, name));
    const known = handlesOf(withoutSlot, name);
    const added = new Set(handlesOf(wanted, name).filter((handle) => !known.includes(handle)));
    return added.size === 0 || there.size + added.size <= allocatable.count;
  });
}

/** Whether each driver with `preventPodSchedulingIfMissing` is installed on the node. */
export function hasDrivers(cluster: OracleCluster, node: Node, wanted: readonly Attached[]): boolean {
  const installed = (cluster.csiNode(objectName(node))?.spec?.drivers ?? []).map(({ name }) => name);
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

function ofPodsOn(cluster: OracleCluster, nodeName: string): Attached[] {
  const pods = (cluster.objects.Pod ?? []).filter(
    ({ spec, status }) =>
      spec?.nodeName === nodeName && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  );
  return pods.flatMap((pod) => volumesByClaims(cluster, pod, nodeName));
}

function ofAttachmentsOn(cluster: OracleCluster, nodeName: string): Attached[] {
  return attachmentsOn(cluster, nodeName).map(({ spec }) => {
    const volume = cluster.volume(spec?.source?.persistentVolumeName ?? '');
    return volume === undefined ? undefined : attachedVolume(cluster, volume, nodeName);
  });
}

function attachmentsOn({ objects }: OracleCluster, nodeName: string): VolumeAttachment[] {
  return (objects.VolumeAttachment ?? []).filter(({ spec }) => spec?.nodeName === nodeName);
}

/** The volumes that a pod attaches, according to its claims. A claim without a volume counts for its class's provisioner. */
export function volumesByClaims(cluster: OracleCluster, pod: Pod, nodeName: string): Attached[] {
  const claims = claimsOf(pod).flatMap(({ key }) => cluster.claim(key) ?? []);
  return [
    ...claims.map((claim) => {
      const volume = cluster.volume(claim.spec?.volumeName ?? '');
      return volume === undefined
        ? unprovisionedVolume(cluster, claim, nodeName)
        : attachedVolume(cluster, volume, nodeName);
    }),
    ...inlineDisks(cluster, pod, nodeName),
  ];
}

/** The in-tree disks that the pod spec names directly, if the node attaches through CSI. */
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

export function unprovisionedVolume(
  cluster: OracleCluster,
  claim: PersistentVolumeClaim,
  nodeName: string,
): Attached {
  const storageClass = cluster.classOf(claim);
  if (!canProvision(storageClass)) return undefined;
  const provisioner = storageClass?.provisioner ?? '';
  const driver = servesCsi(cluster, nodeName) ? csiDriverForProvisioner(provisioner) : undefined;
  return { driver: driver ?? provisioner, handle: `new volume of ${objectKey(claim)}` };
}

function servesCsi(cluster: OracleCluster, nodeName: string): boolean {
  return cluster.csiNode(nodeName) !== undefined;
}
