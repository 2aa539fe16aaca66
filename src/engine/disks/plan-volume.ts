import type { DiskVerdict } from '../../kube/disks/disk-schedule.ts';
import {
  type AntiAffinity,
  chooseDisk,
  type DiskCandidate,
  type DiskPlace,
  diskRefusalText,
} from './choose-disk.ts';

/** Everything that the next steps of a volume depend on. */
export interface VolumeView {
  readonly name: string;
  /** The size that people want. */
  readonly wantedBytes: number;
  /** The size that every replica has; undefined until all have been placed for the first time. */
  readonly currentBytes: number | undefined;
  readonly numberOfReplicas: number;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly antiAffinity: Readonly<Record<'node' | 'zone' | 'disk', AntiAffinity>>;
  readonly replicas: readonly ReplicaView[];
  /** The last expansion that a disk refused, while it may not be tried again. */
  readonly refusedExpansion: RefusedExpansion | undefined;
}

export interface ReplicaView {
  readonly name: string;
  readonly sizeBytes: number;
  readonly isDeleting: boolean;
  readonly isRunningDesired: boolean;
  /** It had all of the data once. */
  readonly hasData: boolean;
  /** Undefined until it has been assigned to a disk. */
  readonly place: (DiskPlace & { readonly isEvicted: boolean }) | undefined;
  /** Undefined if there is no schedule of its disk. */
  readonly entry: DiskEntry | undefined;
  /** No verdict came within the time that a requester waits. */
  readonly isOverdue: boolean;
  readonly rejectedBy: ReadonlySet<string>;
}

/** The replica's request in the schedule of its disk, and the verdict. */
export interface DiskEntry {
  readonly askedBytes: number | undefined;
  readonly verdict: DiskVerdict | undefined;
}

export interface RefusedExpansion {
  readonly bytes: number;
  readonly diskUUID: string;
  readonly message: string;
}

/** One write. Steps are carried out in order; whatever fails, the next plan starts from what is stored. */
export type VolumeStep =
  | { readonly kind: 'create'; readonly replica: string; readonly bytes: number }
  | { readonly kind: 'delete'; readonly replica: string }
  | { readonly kind: 'assign'; readonly replica: string; readonly disk: DiskCandidate }
  | { readonly kind: 'request'; readonly replica: string; readonly diskUUID: string; readonly bytes: number }
  /** Only if the schedule is still the one that was read: a verdict that came meanwhile is used. */
  | { readonly kind: 'withdraw'; readonly replica: string; readonly diskUUID: string }
  | { readonly kind: 'unassign'; readonly replica: string; readonly diskUUID: string }
  | { readonly kind: 'start'; readonly replica: string }
  | { readonly kind: 'grow'; readonly replica: string; readonly bytes: number };

export interface DiskVolumePlan {
  readonly steps: readonly VolumeStep[];
  /** The size that all replicas have now. */
  readonly currentBytes: number | undefined;
  readonly allocation: AllocationState;
  readonly refusedExpansion: RefusedExpansion | undefined;
}

export type AllocationState =
  | { readonly kind: 'allocated'; readonly bytes: number }
  | { readonly kind: 'waiting-for-verdict' }
  /** No disk fits; one that gains room may. */
  | { readonly kind: 'waiting-for-disk'; readonly bytes: number; readonly message: string }
  | { readonly kind: 'expansion-refused'; readonly bytes: number; readonly message: string };

/** The next writes of a volume. Pure: the same view gives the same plan, so that two instances do the same. */
export function planVolume(view: VolumeView, disks: readonly DiskCandidate[]): DiskVolumePlan {
  const replicas = view.replicas.filter(({ isDeleting }) => !isDeleting);
  const bytes = committedBytes(view, replicas);
  const counted = countSteps(view, replicas, bytes);
  if (counted.length > 0) return unfinished(view, counted);
  const placed = placeReplicas(view, replicas, bytes, disks);
  if (placed !== undefined) return placed;
  return expand(view, replicas, bytes, disks);
}

/** What replicas have or are to have. An expansion counts from the moment when the first replica has grown: it is completed then. */
function committedBytes({ currentBytes, wantedBytes }: VolumeView, replicas: readonly ReplicaView[]): number {
  return Math.max(currentBytes ?? 0, ...replicas.map(({ sizeBytes }) => sizeBytes)) || wantedBytes;
}

// ── How many replicas ──

function countSteps(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  bytes: number,
): readonly VolumeStep[] {
  const staying = replicas.filter(({ place }) => place?.isEvicted !== true);
  const missing = view.numberOfReplicas - staying.length;
  if (missing > 0) return newNames(view, missing).map((replica) => ({ kind: 'create', replica, bytes }));
  if (missing < 0)
    return leastValuable(staying)
      .slice(0, -missing)
      .map(({ name }) => ({ kind: 'delete', replica: name }));
  return evicted(replicas, staying);
}

