import { csiDriverForProvisioner } from '../../../kube/legacy/in-tree-migration.ts';
import type { AttachmentRecord } from '../../records/attachment-record.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { CsiVolume, VolumeRecord } from '../../records/volume-record.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { PodTable } from '../pods/pod-table.ts';
import { addTo, removeFrom } from '../primitives/maps.ts';
import type { Profile } from '../profile.ts';
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

/** The distinct volume handles of each driver. */
export type AttachedVolumes = ReadonlyMap<string, ReadonlySet<string>>;

interface AttachedOnNode {
  readonly all: AttachedVolumes;
  readonly ofPods: AttachedVolumes;
}

/**
 * The volumes that are attached, or will be attached, on each node: the volumes of its pods and of its VolumeAttachments, each
 * handle once. They are collected on first use, and cached until a pod, claim or attachment of the node changes.
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
    return this.#onNode(nodeName).all;
  }

  /** The volumes for which a pod that uses them needs no further slot on the node. */
  needingNoSlotOn(nodeName: string): AttachedVolumes {
    const { all, ofPods } = this.#onNode(nodeName);
    return this.#sources.profile.trustAttachments ? all : ofPods;
  }

  #onNode(nodeName: string): AttachedOnNode {
    let attached = this.#attachedByNode.get(nodeName);
    if (attached === undefined) {
      attached = this.#collect(nodeName);
      this.#attachedByNode.set(nodeName, attached);
    }
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
    const row = this.#sources.nodes.row(nodeName);
    if (row === undefined) return;
    for (const column of this.#slots.values()) column.stale.add(row);
  }

  claimChanged(claimKey: string): void {
    for (const pod of this.#sources.pods.usingClaim(claimKey)) this.nodeChanged(pod.nodeName);
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
    const ofPods = new Map<string, Set<string>>();
    for (const pod of this.#sources.pods.onNode(nodeName)) {
      for (const { key } of pod.claims) {
        const claim = this.#sources.claims.get(key);
        if (claim !== undefined) addVolume(ofPods, this.volumeOfClaim(claim, nodeName));
      }
      for (const inline of this.inlineVolumes(pod, nodeName)) addVolume(ofPods, inline);
    }
    const attachments = this.#attachmentsByNode.get(nodeName);
    if (attachments === undefined) return { all: ofPods, ofPods };
    const all = new Map([...ofPods].map(([driver, handles]) => [driver, new Set(handles)]));
    for (const name of attachments) {
      addVolume(all, this.#attachedVolume(this.#attachments.get(name)!, nodeName));
    }
    return { all, ofPods };
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

function addVolume(attached: Map<string, Set<string>>, volume: CsiVolume | undefined): void {
  if (volume !== undefined) addTo(attached, volume.driver, volume.handle);
}
