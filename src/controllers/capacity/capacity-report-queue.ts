import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DesiredCapacityReports } from './desired-capacity-reports.ts';

/** The back-off of external-provisioner. */
const retryBaseMs = 1000;
const retryMaxMs = 300_000;
/** Changes of volumes in this time are measured together. */
const coalesceMs = 100;
/** A capacity report is measured at most this often because of volumes: their bytes are promised meanwhile. */
const intervalMs = 1000;

/** Which reports are to be measured, and when. */
export class CapacityReportQueue {
  readonly queue: WorkQueue;
  readonly #clock: Clock;
  readonly #desired: DesiredCapacityReports;
  readonly #requiredMs = new Map<string, number>();
  readonly #measuredMs = new Map<string, number>();
  /** Capacity reports whose volumes have changed since they were compared with them. */
  readonly #changed = new Set<string>();

  constructor(clock: Clock, desired: DesiredCapacityReports) {
    this.#clock = clock;
    this.#desired = desired;
    this.queue = new WorkQueue({ clock, retryBaseMs, retryMaxMs });
  }

  add(capacityReportKeys: Iterable<string>): void {
    for (const capacityReportKey of capacityReportKeys) this.queue.add(capacityReportKey);
  }

  /** All reports of the segments. */
  volumesChanged(segmentKeys: Iterable<string>, notBeforeMs = 0): void {
    const nowMs = this.#clock.nowMs();
    for (const segmentKey of segmentKeys) {
      for (const capacityReportKey of this.#desired.keysIn(segmentKey)) {
        this.#changed.add(capacityReportKey);
        const measuredMs = this.#measuredMs.get(capacityReportKey);
        const dueMs = Math.max(notBeforeMs + 1, (measuredMs ?? 0) + intervalMs, nowMs + coalesceMs);
        // A report that is about to be measured for the first time need not be measured twice.
        if (measuredMs === undefined && notBeforeMs < nowMs) this.queue.add(capacityReportKey);
        else this.queue.addAfter(capacityReportKey, Math.min(dueMs - nowMs, retryMaxMs));
      }
    }
  }

  /**
   * A volume of the report's class has existed since `existsAtMs`. The promise for it ends only with a report that was measured later, so such
   * a report has to be published even if the amount is the same.
   */
  require(capacityReportKey: string, existsAtMs: number): void {
    const before = this.#requiredMs.get(capacityReportKey) ?? Number.NEGATIVE_INFINITY;
    this.#requiredMs.set(capacityReportKey, Math.max(before, existsAtMs));
  }

  /** The published report must have been measured after this time; undefined: at any time. */
  requiredMs(capacityReportKey: string): number | undefined {
    return this.#requiredMs.get(capacityReportKey);
  }

  /** Records when a report was measured, and the time of the report that the cluster has now. */
  measured(capacityReportKey: string, measuredAtMs: number, publishedMs: number | undefined): void {
    this.#measuredMs.set(capacityReportKey, measuredAtMs);
    const requiredMs = this.#requiredMs.get(capacityReportKey);
    if (requiredMs !== undefined && publishedMs !== undefined && publishedMs > requiredMs)
      this.#requiredMs.delete(capacityReportKey);
  }

  haveVolumesChanged(capacityReportKey: string): boolean {
    return this.#changed.has(capacityReportKey);
  }

  volumesCompared(capacityReportKey: string): void {
    this.#changed.delete(capacityReportKey);
  }

  forget(capacityReportKey: string): void {
    this.#changed.delete(capacityReportKey);
    this.#requiredMs.delete(capacityReportKey);
    this.#measuredMs.delete(capacityReportKey);
  }

  /** When the oldest of the measurements was made. */
  oldestMs(): number | undefined {
    let oldest: number | undefined;
    for (const ms of this.#measuredMs.values()) if (oldest === undefined || ms < oldest) oldest = ms;
    return oldest;
  }
}
