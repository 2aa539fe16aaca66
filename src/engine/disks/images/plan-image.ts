import type { DiskCandidate } from '../choose-disk.ts';
import { CopyPlacement } from './copy-placement.ts';
import {
  copyGrantedBytes,
  copyVerdict,
  hasProgress,
  isCopyHealthy,
  isCopyReady,
  isGranted,
  isRefused,
} from './copy-state.ts';
import type { CopyView, ImageAllocation, ImagePlan, ImageStep, ImageView } from './image-view.ts';

/** A copy that is neither needed nor among the fewest that there should be is kept for this time after its last use. */
export const idleCopyMaxMs = 60 * 60_000;

/** The next writes of an image. Pure: the same view gives the same plan, so that two instances do the same. */
export function planImage(view: ImageView, disks: readonly DiskCandidate[]): ImagePlan {
  return view.deletion === 'free' ? planDeletion(view) : new CopiesPlan(view, disks).plan();
}

// ── Deletion ──

/** No copy is wanted any more: once all files are deleted, the bytes are released, and then the finalizer is removed. */
function planDeletion({ copies, isProtected }: ImageView): ImagePlan {
  const remove = copies.filter(({ isWanted }) => isWanted).map(uuidOf);
  const steps: ImageStep[] = remove.length === 0 ? [] : [placeStep({ remove })];
  steps.push(...copies.filter(isReleasable).map(releaseStep));
  const isGone = copies.every(({ state }) => state === undefined);
  if (isGone && isProtected) steps.push({ kind: 'unprotect' });
  return { steps, allocation: { kind: 'waiting-for-verdict' } };
}

// ── Copies ──

/** The plan of an image that stays. */
class CopiesPlan {
  readonly #view: ImageView;
  readonly #placement: CopyPlacement;
  readonly #wanted: readonly CopyView[];
  readonly #failed: readonly CopyView[];
  /** Copies that are to go when others replace them. */
  readonly #leaving: readonly CopyView[];
  /** Copies that count. */
  #staying: readonly CopyView[];
  readonly #removed = new Set<CopyView>();
  readonly #rejected: CopyView[] = [];
  #refusal: string | undefined;
  #isDelayed = false;

  constructor(view: ImageView, disks: readonly DiskCandidate[]) {
    this.#view = view;
    this.#wanted = view.copies.filter(({ isWanted }) => isWanted);
    this.#failed = this.#wanted.filter(({ state }) => state === 'failed');
    const sound = this.#wanted.filter(({ state }) => state !== 'failed');
    this.#leaving = sound.filter(({ isEvicted, isLost }) => isEvicted || isLost);
    this.#staying = sound.filter((copy) => !this.#leaving.includes(copy));
    this.#placement = new CopyPlacement(view, this.#staying, disks);
  }