/** Names are fixed by the volume, so that two instances that create replicas at once create the same ones. */
function newNames({ name, replicas }: VolumeView, count: number): readonly string[] {
  const taken = new Set(replicas.map((replica) => replica.name));
  const names: string[] = [];
  for (let at = 0; names.length < count; at += 1)
    if (!taken.has(`${name}-r${at}`)) names.push(`${name}-r${at}`);
  return names;
}

function leastValuable(replicas: readonly ReplicaView[]): readonly ReplicaView[] {
  const value = ({ hasData, place }: ReplicaView) => Number(hasData) * 2 + Number(place !== undefined);
  return replicas.toSorted((a, b) => value(a) - value(b) || (a.name < b.name ? 1 : -1));
}

/** An evicted replica goes when enough others have what it has: the data, or at least the bytes. */
function evicted(replicas: readonly ReplicaView[], staying: readonly ReplicaView[]): readonly VolumeStep[] {
  const leaving = replicas.filter(({ place }) => place?.isEvicted === true);
  return leaving
    .filter(({ hasData }) => staying.every((other) => (hasData ? other.hasData : grantedTo(other) > 0)))
    .map(({ name }) => ({ kind: 'delete', replica: name }));
}

// ── Where they are ──

/** Undefined if every replica has been granted its bytes. */
function placeReplicas(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  bytes: number,
  disks: readonly DiskCandidate[],
): DiskVolumePlan | undefined {
  const open = replicas.filter((replica) => grantedTo(replica) < bytes);
  if (open.length === 0) return undefined;
  const placement = new Placement(view, replicas, bytes, disks);
  const steps = open.flatMap((replica) => placement.stepsOf(replica));
  const plan = unfinished(view, steps);
  const message = placement.refusal;
  return message === undefined ? plan : { ...plan, allocation: { kind: 'waiting-for-disk', bytes, message } };
}

/** Places the replicas of one volume one after the other; each sees where the ones before it go. */
class Placement {
  refusal: string | undefined;
  readonly #view: VolumeView;
  readonly #bytes: number;
  readonly #places: Map<string, DiskPlace>;
  readonly #disks: Map<string, DiskCandidate>;

