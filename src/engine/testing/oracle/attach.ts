import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import {
  csiDriverForProvisioner,
  migrateInlineVolume,
  migrateVolume,
} from '../../../kube/legacy/in-tree-migration.ts';
import { canProvision } from '../../../kube/volumes.ts';
import { claimsOf, keyOf, nameOf, type OracleCluster } from './cluster.ts';

/** A volume as a driver counts it on one node; undefined where no driver does. */
export type Attached = { readonly driver: string; readonly handle: string } | undefined;

/** Whether the node can attach these besides what it has. A volume that is there already costs nothing. */
export function canAttach(cluster: OracleCluster, node: Node, wanted: readonly Attached[]): boolean {
  const present = [...ofPodsOn(cluster, nameOf(node)), ...ofAttachmentsOn(cluster, nameOf(node))];
  return hasSlots(cluster, node, { wanted, present, costless: present });
}

/** As kube-scheduler counts: only a volume that a pod has there costs nothing, and attachments count for who attaches. */
export function canAttachUpstream(cluster: OracleCluster, node: Node, wanted: readonly Attached[]): boolean {
  const costless = ofPodsOn(cluster, nameOf(node));
  const attached = attachmentsOn(cluster, nameOf(node)).map(({ spec }) => {
    const csi = cluster.volume(spec?.source?.persistentVolumeName ?? '')?.spec?.csi;
    return csi && { driver: spec?.attacher ?? '', handle: csi.volumeHandle ?? '' };
  });
  return hasSlots(cluster, node, { wanted, present: [...costless, ...attached], costless });
}

interface Slots {
  readonly wanted: readonly Attached[];
  readonly present: readonly Attached[];
  readonly costless: readonly Attached[];
}

function hasSlots(cluster: OracleCluster, node: Node, { wanted, present, costless }: Slots): boolean {
  const limits = cluster.csiNode(nameOf(node))?.spec?.drivers ?? [];
  return limits.every(({ name, allocatable }) => {
    if (allocatable?.count === undefined) return true;
    const there = new Set(handlesOf(present, name));
    const known = handlesOf(costless, name);
    const added = new Set(handlesOf(wanted, name).filter((handle) => !known.includes(handle)));
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

function ofPodsOn(cluster: OracleCluster, nodeName: string): Attached[] {
  const pods = (cluster.objects.Pod ?? []).filter(
    ({ spec, status }) =>
      spec?.nodeName === nodeName && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  );
  return pods.flatMap((pod) => certainVolumes(cluster, pod, nodeName));
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

/** What a pod attaches, as far as its claims say: a claim without a volume counts for its class's provisioner. */
export function certainVolumes(cluster: OracleCluster, pod: Pod, nodeName: string): Attached[] {
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

export function unprovisionedVolume(
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
