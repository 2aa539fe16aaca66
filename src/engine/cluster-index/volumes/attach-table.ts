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

/** More slots than any pod can use. */
export const unlimited = 0x7fffffff;

/** No driver is called so. */
const anyDriver = '*';

interface SlotColumn {
  readonly slots: Int32Array;
  readonly stale: Set<number>;
}

/** Distinct volume handles of each driver. */
export type AttachedVolumes = ReadonlyMap<string, ReadonlySet<string>>;

interface Counted {
  readonly all: AttachedVolumes;
  readonly ofPods: AttachedVolumes;
}

/**
 * Which volumes are attached, or about to be, on each node: the volumes of its pods and its VolumeAttachments, each
 * handle once. Counted for a node when somebody asks and kept until one of its pods, claims or attachments changes.
 */
export class AttachTable {
  readonly #sources: AttachSources;
  readonly #attachments = new Map<string, AttachmentRecord>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byVolume = new Map<string, Set<string>>();
  readonly #counted = new Map<string, Counted>();
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
      removeFrom(this.#byNode, before.nodeName, name);
      removeFrom(this.#byVolume, before.volumeName, name);
      this.nodeChanged(before.nodeName);
      this.#attachments.delete(name);
    }
    if (record === undefined) return;
    this.#attachments.set(name, record);
    addTo(this.#byNode, record.nodeName, name);
    addTo(this.#byVolume, record.volumeName, name);
    this.nodeChanged(record.nodeName);
  }

  attachedOn(nodeName: string): AttachedVolumes {
    return this.#countedOn(nodeName).all;
  }

  /** Those that a pod would bring there at no cost. */
  needingNoSlotOn(nodeName: string): AttachedVolumes {
    const { all, ofPods } = this.#countedOn(nodeName);
    return this.#sources.profile.trustAttachments ? all : ofPods;
  }

  #countedOn(nodeName: string): Counted {
    let counted = this.#counted.get(nodeName);
    if (counted === undefined) {
      counted = this.#count(nodeName);
      this.#counted.set(nodeName, counted);
    }
    return counted;
  }

  /** The most volumes of a driver that the node takes; undefined is no limit. */
  limit(nodeName: string, driver: string): number | undefined {
    return this.#sources.nodes.drivers(nodeName)?.limits.get(driver);
  }

  /** For each node row, how many more volumes of the driver fit; {@link unlimited} where nothing limits them. */
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

  /** For each node row, the slots of the driver that has fewest left: that many volumes fit, whatever their drivers. */
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

  // ── What makes a count stale ──

  nodeChanged(nodeName: string): void {
    this.#counted.delete(nodeName);
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
    for (const name of this.#byVolume.get(volumeName) ?? [])
      this.nodeChanged(this.#attachments.get(name)!.nodeName);
  }

  invalidateAll(): void {
    this.#counted.clear();
    this.#slots.clear();
  }

  // ── Resolving ──

  /** The driver and handle by which a claim's volume will be attached on a node; undefined if no driver counts it. */
  volumeOfClaim(claim: ClaimRecord, nodeName: string): CsiVolume | undefined {
    const volume =
      claim.volumeName === ''
        ? this.#sources.volumes.heldFor(claim.key)
        : this.#sources.volumes.get(claim.volumeName);
    if (volume !== undefined) return this.volumeOnNode(volume, nodeName);
    return this.unprovisionedVolume(claim, nodeName);
  }

  /** A volume that isn't there yet counts for the class's provisioner, under a handle that no real volume has. */
  unprovisionedVolume(claim: ClaimRecord, nodeName: string): CsiVolume | undefined {
    const storageClass = this.#sources.classes.get(claim.className);
    if (storageClass === undefined || !storageClass.canProvision) return undefined;
    const migratedTo = csiDriverForProvisioner(storageClass.provisioner);
    const driver =
      migratedTo !== undefined && this.#servesCsi(nodeName) ? migratedTo : storageClass.provisioner;
    return { driver, handle: `unmade ${claim.key} ${claim.uid}` };
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

  /** Which plugins it announces does not matter here: to kube-scheduler, whoever has a CSINode attaches all of them through CSI. */
  #servesCsi(nodeName: string): boolean {
    return this.#sources.nodes.drivers(nodeName) !== undefined;
  }

  #count(nodeName: string): Counted {
    const ofPods = new Map<string, Set<string>>();
    for (const pod of this.#sources.pods.onNode(nodeName)) {
      for (const { key } of pod.claims) {
        const claim = this.#sources.claims.get(key);
        if (claim !== undefined) addVolume(ofPods, this.volumeOfClaim(claim, nodeName));
      }
      for (const inline of this.inlineVolumes(pod, nodeName)) addVolume(ofPods, inline);
    }
    const attachments = this.#byNode.get(nodeName);
    if (attachments === undefined) return { all: ofPods, ofPods };
    const all = new Map([...ofPods].map(([driver, handles]) => [driver, new Set(handles)]));
    for (const name of attachments) {
      addVolume(all, this.#attachedVolume(this.#attachments.get(name)!, nodeName));
    }
    return { all, ofPods };
  }

  /** kube-scheduler takes the attacher's word for the driver, and overlooks disks that are no CSI volumes. */
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
