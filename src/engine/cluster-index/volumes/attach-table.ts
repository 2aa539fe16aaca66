import { csiDriverForProvisioner } from '../../../kube/legacy/in-tree-migration.ts';
import { addTo, removeFrom } from '../../maps.ts';
import type { AttachmentRecord } from '../../records/attachment-record.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { CsiVolume, VolumeRecord } from '../../records/volume-record.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { PodTable } from '../pods/pod-table.ts';
import type { Profile } from '../profile.ts';
import { AttachedHandles, type AttachedVolumes } from './attached-handles.ts';
import type { ClaimTable } from './claim-table.ts';
import type { VolumeTable } from './volume-table.ts';

interface AttachSources {
  readonly pods: PodTable;
  readonly claims: ClaimTable;
  readonly volumes: VolumeTable;
  readonly classes: ReadonlyMap<string, ClassRecord>;
  readonly nodes: NodeTable;
  readonly profile: Pick<Profile, 'trustAttachments'>;
}

/** Stands for no limit: more slots than any pod can use. */
export const unlimited = 0x7fffffff;

/** No driver has this name. */
const anyDriver = '*';

interface SlotColumn {
  readonly slots: Int32Array;
  readonly stale: Set<number>;
}

interface AttachedOnNode {
  readonly ofPods: AttachedHandles;
  /** Includes those of VolumeAttachments; the same as `ofPods` if the node has none. */
  readonly all: AttachedHandles;
  /** The volumes that each pod added. */
  readonly byPod: Map<string, readonly CsiVolume[]>;
  /** Pods that have changed since. */
  readonly stale: Set<string>;
}

/**
 * The volumes that are attached, or will be attached, on each node: the volumes of its pods and of its VolumeAttachments, each
 * handle once. They are collected on first use. After that, only pods that have changed are read again: a node may have thousands of pods.
 */
export class AttachTable {
  readonly #sources: AttachSources;
  readonly #attachments = new Map<string, AttachmentRecord>();
  readonly #attachmentsByNode = new Map<string, Set<string>>();
  readonly #attachmentsByVolume = new Map<string, Set<string>>();
  readonly #attachedByNode = new Map<string, AttachedOnNode>();
  readonly #slots = new Map<string, SlotColumn>();

  constructor(sources: AttachSources) {
    this.#sources = sources;
  }

  attachment(name: string): AttachmentRecord | undefined {
    return this.#attachments.get(name);
  }

  attachments(): Iterable<AttachmentRecord> {
    return this.#attachments.values();
  }