  constructor(
    view: VolumeView,
    replicas: readonly ReplicaView[],
    bytes: number,
    disks: readonly DiskCandidate[],
  ) {
    this.#view = view;
    this.#bytes = bytes;
    this.#places = new Map(
      replicas.flatMap(({ name, place }) => (place === undefined ? [] : [[name, place]])),
    );
    this.#disks = new Map(disks.map((disk) => [disk.uuid, disk]));
  }

  /** The steps of a replica that does not have its bytes yet. */
  stepsOf(replica: ReplicaView): readonly VolumeStep[] {
    const { name, place, entry, hasData, isOverdue } = replica;
    if (place === undefined) return this.#moveTo(replica, []);
    if (entry === undefined) {
      if (!hasData) return this.#moveTo(replica, [{ kind: 'unassign', replica: name, diskUUID: place.uuid }]);
      this.refusal ??= `replica ${name}: its disk ${place.uuid} has no DiskSchedule`;
      return [];
    }
    if (entry.askedBytes !== this.#bytes)
      return [{ kind: 'request', replica: name, diskUUID: place.uuid, bytes: this.#bytes }];
    if (grantedTo(replica) > 0 || hasData) return [];
    const withdraw = { kind: 'withdraw', replica: name, diskUUID: place.uuid } as const;
    if (answerOf(entry)?.state === 'rejected') {
      // If no other disk fits, the request stays: the disk grants it when bytes become free.
      const steps = this.#moveTo(replica, []);
      return steps.length === 0 ? [] : [withdraw, ...steps];
    }
    if (!isOverdue) return [];
    const unassign = { kind: 'unassign', replica: name, diskUUID: place.uuid } as const;
    return [withdraw, ...this.#moveTo(replica, [unassign])];
  }

  /** The steps to another disk, or `otherwise` if none fits. */
  #moveTo(replica: ReplicaView, otherwise: readonly VolumeStep[]): readonly VolumeStep[] {
    const { name, place, rejectedBy } = replica;
    const { nodeSelector, diskSelector, antiAffinity } = this.#view;
    this.#places.delete(name);
    const choice = chooseDisk(this.#candidates(replica), {
      bytes: this.#bytes,
      nodeSelector,
      diskSelector,
      antiAffinity,
      others: [...this.#places.values()],
      rejectedBy: place === undefined ? rejectedBy : new Set([...rejectedBy, place.uuid]),
    });
    if (choice.kind === 'refused') {
      this.refusal ??= `replica ${name}: ${diskRefusalText(choice.obstacles)}`;
      if (place !== undefined) this.#places.set(name, place);
      return otherwise;
    }
    const { disk } = choice;
    this.#places.set(name, disk);
    this.#disks.set(disk.uuid, { ...disk, demandBytes: disk.demandBytes + this.#bytes });
    return [
      { kind: 'assign', replica: name, disk },
      { kind: 'request', replica: name, diskUUID: disk.uuid, bytes: this.#bytes },
    ];
  }

  /** The replica's own request does not compete with itself. */
  #candidates({ place, entry }: ReplicaView): Iterable<DiskCandidate> {
    const own = this.#disks.get(place?.uuid ?? '');
    if (own === undefined || entry?.askedBytes === undefined) return this.#disks.values();
    const others = { ...own, demandBytes: own.demandBytes - entry.askedBytes };
    return [...this.#disks.values()].map((disk) => (disk === own ? others : disk));
  }
}

// ── How large they are ──

/** All replicas have been granted `bytes`. */
function expand(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  bytes: number,
  disks: readonly DiskCandidate[],
): DiskVolumePlan {
  const steps: VolumeStep[] = replicas.flatMap((replica): readonly VolumeStep[] => [
    ...(replica.sizeBytes < bytes ? [{ kind: 'grow', replica: replica.name, bytes } as const] : []),
    ...(replica.isRunningDesired ? [] : [{ kind: 'start', replica: replica.name } as const]),
  ]);
  const isGrown = replicas.every(({ sizeBytes }) => sizeBytes >= bytes);
  const currentBytes = isGrown ? bytes : view.currentBytes;
  const plan = { currentBytes, refusedExpansion: undefined };
  const { wantedBytes } = view;
  const allocated = { kind: 'allocated', bytes } as const;
  if (!isGrown) return { ...plan, steps, allocation: { kind: 'waiting-for-verdict' } };
  if (wantedBytes <= bytes)
    return { ...plan, steps: [...steps, ...requests(replicas, bytes)], allocation: allocated };

  const refused = view.refusedExpansion?.bytes === wantedBytes ? view.refusedExpansion : undefined;
  if (refused !== undefined) {
    const allocation = { kind: 'expansion-refused', ...refused } as const;
    return {
      ...plan,
      steps: [...steps, ...requests(replicas, bytes)],
      allocation,
      refusedExpansion: refused,
    };
  }
  const asked = requests(replicas, wantedBytes);
  if (asked.length > 0)
    return { ...plan, steps: [...steps, ...asked], allocation: { kind: 'waiting-for-verdict' } };
  return { ...plan, ...expansionOutcome(replicas, wantedBytes, steps, disks) };
}

/** All replicas have requested the larger size: nothing is decided before every disk has answered. */
function expansionOutcome(
  replicas: readonly ReplicaView[],
  bytes: number,
  steps: readonly VolumeStep[],
  disks: readonly DiskCandidate[],
): Pick<DiskVolumePlan, 'steps' | 'allocation' | 'refusedExpansion'> {
  const answers = replicas.map((replica) => ({ replica, answer: answerOf(replica.entry) }));
  if (answers.some(({ replica, answer }) => answer === undefined && !replica.isOverdue))
    return { steps, allocation: { kind: 'waiting-for-verdict' }, refusedExpansion: undefined };
  const no = answers.find(({ answer }) => answer?.state !== 'scheduled');
  if (no === undefined) {
    const grown = replicas.map(({ name }) => ({ kind: 'grow', replica: name, bytes }) as const);
    return {
      steps: [...steps, ...grown],
      allocation: { kind: 'waiting-for-verdict' },
      refusedExpansion: undefined,
    };
  }
  const { replica, answer } = no;
  const disk = disks.find(({ uuid }) => uuid === replica.place?.uuid);
  const why = answer === undefined ? 'it does not answer' : shortage(replica, bytes, disk);
  const message = `expansion to ${bytes} bytes: disk ${disk?.name} on node ${replica.place?.nodeName}: ${why}`;
  const refusedExpansion = { bytes, message, diskUUID: replica.place?.uuid ?? '' };
  return { steps, allocation: { kind: 'expansion-refused', ...refusedExpansion }, refusedExpansion };
}

function shortage(replica: ReplicaView, bytes: number, disk: DiskCandidate | undefined): string {
  if (disk?.state.kind !== 'ready') return 'its room is unknown';
  const free = disk.state.limitBytes - disk.grantedBytes;
  const more = bytes - grantedTo(replica);
  return `${free} bytes free, ${more} more requested: ${Math.max(0, more - free)} missing`;
}

/** Requests that differ from `bytes`. */
function requests(replicas: readonly ReplicaView[], bytes: number): readonly VolumeStep[] {
  return replicas.flatMap(({ name, place, entry }) =>
    place === undefined || entry === undefined || entry.askedBytes === bytes
      ? []
      : [{ kind: 'request', replica: name, diskUUID: place.uuid, bytes } as const],
  );
}

// ── Verdicts ──

/** The verdict, if it answers the request as it is now. */
function answerOf(entry: DiskEntry | undefined): DiskVerdict | undefined {
  const { askedBytes, verdict } = entry ?? {};
  return verdict?.observedSize === askedBytes ? verdict : undefined;
}

function grantedTo({ entry }: ReplicaView): number {
  return entry?.askedBytes === undefined ? 0 : (entry.verdict?.scheduledSize ?? 0);
}

function unfinished(view: VolumeView, steps: readonly VolumeStep[]): DiskVolumePlan {
  const { currentBytes } = view;
  return { steps, currentBytes, allocation: { kind: 'waiting-for-verdict' }, refusedExpansion: undefined };
}