  plan(): ImagePlan {
    for (const copy of this.#failed) this.#removed.add(copy);
    this.#addNeeded();
    this.#addMissing();
    this.#removeSurplus();
    for (const copy of this.#staying.filter((one) => this.#isMisplaced(one))) this.#move(copy);
    this.#removeReplaced();
    return { steps: this.#steps(), allocation: this.#allocation() };
  }

  // ── Which copies there should be ──

  /** A replica's disk gets its copy even if it lacks room: the request waits there, because the copy can't be elsewhere. */
  #addNeeded(): void {
    for (const uuid of [...this.#view.neededOn.keys()].sort())
      if (!this.#isTaken(uuid) && this.#mayAdd(uuid)) this.#refusal ??= this.#placement.addOn(uuid);
  }

  /** A copy that its disk rejects does not count, also if it stays there for a replica. */
  #addMissing(): void {
    const { neededOn } = this.#view;
    const stuck = this.#staying.filter(
      (copy) => isRefused(copy) && !isCopyReady(copy) && neededOn.has(copy.place.uuid),
    );
    const count = () => this.#staying.length - stuck.length + this.#placement.added.length;
    while (count() < this.#view.minNumberOfCopies && this.#mayAdd()) {
      const refusal = this.#placement.addAnywhere();
      if (refusal === undefined) continue;
      this.#refusal ??= refusal;
      return;
    }
  }

  /** While no size is known, one copy is placed, without a request: the agent of its disk reads the length of the source. */
  #mayAdd(uuid?: string): boolean {
    const { bytes, failedOn, isSourceFailing, hasReadableLength } = this.#view;
    // A failure that has not been recorded yet delays like one that has.
    const isFailing = isSourceFailing || this.#failed.length > 0;
    if (isFailing || (uuid !== undefined && failedOn.has(uuid))) {
      this.#isDelayed = true;
      return false;
    }
    if (bytes !== undefined) return true;
    return hasReadableLength && this.#staying.length + this.#placement.added.length === 0;
  }

  /** A copy exists already, or has not been removed completely. */
  #isTaken(uuid: string): boolean {
    return this.#view.copies.some(({ place }) => place.uuid === uuid);
  }

  /** Its disk rejected it or does not answer, and it can be elsewhere. While no size is known, there is no request that the disk could answer. */
  #isMisplaced(copy: CopyView): boolean {
    const isSilent = this.#view.bytes === undefined ? !copy.isDiskReady : copy.isOverdue;
    const isUnanswered = isSilent && copyVerdict(copy) === undefined && !hasProgress(copy);
    const isRejected = isRefused(copy) && !isCopyReady(copy) && copy.state !== 'unknown';
    return (isUnanswered || isRejected) && !this.#view.neededOn.has(copy.place.uuid);
  }

