import { sortedKeys } from '../../kube/sorted-keys.ts';
import type { DriverVolumes, SegmentLabels } from './driver-volumes.ts';
import type { FoundVolume, ListFindings } from './list-share.ts';

/** A volume in the reply of ListVolumes. */
export interface ListedVolume {
  readonly id: string;
  /** 0 if the driver does not tell. */
  readonly bytes: bigint;
  /** Where the volume is reachable; empty if the driver does not tell. */
  readonly topology: readonly SegmentLabels[];
  readonly context: Readonly<Record<string, string>>;
}

/**
 * The driver's list of its volumes, compared with the PersistentVolumes: volumes without one are foreign, or leaked if they had one, and
 * PersistentVolumes whose volume is not in the list are lost. Only volumes that were unknown when the list arrived are kept: few, as a rule.
 */
export class ListedVolumes {
  readonly #known: DriverVolumes;
  #listedAtMs: number | undefined;
  #ids: ReadonlySet<string> = new Set();
  /** Volumes that no PersistentVolume had, by the key of their segment; undefined: it is not known. */
  #unknown = new Map<string | undefined, Candidate[]>();
  #missing = '';

  constructor(known: DriverVolumes) {
    this.#known = known;
  }

  /** When the driver was asked; undefined before the first list. */
  get listedAtMs(): number | undefined {
    return this.#listedAtMs;
  }

  /** A complete list. A volume that was leaked stays so while it is listed, also when its PersistentVolume is forgotten. */
  replace(volumes: readonly ListedVolume[], segments: readonly SegmentLabels[], listedAtMs: number): void {
    const wasLeaked = new Set<string>();
    for (const list of this.#unknown.values())
      for (const { id, isLeaked } of list) if (isLeaked) wasLeaked.add(id);
    this.#listedAtMs = listedAtMs;
    this.#ids = new Set(volumes.map(({ id }) => id));
    this.#unknown = new Map();
    const bySegment = new SegmentFinder(segments);
    for (const volume of volumes) {
      const candidate = this.#candidate(volume, wasLeaked);
      if (candidate === undefined) continue;
      const key = bySegment.keyOf(volume.topology);
      if (key === elsewhere) continue;
      const list = this.#unknown.get(key) ?? [];
      this.#unknown.set(key, list);
      list.push(candidate);
    }
    this.#missing = [...this.#known.handles()].filter((handle) => !this.#ids.has(handle)).join('\n');
  }

  /** The driver lists its volumes no more, or fails to. */
  clear(): void {
    this.#listedAtMs = undefined;
    this.#ids = new Set();
    this.#unknown = new Map();
    this.#missing = '';
  }

  /** Changes if a comparison could have another result. */
  signatureIn(segment: SegmentLabels): string {
    const candidates = [segmentKey(segment), undefined].map((key) =>
      (this.#unknown.get(key) ?? []).map(({ id, bytes }) => [id, String(bytes)]),
    );
    return JSON.stringify([this.#listedAtMs === undefined, candidates, this.#missing]);
  }

  /** Undefined before the first list. `leakedBefore`: the ids that an earlier process found to be leaked. */
  findingsIn(
    segment: SegmentLabels,
    { measuredAtMs, leakedBefore }: FindingsOptions,
  ): ListFindings | undefined {
    const atMs = this.#listedAtMs;
    if (atMs === undefined) return undefined;
    const found = this.#stillUnknown(this.#unknown.get(segmentKey(segment)));
    const unlocated = this.#stillUnknown(this.#unknown.get(undefined));
    const isLeak = ({ id, isLeaked }: Candidate) => isLeaked || leakedBefore.has(id);
    const hasSizes = found.every(({ bytes }) => bytes > 0n);
    return {
      foreign: found.filter((one) => !isLeak(one)),
      leaked: found.filter(isLeak),
      lost: this.#known.unlistedIn(segment, { atMs, isListed: (handle) => this.#ids.has(handle) }),
      isComplete: atMs >= measuredAtMs && unlocated.length === 0 && hasSizes,
    };
  }

  /** For metrics: volumes of all segments. */
  totals(): Readonly<Record<'foreign' | 'leaked', readonly FoundVolume[]>> {
    const all = [...this.#unknown.values()].flatMap((list) => this.#stillUnknown(list));
    return {
      foreign: all.filter(({ isLeaked }) => !isLeaked),
      leaked: all.filter(({ isLeaked }) => isLeaked),
    };
  }

  /** The object of a volume may have been seen after the list. */
  #stillUnknown(candidates: readonly Candidate[] = []): readonly Candidate[] {
    return candidates.filter(
      ({ id, uid }) => !this.#isKnown(id) && !(uid !== undefined && this.#known.hasClaim(uid)),
    );
  }

  #candidate(volume: ListedVolume, wasLeaked: ReadonlySet<string>): Candidate | undefined {
    const { id, bytes } = volume;
    if (this.#isKnown(id)) return undefined;
    const uid = claimUidIn(volume);
    const hadObject = this.#known.ofHandle(id) !== undefined || wasLeaked.has(id);
    return { id, bytes, uid, isLeaked: hadObject || uid !== undefined };
  }

  /** A volume whose object went while the driver was asked may still be in the list. */
  #isKnown(id: string): boolean {
    const known = this.#known.ofHandle(id);
    return known !== undefined && (known.endedAtMs ?? Infinity) >= (this.#listedAtMs ?? 0);
  }
}

interface FindingsOptions {
  /** When the driver was asked for the capacity report. */
  readonly measuredAtMs: number;
  readonly leakedBefore: ReadonlySet<string>;
}

interface Candidate extends FoundVolume {
  /** The uid of the claim that the volume is named after. */
  readonly uid: string | undefined;
  readonly isLeaked: boolean;
}

const elsewhere = Symbol('in no segment of ours');

/** Finds the one segment that a volume is in. */
class SegmentFinder {
  readonly #segments: readonly SegmentLabels[];
  readonly #keys: ReadonlySet<string>;

  constructor(segments: readonly SegmentLabels[]) {
    this.#segments = segments;
    this.#keys = new Set(segments.map(segmentKey));
  }

  /** Undefined if the volume may be in several. */
  keyOf(topology: readonly SegmentLabels[]): string | undefined | typeof elsewhere {
    const [first, ...more] = topology;
    if (first === undefined) return this.#segments.length === 1 ? segmentKey(this.#segments[0]!) : undefined;
    // Most drivers name the labels of one segment, which needs no search.
    const exact = segmentKey(first);
    if (more.length === 0 && this.#keys.has(exact)) return exact;
    const found = this.#segments.filter((segment) =>
      topology.some((labels) => isCompatible(segment, labels)),
    );
    if (found.length === 0) return elsewhere;
    return found.length === 1 ? segmentKey(found[0]!) : undefined;
  }
}

function isCompatible(segment: SegmentLabels, labels: SegmentLabels): boolean {
  return Object.entries(segment).every(([key, value]) => labels[key] === undefined || labels[key] === value);
}

function segmentKey(segment: SegmentLabels): string {
  return JSON.stringify(sortedKeys(segment).map((key) => [key, segment[key]]));
}

/** Provisioners call volumes `pvc-` and the uid of the claim, and many drivers have that name in the id or the context of a volume. */
const provisionedName = /\bpvc-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/;

function claimUidIn({ id, context }: ListedVolume): string | undefined {
  for (const text of [id, ...Object.values(context)]) {
    const uid = provisionedName.exec(text)?.[1];
    if (uid !== undefined) return uid;
  }
  return undefined;
}
