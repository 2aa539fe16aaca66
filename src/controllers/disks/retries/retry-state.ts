import { type DiskCandidate, freeBytesOf } from '../../../engine/disks/choose-disk.ts';
import type { DiskChange, DiskIndex } from '../../../engine/disks/disk-index.ts';
import type { ExpansionNeeds } from '../../../engine/disks/volumes/expansion-room.ts';
import type { DiskEntry } from '../../../engine/disks/volumes/volume-model.ts';
import type { ObservedAges } from '../../../engine/disks/volumes/volume-view.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { SeenSince } from '../../../runtime/seen-since.ts';
import { RefusedExpansions } from './refused-expansions.ts';
import { WaitingForBytes } from './waiting-for-bytes.ts';
import { WritePace } from './write-pace.ts';

/** How long a requester waits for the verdict of a disk that is not ready, and of any other disk. */
const notReadyMaxMs = 30_000;
const answerMaxMs = 120_000;
/** The shortest time after which a refused expansion is tried again because its disks have free bytes for it; up to twice as long. */
const retryMinMs = 200;
/** An owner without a disk is planned again after this time: rejections expire, and no event reports that. */
const waitingMs = 60_000;

/** The changes that an owner waits for, other than those of its own objects. */
export interface AwaitedChanges {
  /** It waits until one disk has this many free bytes. */
  readonly diskBytes?: number | undefined;
  /** It waits until each of these disks has the free bytes for a refused expansion. */
  readonly expansion?: ExpansionNeeds | undefined;
  /** Some of its replicas are on a disk that is unknown now, or that was abandoned: any disk that appears may be theirs. */
  readonly isDiskMissing?: boolean;
}

/**
 * When each Volume or BackingImage (the owner) is planned again: the changes that it waits for, for how long requests have had no verdict and replicas have been
 * broken, and how often it may be written. All of it is in memory: after a restart the times begin again, so owners wait longer, and nothing is lost.
 */
export class RetryState implements ObservedAges {
  readonly #context: Pick<ControllerContext, 'random'>;
  readonly #queue: WorkQueue;
  readonly #pace: WritePace;
  readonly #waiting: WaitingForBytes;
  readonly #refused: RefusedExpansions;
  /** Owners that wait for a missing disk. */
  readonly #missingDisk = new Set<string>();
  /** Owners that are planned again after some time, without an event. */
  readonly #timed = new Set<string>();
  /** Since when each request has had no verdict on the bytes that it asks for. */
  readonly #pending: SeenSince<number>;
  /** Since when each replica is broken, or is not. */
  readonly #broken: SeenSince<string>;

  constructor(
    context: Pick<ControllerContext, 'clock' | 'random'>,
    queue: WorkQueue,
    diskIndex: Pick<DiskIndex, 'get'>,
  ) {
    this.#context = context;
    this.#queue = queue;
    this.#pace = new WritePace(context.clock);
    this.#pending = new SeenSince(context.clock);
    this.#broken = new SeenSince(context.clock);
    this.#waiting = new WaitingForBytes((owner) => queue.add(owner));
    // Volumes that two instances expand, and that block each other, must not try again at the same moment.
    this.#refused = new RefusedExpansions(diskIndex, (owner) =>
      queue.addAfter(owner, retryMinMs + context.random.int(retryMinMs)),
    );
  }

  /** Forgets an owner that is deleted. */
  forget(owner: string): void {
    this.waitFor(owner, {});
    this.#timed.delete(owner);
    this.#pace.delete(owner);
  }

  /** Forgets a replica that is deleted. */
  forgetReplica(name: string): void {
    this.#pending.delete(name);
    this.#broken.delete(name);
  }

  /** Returns 0 if the writes of the owner may be sent now: then they count. Otherwise returns how long to wait. */
  takeWriteMs(owner: string): number {
    return this.#pace.takeMs(owner);
  }

  // ── Changes of disks ──

  /** Replaces the changes that the owner waits for. Without any, only the events of its own objects wake it. */
  waitFor(owner: string, { diskBytes, expansion, isDiskMissing = false }: AwaitedChanges): void {
    if (diskBytes === undefined) this.#waiting.delete(owner);
    else this.#waiting.add(owner, diskBytes);
    if (isDiskMissing) this.#missingDisk.add(owner);
    else this.#missingDisk.delete(owner);
    this.#refused.set(owner, expansion);
  }

  /** Wakes the owners that the disk may help: it is new, or may accept requests that it would have rejected before. */
  diskGained({ disk, before }: DiskChange): void {
    this.#waiting.gained(freeBytesOf(disk));
    if (before === undefined || before.state.kind === 'unknown')
      for (const owner of this.#missingDisk) this.#queue.add(owner);
  }

  /** Wakes the owners whose refused expansion all disks would grant now. */
  diskChanged(uuid: string): void {
    this.#refused.diskChanged(uuid);
  }

  // ── Times ──

  isOverdue(request: string, entry: DiskEntry | undefined, disk: DiskCandidate | undefined): boolean {
    return this.verdictDueMs(request, entry, disk) === 0;
  }

  /** How long the requester still waits for the verdict; undefined if the disk has answered, or if nothing is requested. */
  verdictDueMs(
    request: string,
    entry: DiskEntry | undefined,
    disk: DiskCandidate | undefined,
  ): number | undefined {
    const bytes = entry?.askedBytes;
    if (bytes === undefined || entry?.verdict?.observedSize === bytes) {
      this.#pending.delete(request);
      return undefined;
    }
    const ageMs = this.#pending.ageMs(request, bytes);
    const maxMs = disk?.state.kind === 'ready' ? answerMaxMs : notReadyMaxMs;
    return Math.max(0, maxMs - ageMs);
  }

  brokenMs({ metadata }: Replica, isBroken: boolean): number | undefined {
    const ageMs = this.#broken.ageMs(metadata?.name ?? '', `${metadata?.uid} ${isBroken}`);
    return isBroken ? ageMs : undefined;
  }

  /** The time after which an owner without a disk is planned again. It is random, so that owners do not all retry at the same moment. */
  slowRetryMs(): number {
    return Math.round(waitingMs * (1 + this.#context.random.next() / 4));
  }

  /** Plans the owner again after the shortest delay, if there is one. */
  requeueAfter(owner: string, delaysMs: readonly number[]): Requeue | undefined {
    if (delaysMs.length === 0) {
      this.#timed.delete(owner);
      return undefined;
    }
    this.#timed.add(owner);
    return { afterMs: Math.min(...delaysMs) };
  }

  /** Whether the owner is planned again without an event; a sweep leaves it out. */
  isTimed(owner: string): boolean {
    return this.#timed.has(owner);
  }
}
