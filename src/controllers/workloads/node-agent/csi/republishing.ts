import type { CSIDriver } from '../../../../kube/api/storage.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { podOf, type VolumeRequest } from './volume-request.ts';

/** The interval at which a kubelet reconciles the volumes of a running pod. */
const intervalMs = 60_000;

/**
 * When volumes of drivers with `requiresRepublish` are published again, so that the driver renews what it mounted, such as tokens. Not stored: after
 * a restart a volume is published again after one interval.
 */
export class Republishing {
  readonly #clock: Clock;
  readonly #csiDriverOf: (driver: string) => CSIDriver | undefined;
  readonly #dueMs = new Map<string, number>();

  constructor(clock: Clock, csiDriverOf: (driver: string) => CSIDriver | undefined) {
    this.#clock = clock;
    this.#csiDriverOf = csiDriverOf;
  }

  isNeeded({ driver }: VolumeRequest): boolean {
    return this.#csiDriverOf(driver)?.spec?.requiresRepublish === true;
  }

  /** Whether it is needed, and {@link remainingMs} was never asked. */
  isNew(request: VolumeRequest): boolean {
    return this.isNeeded(request) && !this.#dueMs.has(keyOf(request));
  }

  remainingMs(request: VolumeRequest): number {
    const dueMs = this.#dueMs.get(keyOf(request)) ?? this.done(request);
    return Math.max(0, dueMs - this.#clock.monotonicMs());
  }

  /** Returns when it is due again. */
  done(request: VolumeRequest): number {
    const dueMs = this.#clock.monotonicMs() + intervalMs;
    this.#dueMs.set(keyOf(request), dueMs);
    return dueMs;
  }

  forget(request: VolumeRequest): void {
    this.#dueMs.delete(keyOf(request));
  }
}

function keyOf(request: VolumeRequest): string {
  return `${request.volumeHandle} ${podOf(request).uid}`;
}
