import type { DiskCandidate } from '../../engine/disks/choose-disk.ts';
import type { VolumeStep } from '../../engine/disks/volumes/volume-model.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DiskCaches } from './disk-caches.ts';

/** How a cache shows a write: by another version of the object, or by another value of the field. */
export type ExpectedChange = 'version' | 'value';

/**
 * After this time the plan uses the state of the cache, in milliseconds. A value may have been replaced by the one before it, which no cache shows.
 * Versions never recur, so only a watch that is behind delays them: those of a busy process may be a minute behind, and writes that are repeated then
 * make it busier.
 */
const overdueMs: Readonly<Record<ExpectedChange, number>> = { version: 180_000, value: 20_000 };

interface ExpectedWrite {
  readonly isShown: () => boolean;
  readonly overdueAtMs: number;
}

interface OwnRequest {
  readonly replica: string;
  readonly diskUUID: string;
  readonly bytes: number;
}

/**
 * Writes of this process that its caches do not show yet, by Volume. They have two uses.
 *
 * The next plan of the volume waits for its writes (`remainingMs`). Each kind has its own watch, so the event of one write may arrive before that of an
 * earlier one; a plan from such caches would repeat writes, and conflict with the earlier ones. This only saves writes: every write carries a version or is
 * right whatever else changed, so a plan from stale caches is harmless too.
 *
 * The plans of other volumes count its requests (`addedTo`), so that volumes which are planned at the same time choose other disks. They only influence the
 * choice; disks decide by the stored requests.
 */
export class OwnWrites {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #schedules: DiskCaches['schedules'];
  readonly #expected = new Map<string, ExpectedWrite[]>();
  readonly #requests = new Map<string, readonly OwnRequest[]>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, { schedules }: Pick<DiskCaches, 'schedules'>) {
    this.#clock = clock;
    this.#schedules = schedules;
  }

  // ── Writes that were stored ──

  add(volume: string, change: ExpectedChange, isShown: () => boolean): void {
    const writes = this.#expected.get(volume) ?? [];
    writes.push({ isShown, overdueAtMs: this.#clock.monotonicMs() + overdueMs[change] });
    this.#expected.set(volume, writes);
  }

  /** How long the volume's next plan waits at most; undefined if the caches show all of its writes. */
  remainingMs(volume: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const missing = (this.#expected.get(volume) ?? []).filter(
      ({ isShown, overdueAtMs }) => overdueAtMs > nowMs && !isShown(),
    );
    if (missing.length === 0) {
      this.#expected.delete(volume);
      return undefined;
    }
    this.#expected.set(volume, missing);
    return Math.max(...missing.map(({ overdueAtMs }) => overdueAtMs - nowMs));
  }

  /** Forgets the stored writes of a volume that is deleted. */
  forget(volume: string): void {
    this.#expected.delete(volume);
  }

  // ── Requests, from before they are sent ──

  /** Records the requests of a plan before its steps run. */
  addRequests(volume: string, steps: readonly VolumeStep[]): void {
    const requests = steps.filter((step) => step.kind === 'request');
    if (requests.length > 0) this.#requests.set(volume, requests);
  }

  /** Forgets the requests. Returns the disks whose demand decreases by that: those of requests that the caches do not show. */
  clearRequests(volume: string): readonly string[] {
    const missing = (this.#requests.get(volume) ?? []).filter((request) => this.#missingBytes(request) > 0);
    this.#requests.delete(volume);
    return missing.map(({ diskUUID }) => diskUUID);
  }

  /** Returns the disks with the requests that the caches do not show added to their demand. */
  addedTo(disks: readonly DiskCandidate[]): readonly DiskCandidate[] {
    const bytesOf = new Map<string, number>();
    for (const [volume, requests] of this.#requests) {
      const missing = requests.filter((request) => this.#missingBytes(request) > 0);
      if (missing.length === 0) this.#requests.delete(volume);
      for (const request of missing) {
        const { diskUUID } = request;
        bytesOf.set(diskUUID, (bytesOf.get(diskUUID) ?? 0) + this.#missingBytes(request));
      }
    }
    if (bytesOf.size === 0) return disks;
    return disks.map((disk) => {
      const bytes = bytesOf.get(disk.uuid);
      return bytes === undefined ? disk : { ...disk, demandBytes: disk.demandBytes + bytes };
    });
  }

  /** The bytes that the caches do not show yet: all bytes of a new request, and the difference of one that grows. */
  #missingBytes({ replica, diskUUID, bytes }: OwnRequest): number {
    const shown = ownValue(this.#schedules.get(diskUUID)?.spec?.replicas, replica) ?? 0;
    return Math.max(0, bytes - shown);
  }
}
