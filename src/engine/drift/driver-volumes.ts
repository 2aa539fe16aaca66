import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { matchesNode } from '../../kube/selectors/node-selector.ts';
import { ephemeralStorageClassName } from '../../kube/stowage/driver-capacity.ts';
import { claimClassName, volumeClassName, volumeExistsAtMs, volumeNodeSelector } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import { readPod } from '../records/pod-record.ts';
import { nanoOf } from '../size.ts';
import { ClaimUids } from './claim-uids.ts';
import type { OtherCost, PoolVolumes } from './drift-of.ts';
import type { FoundVolume } from './list-share.ts';

/** The labels of a topology segment; without labels it is the whole cluster. */
export type SegmentLabels = Readonly<Record<string, string>>;

export interface DriverVolumesOptions {
  readonly driver: string;
  /** Whether the driver provisions claims of the class. */
  readonly servesClass: (className: string) => boolean;
  /** The labels of a node; undefined if it is not in the cluster. */
  readonly labelsOf: (nodeName: string) => SegmentLabels | undefined;
}

/**
 * The volumes of one driver, to find out which of them the capacity report of a topology segment includes. The caller reports every object that its
 * informers see; objects of other drivers are ignored. Volumes with the same location form one group, so {@link volumesOf} visits the
 * locations and the volumes of one segment, not all volumes.
 */
export class DriverVolumes {
  readonly #options: DriverVolumesOptions;
  readonly #locations = new Map<string, Location>();
  readonly #locationOf = new Map<string, string>();
  /** Claims by the name of their volume, which no informer has reported yet. */
  readonly #claimOfMissing = new Map<string, string>();
  /** The parts of PersistentVolumes, by the driver's id. */
  readonly #keyOfHandle = new Map<string, string>();
  readonly #claimUids = new ClaimUids();

  constructor(options: DriverVolumesOptions) {
    this.#options = options;
  }