  #move(copy: CopyView): void {
    const refusal = this.#placement.move(copy);
    // If no other disk fits, the request stays: the disk grants it when bytes become free.
    if (refusal !== undefined) {
      this.#refusal ??= refusal;
      return;
    }
    this.#removed.add(copy);
    this.#rejected.push(copy);
    this.#staying = this.#staying.filter((one) => one !== copy);
  }

  // ── Which copies go ──

  #removeReplaced(): void {
    for (const copy of this.#leaving) {
      const hasNothing = copy.isLost && !isCopyReady(copy);
      if (hasNothing || (!this.#blocks(copy) && this.#isReplaceable(copy, this.#staying)))
        this.#removed.add(copy);
    }
  }

  /** A replica that is still on the disk needs the copy, unless the disk no longer exists. */
  #blocks({ place, isLost }: CopyView): boolean {
    return !isLost && this.#view.neededOn.has(place.uuid);
  }

  /** Enough others have the data, or at least the bytes if it has no data. */
  #isReplaceable(copy: CopyView, others: readonly CopyView[]): boolean {
    const { bytes, minNumberOfCopies } = this.#view;
    const isEqual = hasProgress(copy) ? isCopyHealthy : (other: CopyView) => isGranted(other, bytes);
    return others.filter(isEqual).length >= minNumberOfCopies;
  }

  #removeSurplus(): void {
    for (const copy of this.#leastValuable()) {
      const others = this.#staying.filter((one) => one !== copy);
      const isIdle = isRefused(copy) || copy.idleMs >= idleCopyMaxMs;
      if (!isIdle || !this.#isReplaceable(copy, others)) continue;
      this.#removed.add(copy);
      this.#staying = others;
    }
  }

  /**
   * Copies that no replica needs: those without their bytes first, then those without all data, then those that can't be reached, then the longest
   * unused.
   */
  #leastValuable(): readonly CopyView[] {
    const { bytes, neededOn } = this.#view;
    const value = (copy: CopyView) =>
      Number(isCopyHealthy(copy)) * 4 + Number(isCopyReady(copy)) * 2 + Number(isGranted(copy, bytes));
    return this.#staying
      .filter(({ place }) => !neededOn.has(place.uuid))
      .toSorted(
        (a, b) => value(a) - value(b) || b.idleMs - a.idleMs || (a.place.uuid < b.place.uuid ? 1 : -1),
      );
  }

  // ── Steps ──

  #steps(): readonly ImageStep[] {
    const add = this.#placement.added;
    const removed = [...this.#removed];
    // Nothing has been made of a copy that waits for its bytes, so its request can go first.
    const withdrawn = this.#rejected.filter(
      (copy) => copy.entry.askedBytes !== undefined && !hasProgress(copy),
    );
    const { isProtected, deletion } = this.#view;
    const isPlaced = add.length > 0 || removed.length > 0 || (!isProtected && deletion === 'none');
    const place = placeStep({
      add,
      remove: removed.map(uuidOf).sort(),
      rejectedBy: this.#rejected.map(uuidOf),
      failedOn: this.#failed.map(uuidOf),
    });
    const left = this.#view.copies.filter((copy) => !copy.isWanted || this.#removed.has(copy));
    return [
      ...withdrawn.map((copy) => ({ kind: 'withdraw', diskUUID: uuidOf(copy) }) as const),
      ...(isPlaced ? [place] : []),
      ...this.#requests(add),
      ...left.filter((copy) => isReleasable(copy) && !withdrawn.includes(copy)).map(releaseStep),
    ];
  }

  /** Requests that are missing, or that are for another size. */
  #requests(added: readonly string[]): readonly ImageStep[] {
    const { bytes } = this.#view;
    if (bytes === undefined) return [];
    const kept = this.#wanted.filter((copy) => !this.#removed.has(copy));
    const open = kept.filter(
      ({ entry, place }) => this.#placement.takes(place.uuid) && entry.askedBytes !== bytes,
    );
    return [...added, ...open.map(uuidOf)].map((diskUUID) => ({ kind: 'request', diskUUID, bytes }));
  }

  // ── What is said about it ──

  #allocation(): ImageAllocation {
    const { bytes = 0 } = this.#view;
    const message = this.#shortage() ?? this.#refusal;
    if (message !== undefined) return { kind: 'waiting-for-disk', bytes, message };
    if (this.#view.bytes === undefined)
      return { kind: 'size-unknown', isReadable: this.#view.hasReadableLength };
    const counted = this.#staying;
    if (this.#placement.added.length > 0 || !counted.every((copy) => isGranted(copy, bytes)))
      return { kind: 'waiting-for-verdict' };
    if (this.#isDelayed) return { kind: 'retrying-later' };
    const isWaiting = [...this.#view.neededOn.keys()].some((uuid) => this.#isVacating(uuid));
    if (isWaiting) return { kind: 'waiting-for-verdict' };
    return { kind: 'allocated', bytes, copies: counted.length, staying: this.#blocked() };
  }

  /** The disk gets a copy again once the previous one was removed completely. */
  #isVacating(uuid: string): boolean {
    return this.#view.copies.some((copy) => !copy.isWanted && copy.place.uuid === uuid);
  }

  /** A copy that can't be elsewhere, and whose disk rejects it. */
  #shortage(): string | undefined {
    const { bytes = 0, neededOn } = this.#view;
    const copy = this.#staying.find(
      (one) => neededOn.has(one.place.uuid) && isRefused(one) && !isCopyReady(one),
    );
    return copy === undefined ? undefined : this.#placement.shortage(copy, bytes - copyGrantedBytes(copy));
  }

  /** Evicted copies that can't go because of a replica. */
  #blocked(): readonly string[] {
    return this.#leaving.flatMap((copy) => {
      if (!this.#blocks(copy)) return [];
      const { place, diskName } = copy;
      const where = `disk ${diskName} on node ${place.nodeName}`;
      return [`the copy on ${where} stays while replica ${this.#view.neededOn.get(place.uuid)} is there`];
    });
  }
}

function placeStep(facts: Partial<Omit<Extract<ImageStep, { kind: 'place' }>, 'kind'>>): ImageStep {
  return { kind: 'place', add: [], remove: [], rejectedBy: [], failedOn: [], ...facts };
}

function releaseStep({ place }: CopyView): ImageStep {
  return { kind: 'release', diskUUID: place.uuid };
}

/** The bytes are free once the file is deleted. */
function isReleasable({ entry, state }: CopyView): boolean {
  return entry.askedBytes !== undefined && state === undefined;
}

function uuidOf({ place }: CopyView): string {
  return place.uuid;
}
