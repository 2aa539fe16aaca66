import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DesiredFigures } from './desired-figures.ts';

/** The back-off of external-provisioner. */
const retryBaseMs = 1000;
const retryMaxMs = 300_000;
/** Changes of volumes in this time are measured together. */
const coalesceMs = 100;
/** A figure is measured at most this often because of volumes: their bytes are promised meanwhile. */
const intervalMs = 1000;

/** Which figures are to be measured, and when. */
export class FigureQueue {
  readonly queue: WorkQueue;
  readonly #clock: Clock;
  readonly #desired: DesiredFigures;
  readonly #requiredMs = new Map<string, number>();
  readonly #measuredMs = new Map<string, number>();
  /** Figures whose volumes have changed since they were compared with them. */
  readonly #changed = new Set<string>();

  constructor(clock: Clock, desired: DesiredFigures) {
    this.#clock = clock;
    this.#desired = desired;
    this.queue = new WorkQueue({ clock, retryBaseMs, retryMaxMs });
  }

  add(figureKeys: Iterable<string>): void {
    for (const figureKey of figureKeys) this.queue.add(figureKey);
  }

  /** All figures of the segments. */
  volumesChanged(segmentKeys: Iterable<string>, notBeforeMs = 0): void {
    const nowMs = this.#clock.nowMs();
    for (const segmentKey of segmentKeys) {
      for (const figureKey of this.#desired.keysIn(segmentKey)) {
        this.#changed.add(figureKey);
        const measuredMs = this.#measuredMs.get(figureKey);
        const dueMs = Math.max(notBeforeMs + 1, (measuredMs ?? 0) + intervalMs, nowMs + coalesceMs);
        // A figure that is about to be measured for the first time need not be measured twice.
        if (measuredMs === undefined && notBeforeMs < nowMs) this.queue.add(figureKey);
        else this.queue.addAfter(figureKey, Math.min(dueMs - nowMs, retryMaxMs));
      }
    }
  }

  /**
   * A volume of the figure's class has existed since `existsAtMs`. The promise for it ends only with a figure that was measured later, so such
   * a figure has to be published even if the amount is the same.
   */
  require(figureKey: string, existsAtMs: number): void {
    const before = this.#requiredMs.get(figureKey) ?? Number.NEGATIVE_INFINITY;
    this.#requiredMs.set(figureKey, Math.max(before, existsAtMs));
  }

  /** The published figure must have been measured after this time; undefined: at any time. */
  requiredMs(figureKey: string): number | undefined {
    return this.#requiredMs.get(figureKey);
  }

  /** Notes what the cluster has after a measurement. */
  measured(figureKey: string, measuredAtMs: number, publishedMs: number | undefined): void {
    this.#measuredMs.set(figureKey, measuredAtMs);
    const requiredMs = this.#requiredMs.get(figureKey);
    if (requiredMs !== undefined && publishedMs !== undefined && publishedMs > requiredMs)
      this.#requiredMs.delete(figureKey);
  }

  haveVolumesChanged(figureKey: string): boolean {
    return this.#changed.has(figureKey);
  }

  volumesCompared(figureKey: string): void {
    this.#changed.delete(figureKey);
  }

  forget(figureKey: string): void {
    this.#changed.delete(figureKey);
    this.#requiredMs.delete(figureKey);
    this.#measuredMs.delete(figureKey);
  }

  /** When the oldest of the measurements was made. */
  oldestMs(): number | undefined {
    let oldest: number | undefined;
    for (const ms of this.#measuredMs.values()) if (oldest === undefined || ms < oldest) oldest = ms;
    return oldest;
  }
}
