import {
  chooseDisk,
  type DiskCandidate,
  type DiskPlace,
  diskRefusalText,
  isFullOfEntries,
} from '../choose-disk.ts';
import { requestDemand } from '../disk-candidate.ts';
import { missingBytesText } from '../exact-bytes.ts';
import type { CopyView, ImageView } from './image-view.ts';

/** Copies of one image never share a disk, and share a node or zone only if no other disk fits. */
const antiAffinity = { node: 'soft', zone: 'soft', disk: 'hard' } as const;

/** Without a known size, a disk must at least not be full. */
const blindBytes = 1;

/** Places the copies of one image one after the other; each sees where the ones before it go. */
export class CopyPlacement {
  readonly #view: ImageView;
  readonly #disks: Map<string, DiskCandidate>;
  /** Where the copies are that count. */
  readonly #places: Map<string, DiskPlace>;
  readonly #added: string[] = [];

  constructor(view: ImageView, staying: readonly CopyView[], disks: readonly DiskCandidate[]) {
    this.#view = view;
    this.#disks = new Map(disks.map((disk) => [disk.uuid, disk]));
    this.#places = new Map(staying.map(({ place }) => [place.uuid, place]));
  }

  /** UUIDs of the disks that get a copy. */
  get added(): readonly string[] {
    return this.#added;
  }

  /** Whether requests can be made for this disk: it has a schedule, and was not abandoned. */
  takes(uuid: string): boolean {
    const state = this.#disks.get(uuid)?.state;
    return state !== undefined && !(state.kind === 'unknown' && state.isRemoved === true);
  }

  /** A copy on this disk, whatever its room; none if requests can't be made for it. Says why if its schedule is full. */
  addOn(uuid: string): string | undefined {
    const disk = this.#disks.get(uuid);
    if (disk === undefined || !this.takes(uuid)) return undefined;
    if (isFullOfEntries(disk))
      return `the copy on disk ${disk.name} on node ${disk.nodeName}: the disk has the most replicas and images that it can have`;
    this.#add(disk);
    return undefined;
  }

  /** A copy on the best disk; otherwise says why none fits. */
  addAnywhere(): string | undefined {
    return this.#choose(undefined);
  }

  /** Another disk for a copy that its disk does not take; otherwise says why none fits. */
  move(copy: CopyView): string | undefined {
    this.#places.delete(copy.place.uuid);
    const refusal = this.#choose(copy);
    if (refusal !== undefined) this.#places.set(copy.place.uuid, copy.place);
    return refusal;
  }

  /** Why the disk of the copy does not grant it this many more bytes. */
  shortage({ place, diskName }: CopyView, moreBytes: number): string {
    const disk = this.#disks.get(place.uuid);
    const where = `the copy on disk ${diskName} on node ${place.nodeName}`;
    if (disk?.state.kind !== 'ready') return `${where}: the room of the disk is unknown`;
    if (disk.state.closed !== undefined) return `${where}: ${disk.state.closed.message}`;
    const free = disk.state.limitBytes - disk.grantedBytes;
    const missing = Math.max(0, moreBytes - free);
    return `${where}: ${missingBytesText({ free, requested: moreBytes, missing })}`;
  }

  #choose(moved: CopyView | undefined): string | undefined {
    const { bytes = blindBytes, nodeSelector, diskSelector, rejectedBy, failedOn } = this.#view;
    const avoided = new Set([...rejectedBy, ...failedOn, ...(moved === undefined ? [] : [moved.place.uuid])]);
    const candidates = this.#candidates(moved);
    if (candidates.length === 0 && this.#disks.size > 0)
      return `each of the ${this.#disks.size} disks has a copy already`;
    const choice = chooseDisk(candidates, {
      bytes,
      nodeSelector,
      diskSelector,
      antiAffinity,
      others: [...this.#places.values()],
      rejectedBy: avoided,
    });
    if (choice.kind === 'refused') return `one more copy: ${diskRefusalText(choice.obstacles)}`;
    this.#add(choice.disk);
    return undefined;
  }

  /** Disks without a copy. The request of a copy that is moved does not compete with itself. */
  #candidates(moved: CopyView | undefined): readonly DiskCandidate[] {
    const taken = new Set([...this.#view.copies.map(({ place }) => place.uuid), ...this.#added]);
    const free = [...this.#disks.values()].filter(({ uuid }) => !taken.has(uuid));
    const own = this.#disks.get(moved?.place.uuid ?? '');
    if (own === undefined) return free;
    const { askedBytes, verdict } = moved?.entry ?? {};
    const ownBytes = askedBytes === undefined ? 0 : requestDemand(askedBytes, verdict);
    return [...free, { ...own, demandBytes: own.demandBytes - ownBytes }];
  }

  #add(disk: DiskCandidate): void {
    const { bytes = 0 } = this.#view;
    this.#added.push(disk.uuid);
    this.#places.set(disk.uuid, disk);
    this.#disks.set(disk.uuid, { ...disk, demandBytes: disk.demandBytes + bytes });
  }
}