  setVolume(volume: PersistentVolume): void {
    const { metadata, spec, status } = volume;
    const name = textOf(metadata?.name);
    this.#delete(this.#claimOfMissing.get(name) ?? '');
    this.#claimOfMissing.delete(name);
    if (spec?.csi?.driver !== this.#options.driver) return;
    const isReleased = status?.phase === 'Released' || status?.phase === 'Failed';
    const isDeleted = isReleased && spec.persistentVolumeReclaimPolicy === 'Delete';
    const handle = textOf(spec.csi.volumeHandle);
    const part = {
      storageClass: volumeClassName(volume),
      bytes: bytesOf(spec.capacity?.storage),
      existsAtMs: volumeExistsAtMs(volume),
      isEnding: isDeleted || typeof metadata?.deletionTimestamp === 'string',
      handle,
    };
    const location = `affinity ${JSON.stringify(spec.nodeAffinity?.required ?? null)}`;
    this.#set(`volume ${name}`, part, location, () => affinityLocation(volume));
    this.#keyOfHandle.set(handle, `volume ${name}`);
  }

  deleteVolume(name: string, nowMs: number): void {
    this.#end(`volume ${name}`, nowMs);
  }

  /**
   * A claim counts while its volume is being created or expanded: how much of it the driver has taken already is not known. It also counts
   * while its volume is not reported, because the informers of claims and volumes are not in step.
   */
  setClaim(claim: PersistentVolumeClaim): void {
    const { metadata, spec, status } = claim;
    this.#claimUids.set(claim);
    const key = `claim ${textOf(metadata?.namespace)}/${textOf(metadata?.name)}`;
    const storageClass = claimClassName(claim);
    const requested = bytesOf(spec?.resources?.requests?.storage);
    const missing = requested - bytesOf(status?.capacity?.storage ?? '0');
    const awaits = this.#awaitsVolume(claim);
    const isProvisioned = metadata?.annotations?.[annotations.storageProvisioner] !== undefined;
    if (!this.#options.servesClass(storageClass) || !isProvisioned || (missing <= 0n && !awaits)) {
      this.#deleteClaim(key);
      return;
    }
    if (awaits) this.#claimOfMissing.set(textOf(spec?.volumeName), key);
    const part = {
      storageClass,
      bytes: awaits ? requested : missing,
      existsAtMs: undefined,
      isEnding: false,
    };
    this.#setOnNode(key, part, textOf(metadata.annotations?.[annotations.selectedNode]));
  }

  /** A volume that the driver has created for the claim has a PersistentVolume by then. */
  deleteClaim(namespace: string, name: string): void {
    this.#claimUids.delete(namespace, name);
    this.#deleteClaim(`claim ${namespace}/${name}`);
  }

  /** The inline volumes of a pod that has a node. One without a size may take any amount, so its segment has no known use. */
  setPod(pod: Pod): void {
    if (!hasInlineVolume(pod, this.#options.driver) || textOf(pod.spec?.nodeName) === '') return;
    const { key, nodeName, inlineVolumes, volumesExistAtMs, isFinished, isDeleting } = readPod(pod);
    for (const { driver, volumeName, size } of inlineVolumes) {
      if (driver !== this.#options.driver) continue;
      const part = {
        storageClass: ephemeralStorageClassName,
        bytes: size && nanoOf(size) / nanoPerByte,
        existsAtMs: volumesExistAtMs,
        isEnding: isFinished || isDeleting,
      };
      this.#setOnNode(`pod ${key} ${volumeName}`, part, nodeName);
    }
  }

  deletePod(pod: Pod, nowMs: number): void {
    if (!hasInlineVolume(pod, this.#options.driver)) return;
    const { key, inlineVolumes } = readPod(pod);
    for (const { volumeName } of inlineVolumes) this.#end(`pod ${key} ${volumeName}`, nowMs);
  }

  /**
   * The volumes of the segment at the time of a report. Undefined if it is not known which volumes the segment has: a volume that several
   * of the `segments` reach may be in any of them.
   */
  volumesOf(segment: SegmentLabels, report: CapacityReportOfSegment): PoolVolumes | undefined {
    const sums = { oursBytes: 0n, otherClassesBytes: 0n, unsureBytes: 0n, count: 0 };
    for (const { isIn, parts } of this.#locations.values()) {
      if (!isIn(segment)) continue;
      let hasSure = false;
      for (const [key, part] of parts) {
        if ((part.endedAtMs ?? Infinity) < report.measuredAtMs - endedKeptMs) this.#delete(key);
        if ((part.endedAtMs ?? Infinity) < report.measuredAtMs) continue;
        if (part.bytes === undefined) return undefined;
        const isSure = isSurelyIn(part, report);
        hasSure ||= isSure;
        const isOurs = part.storageClass === report.storageClass;
        if (isSure) sums[isOurs ? 'oursBytes' : 'otherClassesBytes'] += part.bytes;
        else sums.unsureBytes += isOurs ? part.bytes : costliest(part.bytes, report.otherCost);
        sums.count += 1;
      }
      if (hasSure && report.segments.some((other) => isIn(other) && !isSame(other, segment)))
        return undefined;
    }
    return { ...sums, otherCost: report.otherCost };
  }

  /** Whether a PersistentVolume has the driver's volume, or had it: its object ended at `endedAtMs`. */
  ofHandle(handle: string): { readonly endedAtMs: number | undefined } | undefined {
    const key = this.#keyOfHandle.get(handle) ?? '';
    const part = this.#locations.get(this.#locationOf.get(key) ?? '')?.parts.get(key);
    return part && { endedAtMs: part.endedAtMs };
  }

  hasClaim(uid: string): boolean {
    return this.#claimUids.has(uid);
  }

  /** The ids of volumes that PersistentVolumes have. */
  handles(): Iterable<string> {
    return this.#keyOfHandle.keys();
  }

  /** The PersistentVolumes of a segment that the driver must have had at a time, except those whose volume it lists. */
  unlistedIn(segment: SegmentLabels, { atMs, isListed }: Unlisted): readonly FoundVolume[] {
    const found: FoundVolume[] = [];
    for (const { isIn, parts } of this.#locations.values()) {
      if (!isIn(segment)) continue;
      for (const [key, part] of parts) {
        const { handle, bytes = 0n } = part;
        if (handle === undefined || isListed(handle) || !isSurelyIn(part, { measuredAtMs: atMs })) continue;
        found.push({ id: key.slice('volume '.length), bytes });
      }
    }
    return found;
  }

  #deleteClaim(key: string): void {
    this.#delete(key);
    // Few volumes are missing at a time, if any.
    for (const [volume, claim] of this.#claimOfMissing)
      if (claim === key) this.#claimOfMissing.delete(volume);
  }

  #awaitsVolume({ spec, status }: PersistentVolumeClaim): boolean {
    const name = textOf(spec?.volumeName);
    return name !== '' && status?.phase !== 'Lost' && !this.#locationOf.has(`volume ${name}`);
  }

  #setOnNode(key: string, part: Part, nodeName: string): void {
    this.#set(key, part, `node ${nodeName}`, () => this.#nodeLocation(nodeName));
  }

  #set(key: string, part: Part, name: string, location: () => Location['isIn']): void {
    if (this.#locationOf.get(key) !== name) this.#delete(key);
    const known = this.#locations.get(name) ?? { isIn: location(), parts: new Map() };
    this.#locations.set(name, known);
    this.#locationOf.set(key, name);
    known.parts.set(key, part);
  }

  #delete(key: string): void {
    const name = this.#locationOf.get(key);
    if (name === undefined) return;
    this.#locationOf.delete(key);
    const { parts } = this.#locations.get(name)!;
    const handle = parts.get(key)?.handle;
    if (handle !== undefined && this.#keyOfHandle.get(handle) === key) this.#keyOfHandle.delete(handle);
    parts.delete(key);
    if (parts.size === 0) this.#locations.delete(name);
  }

  /** The volume is kept for a while: a report that was measured before it went may still arrive. */
  #end(key: string, nowMs: number): void {
    const parts = this.#locations.get(this.#locationOf.get(key) ?? '')?.parts;
    const part = parts?.get(key);
    if (part !== undefined) parts!.set(key, { ...part, endedAtMs: nowMs });
  }

  /** Without a node, the driver chooses the segment. */
  #nodeLocation(nodeName: string): Location['isIn'] {
    if (nodeName === '') return () => true;
    return (segment) => {
      const labels = this.#options.labelsOf(nodeName) ?? {};
      return Object.entries(segment).every(([key, value]) => labels[key] === value);
    };
  }
}

interface Unlisted {
  /** When the driver was asked for its list. */
  readonly atMs: number;
  readonly isListed: (handle: string) => boolean;
}

export interface CapacityReportOfSegment {
  readonly storageClass: string;
  readonly measuredAtMs: number;
  /** All segments of the driver that the caller knows. */
  readonly segments: readonly SegmentLabels[];
  /** See `PoolVolumes`. */
  readonly otherCost?: OtherCost | undefined;
}

/** Volumes of which the same topology segments are possible. */
interface Location {
  readonly isIn: (segment: SegmentLabels) => boolean;
  readonly parts: Map<string, Part>;
}

/** A volume, or what is being added to one. */
interface Part {
  readonly storageClass: string;
  /** Undefined if its size is not known. */
  readonly bytes: bigint | undefined;
  /** Undefined if it may not exist yet. */
  readonly existsAtMs: number | undefined;
  /** It is being deleted. */
  readonly isEnding: boolean;
  /** When its object had gone. */
  readonly endedAtMs?: number;
  /** The driver's id of a PersistentVolume. */
  readonly handle?: string;
}

const nanoPerByte = 1_000_000_000n;

/** A call of GetCapacity takes at most this long, so an older deletion is in every report that still arrives. */
const endedKeptMs = 600_000;

function isSurelyIn(
  { existsAtMs, isEnding, endedAtMs }: Part,
  { measuredAtMs }: Pick<CapacityReportOfSegment, 'measuredAtMs'>,
): boolean {
  return !isEnding && endedAtMs === undefined && existsAtMs !== undefined && existsAtMs <= measuredAtMs;
}

function costliest(bytes: bigint, cost: OtherCost | undefined): bigint {
  return (bytes * BigInt(Math.max(1000, cost?.mostMilli ?? 0))) / 1000n;
}

function isSame(a: SegmentLabels, b: SegmentLabels): boolean {
  const entries = Object.entries(a);
  return entries.length === Object.keys(b).length && entries.every(([key, value]) => b[key] === value);
}

function hasInlineVolume({ spec }: Pod, driver: string): boolean {
  return listOf(spec?.volumes).some((volume) => volume?.csi?.driver === driver);
}

function affinityLocation(volume: PersistentVolume): Location['isIn'] {
  const selector = volumeNodeSelector(volume);
  return (segment) => selector === undefined || matchesNode(selector, undefined, segment);
}
