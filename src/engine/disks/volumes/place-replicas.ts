import {
  chooseDisk,
  type DiskCandidate,
  type DiskChoice,
  type DiskPlace,
  diskRefusalText,
  isFullOfEntries,
} from '../choose-disk.ts';
import { requestDemand } from '../disk-candidate.ts';
import {
  answerOf,
  type DiskVolumePlan,
  grantedTo,
  type ReplicaView,
  unfinishedPlan,
  unplacedReplica,
  type VolumeStep,
  type VolumeView,
} from './volume-model.ts';

/** Undefined if every replica has been granted its bytes. */
export function placeReplicas(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  bytes: number,
  disks: readonly DiskCandidate[],
): DiskVolumePlan | undefined {
  const open = replicas.filter((replica) => grantedTo(replica) < bytes);
  if (open.length === 0) return undefined;
  const placement = new Placement(view, replicas, bytes, disks);
  const steps = open.flatMap((replica) => placement.stepsOf(replica));
  const plan = unfinishedPlan(view, steps);
  const message = placement.refusal;
  return message === undefined ? plan : { ...plan, allocation: { kind: 'waiting-for-disk', bytes, message } };
}

/** Whether disks have the bytes for `count` more replicas, each placed separately. */
export function canPlaceMore(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  {
    bytes,
    disks,
    count,
  }: { readonly bytes: number; readonly disks: readonly DiskCandidate[]; readonly count: number },
): boolean {
  const placement = new Placement(view, replicas, bytes, disks);
  for (let at = 0; at < count; at += 1) placement.stepsOf(unplacedReplica(`replacement ${at}`, bytes));
  return placement.refusal === undefined;
}

/** Places the replicas of one volume one after the other; each sees where the ones before it go. */
class Placement {
  refusal: string | undefined;
  readonly #view: VolumeView;
  readonly #bytes: number;
  readonly #places: Map<string, DiskPlace>;
  readonly #disks: Map<string, DiskCandidate>;
  /** Names of the replicas that leave. */
  readonly #leaving: ReadonlySet<string>;

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
    this.#leaving = new Set(replicas.flatMap(({ name, place }) => (place?.isEvicted === true ? [name] : [])));
  }

  /** The steps of a replica that does not have its bytes yet. */
  stepsOf(replica: ReplicaView): readonly VolumeStep[] {
    const { name, place, entry, hasData, isOverdue } = replica;
    if (place === undefined) return this.#moveTo(replica, []);
    const diskUUID = place.uuid;
    const unassign = { kind: 'unassign', replica: name, diskUUID } as const;
    if (entry === undefined) {
      if (!hasData) return this.#moveTo(replica, [unassign]);
      this.refusal ??= `replica ${name}: its disk ${diskUUID} has no DiskSchedule`;
      return [];
    }
    const state = this.#disks.get(diskUUID)?.state;
    const isRemoved = state?.kind === 'unknown' && state.isRemoved === true;
    if (entry.askedBytes === undefined && !hasData && (isRemoved || this.#isFull(diskUUID)))
      return this.#moveTo(replica, [unassign]);
    if (entry.askedBytes !== this.#bytes)
      return [{ kind: 'request', replica: name, diskUUID, bytes: this.#bytes }];
    if (grantedTo(replica) > 0 || hasData) return [];
    const withdraw = { kind: 'withdraw', replica: name, diskUUID } as const;
    if (isRemoved || (answerOf(entry) === undefined && isOverdue))
      return [withdraw, ...this.#moveTo(replica, [unassign])];
    if (answerOf(entry)?.state !== 'rejected') return [];
    // If no other disk fits, the request stays: the disk grants it when bytes become free.
    const steps = this.#moveTo(replica, []);
    return steps.length === 0 ? [] : [withdraw, ...steps];
  }

  #isFull(diskUUID: string): boolean {
    const disk = this.#disks.get(diskUUID);
    return disk !== undefined && isFullOfEntries(disk);
  }

  /** The steps to another disk, or `otherwise` if none fits. */
  #moveTo(replica: ReplicaView, otherwise: readonly VolumeStep[]): readonly VolumeStep[] {
    const { name, place } = replica;
    this.#places.delete(name);
    const choice = this.#choose(replica);
    if (choice.kind === 'refused') {
      this.refusal ??= `replica ${name}: ${diskRefusalText(choice.obstacles)}`;
      if (place !== undefined) this.#places.set(name, place);
      return otherwise;
    }
    const { disk } = choice;
    this.#places.set(name, disk);
    this.#disks.set(disk.uuid, {
      ...disk,
      demandBytes: disk.demandBytes + this.#bytes,
      entryCount: (disk.entryCount ?? 0) + 1,
    });
    return [
      { kind: 'assign', replica: name, disk },
      { kind: 'request', replica: name, diskUUID: disk.uuid, bytes: this.#bytes },
    ];
  }

  /** A node or zone that only evicted replicas use is chosen if no other fits. */
  #choose(replica: ReplicaView): DiskChoice {
    const { place, rejectedBy } = replica;
    const { nodeSelector, diskSelector, antiAffinity } = this.#view;
    const requirements = {
      bytes: this.#bytes,
      nodeSelector,
      diskSelector,
      antiAffinity,
      rejectedBy: place === undefined ? rejectedBy : new Set([...rejectedBy, place.uuid]),
    };
    const places = [...this.#places];
    const others = places.map(([, other]) => other);
    const choice = chooseDisk(this.#candidates(replica), { ...requirements, others });
    if (choice.kind === 'chosen' || this.#leaving.size === 0) return choice;
    const staying = places.flatMap(([name, other]) => (this.#leaving.has(name) ? [] : [other]));
    return chooseDisk(this.#candidates(replica), { ...requirements, others: staying });
  }

  /** The replica's own request does not compete with itself. */
  #candidates({ place, entry }: ReplicaView): Iterable<DiskCandidate> {
    const own = this.#disks.get(place?.uuid ?? '');
    if (own === undefined || entry?.askedBytes === undefined) return this.#disks.values();
    const others = {
      ...own,
      demandBytes: own.demandBytes - requestDemand(entry.askedBytes, entry.verdict),
      entryCount: (own.entryCount ?? 1) - 1,
    };
    return [...this.#disks.values()].map((disk) => (disk === own ? others : disk));
  }
}