  setAttachment(name: string, record: AttachmentRecord | undefined): void {
    const before = this.#attachments.get(name);
    if (before !== undefined) {
      removeFrom(this.#attachmentsByNode, before.nodeName, name);
      removeFrom(this.#attachmentsByVolume, before.volumeName, name);
      this.nodeChanged(before.nodeName);
      this.#attachments.delete(name);
    }
    if (record === undefined) return;
    this.#attachments.set(name, record);
    addTo(this.#attachmentsByNode, record.nodeName, name);
    addTo(this.#attachmentsByVolume, record.volumeName, name);
    this.nodeChanged(record.nodeName);
  }

  attachedOn(nodeName: string): AttachedVolumes {
    return this.#onNode(nodeName).all.byDriver;
  }

  /** The volumes for which a pod that uses them needs no further slot on the node. */
  needingNoSlotOn(nodeName: string): AttachedVolumes {
    const { all, ofPods } = this.#onNode(nodeName);
    return (this.#sources.profile.trustAttachments ? all : ofPods).byDriver;
  }

  #onNode(nodeName: string): AttachedOnNode {
    let attached = this.#attachedByNode.get(nodeName);
    if (attached === undefined) {
      attached = this.#collect(nodeName);
      this.#attachedByNode.set(nodeName, attached);
    }
    for (const podKey of attached.stale) this.#recollect(nodeName, attached, podKey);
    attached.stale.clear();
    return attached;
  }

  /** How many volumes of the driver the node can attach; undefined if there is no limit. */
  limit(nodeName: string, driver: string): number | undefined {
    return this.#sources.nodes.drivers(nodeName)?.limits.get(driver);
  }

  /** For each node row, how many more volumes of the driver it can attach; {@link unlimited} if there is no limit. */
  slots(driver: string): Int32Array {
    const { nodes } = this.#sources;
    let column = this.#slots.get(driver);
    if (column === undefined || column.slots.length !== nodes.rowCount) {
      column = { slots: new Int32Array(nodes.rowCount), stale: new Set(nodes.rowsByName) };
      this.#slots.set(driver, column);
    }
    for (const row of column.stale) column.slots[row] = this.#slotsOf(row, driver);
    column.stale.clear();
    return column.slots;
  }

  /** For each node row, the lowest number of free slots over all drivers. The node can attach that many volumes of any driver. */
  tightestSlots(): Int32Array {
    return this.slots(anyDriver);
  }

  #slotsOf(row: number, driver: string): number {
    const node = this.#sources.nodes.record(row);
    const limits = this.#sources.nodes.driversOfRow(row)?.limits;
    if (node === undefined || limits === undefined) return unlimited;
    const drivers = driver === anyDriver ? limits.keys() : [driver];
    let fewest = unlimited;
    for (const name of drivers) {
      const limit = limits.get(name);
      if (limit !== undefined)
        fewest = Math.min(fewest, limit - (this.attachedOn(node.key).get(name)?.size ?? 0));
    }
    return fewest;
  }

  // ── Invalidation ──

  nodeChanged(nodeName: string): void {
    this.#attachedByNode.delete(nodeName);
    this.#slotsChanged(nodeName);
  }

  /** The pod, which is or was on the node, or one of its volumes has changed. */
  podChanged(podKey: string, nodeName: string): void {
    this.#attachedByNode.get(nodeName)?.stale.add(podKey);
    this.#slotsChanged(nodeName);
  }

  #slotsChanged(nodeName: string): void {
    const row = this.#sources.nodes.row(nodeName);
    if (row === undefined) return;
    for (const column of this.#slots.values()) column.stale.add(row);
  }

  claimChanged(claimKey: string): void {
    for (const { key, nodeName } of this.#sources.pods.usingClaim(claimKey)) this.podChanged(key, nodeName);
  }

  volumeChanged(volumeName: string): void {
    const holder = this.#sources.volumes.holderOf(volumeName);
    if (holder !== undefined) this.claimChanged(holder);
    for (const claimKey of this.#sources.claims.namingVolume(volumeName)) this.claimChanged(claimKey);
    for (const name of this.#attachmentsByVolume.get(volumeName) ?? [])
      this.nodeChanged(this.#attachments.get(name)!.nodeName);
  }

  invalidateAll(): void {
    this.#attachedByNode.clear();
    this.#slots.clear();
  }

  // ── Resolving volumes to drivers and handles ──

  /** The driver and handle with which the claim's volume is attached on the node; undefined if no driver counts it. */
  volumeOfClaim(claim: ClaimRecord, nodeName: string): CsiVolume | undefined {
    const volume =
      claim.volumeName === ''
        ? this.#sources.volumes.heldFor(claim.key)
        : this.#sources.volumes.get(claim.volumeName);
    if (volume !== undefined) return this.volumeOnNode(volume, nodeName);
    return this.unprovisionedVolume(claim, nodeName);
  }

  /** A volume that doesn't exist yet counts for the class's provisioner, with a handle that no real volume has. */
  unprovisionedVolume(claim: ClaimRecord, nodeName: string): CsiVolume | undefined {
    const storageClass = this.#sources.classes.get(claim.className);
    if (storageClass === undefined || !storageClass.canProvision) return undefined;
    const migratedTo = csiDriverForProvisioner(storageClass.provisioner);
    const driver =
      migratedTo !== undefined && this.#servesCsi(nodeName) ? migratedTo : storageClass.provisioner;
    return { driver, handle: `unprovisioned ${claim.key} ${claim.uid}` };
  }

  volumeOnNode(volume: VolumeRecord, nodeName: string): CsiVolume | undefined {
    if (volume.csi !== undefined) return volume.csi;
    if (volume.migrated === undefined || !this.#servesCsi(nodeName)) return undefined;
    return { driver: volume.migrated.driver, handle: volume.migrated.handle };
  }

  inlineVolumes(pod: PodRecord, nodeName: string): CsiVolume[] {
    if (!this.#servesCsi(nodeName)) return [];
    return pod.migratedVolumes.map(({ driver, handle }) => ({ driver, handle }));
  }

  /** The plugins that the CSINode lists don't matter: kube-scheduler assumes that a node with a CSINode attaches all of them through CSI. */
  #servesCsi(nodeName: string): boolean {
    return this.#sources.nodes.drivers(nodeName) !== undefined;
  }

  #collect(nodeName: string): AttachedOnNode {
    const ofPods = new AttachedHandles();
    const attachments = this.#attachmentsByNode.get(nodeName);
    const all = attachments === undefined ? ofPods : new AttachedHandles();
    for (const name of attachments ?? []) {
      const volume = this.#attachedVolume(this.#attachments.get(name)!, nodeName);
      if (volume !== undefined) all.add(volume);
    }
    const attached = { ofPods, all, byPod: new Map(), stale: new Set<string>() };
    for (const { key } of this.#sources.pods.onNode(nodeName)) this.#recollect(nodeName, attached, key);
    return attached;
  }

  #recollect(nodeName: string, { ofPods, all, byPod }: AttachedOnNode, podKey: string): void {
    const counts = ofPods === all ? [all] : [all, ofPods];
    for (const volume of byPod.get(podKey) ?? []) for (const count of counts) count.remove(volume);
    const volumes = this.#volumesOf(podKey, nodeName);
    for (const volume of volumes) for (const count of counts) count.add(volume);
    if (volumes.length > 0) byPod.set(podKey, volumes);
    else byPod.delete(podKey);
  }

  /** The volumes that the pod uses on the node. */
  #volumesOf(podKey: string, nodeName: string): readonly CsiVolume[] {
    const pod = this.#sources.pods.get(podKey);
    if (pod?.nodeName !== nodeName || pod.isFinished) return [];
    const found = this.inlineVolumes(pod, nodeName);
    for (const { key } of pod.claims) {
      const claim = this.#sources.claims.get(key);
      const volume = claim && this.volumeOfClaim(claim, nodeName);
      if (volume !== undefined) found.push(volume);
    }
    return found;
  }

  /** kube-scheduler uses the attacher's name as the driver, and ignores disks that are not CSI volumes. */
  #attachedVolume(attachment: AttachmentRecord, nodeName: string): CsiVolume | undefined {
    const { driver, volumeName, inlineHandle } = attachment;
    const volume = this.#sources.volumes.get(volumeName);
    if (!this.#sources.profile.trustAttachments)
      return volume?.csi && driver !== '' ? { driver, handle: volume.csi.handle } : undefined;
    const known = volume === undefined ? undefined : this.volumeOnNode(volume, nodeName);
    if (known !== undefined) return known;
    return inlineHandle === '' ? undefined : { driver, handle: inlineHandle };
  }
}
