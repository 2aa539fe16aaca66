import { isReason } from '../../kube/api-error.ts';
import { ephemeralStorageClassName } from '../../kube/stowage/driver-capacity.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { TokenBucket } from '../../runtime/token-bucket.ts';
import type { CapacityForm } from '../capacity-settings.ts';
import type { CapacityMetrics } from './capacity-metrics.ts';
import { capacityReportOfKey } from './capacity-report-id.ts';
import type { CapacityReportProblems } from './capacity-report-problems.ts';
import type { CapacityReportQueue } from './capacity-report-queue.ts';
import type { CapacityReportStore, NewCapacityReport } from './capacity-report-store.ts';
import type { DesiredCapacityReports } from './desired-capacity-reports.ts';
import { type MeasuredCapacityReport, type Measurement, measure } from './measured-capacity-report.ts';
import type { PoolDrift } from './pool-drift.ts';
import { segmentKeyOf } from './topology-segment.ts';

/** The average rate of writes of capacity reports, and their burst; measurements that change nothing are not limited by it. */
const writeLimit = { tokensPerSecond: 50, burst: 100 };

/** How long the objects of a segment stay after its last node went: a node plugin that restarts is away for a moment. */
export const segmentGraceMs = 60_000;

/** A report that has to be measured again soon is not measured more often than this. */
const waitMinMs = 100;

/** Versions conflict while a cache lags behind. Only a conflict that stays is a problem. */
const quietConflicts = 3;

export interface CapacityReportPublicationOptions {
  readonly context: ControllerContext;
  readonly measurement: Measurement;
  readonly desired: DesiredCapacityReports;
  readonly reports: CapacityReportQueue;
  readonly stores: Readonly<Record<CapacityForm, CapacityReportStore>>;
  readonly form: CapacityForm;
  readonly problems: CapacityReportProblems;
  readonly metrics: CapacityMetrics;
  readonly pollIntervalMs: number;
  /** The lifetime of a report that expires. */
  readonly lifetimeMs: number;
  /** How long the objects of a segment without nodes stay. */
  readonly graceMs: number;
  /** Whether the request of GetCapacity has a topology. */
  readonly sendsTopology: () => boolean;
  /** Undefined if the reports of the driver are not compared; then no record is published, and one that exists is removed. */
  readonly drift: PoolDrift | undefined;
}

/**
 * Brings one published report up to date: asks the driver, and writes what has changed.
 *
 * Safe to run twice and to die anywhere: a report is written with the time before its measurement, by a write that names the version that it
 * replaces, and the name of an object is derived from its class and segment. The next process measures again the pools that this one did not write.
 */
export class CapacityReportPublication {
  readonly #options: CapacityReportPublicationOptions;
  readonly #writes: TokenBucket;
  readonly #startedMs: number;

  constructor(options: CapacityReportPublicationOptions) {
    this.#options = options;
    const { clock } = options.context;
    this.#writes = new TokenBucket(writeLimit, clock.monotonicMs());
    this.#startedMs = clock.nowMs();
  }

  async reconcile(capacityReportKey: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { desired, problems } = this.#options;
    const { storageClassName, segment } = capacityReportOfKey(capacityReportKey);
    try {
      if (!desired.isWanted(storageClassName, segmentKeyOf(segment)))
        return await this.#retire(capacityReportKey, signal);
      await this.#update(capacityReportKey, signal);
      problems.solved(capacityReportKey);
      const inSegment = problems.inSegment(segmentKeyOf(segment));
      await this.#storeFor(capacityReportKey).setProblem(
        capacityReportKey,
        { own: undefined, inSegment },
        signal,
      );
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#failed(capacityReportKey, error, signal);
      return {};
    }
    return { afterMs: this.#nextMs(capacityReportKey) };
  }

  async #update(capacityReportKey: string, signal: AbortSignal): Promise<void> {
    const { measurement, desired, reports, sendsTopology } = this.#options;
    const { storageClassName, segment } = capacityReportOfKey(capacityReportKey);
    const measured = await measure(
      measurement,
      { storageClass: desired.classOf(storageClassName), segment: sendsTopology() ? segment : undefined },
      signal,
    );
    const isWritten = await this.#publish(capacityReportKey, measured, signal);
    const published = this.#storeFor(capacityReportKey).published(capacityReportKey);
    const publishedMs = isWritten ? measured.measuredAtMs : published?.measuredAtMs;
    reports.measured(capacityReportKey, measured.measuredAtMs, publishedMs);
    await this.#removeOtherForm(capacityReportKey, signal);
  }

  /** Whether something had to be written. */
  async #publish(
    capacityReportKey: string,
    measured: MeasuredCapacityReport,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { desired, drift, context, metrics, measurement } = this.#options;
    const store = this.#storeFor(capacityReportKey);
    const disks = desired.disksOf(capacityReportOfKey(capacityReportKey).storageClassName);
    const record = await drift?.recordFor(
      capacityReportKey,
      measured,
      store.published(capacityReportKey),
      signal,
    );
    const report = { ...measured, disks, drift: record };
    if (this.#isCurrent(capacityReportKey, report)) return false;
    const { clock } = context;
    const waitMs = this.#writes.reserveMs(clock.monotonicMs());
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    signal.throwIfAborted();
    await store.write(capacityReportKey, report, signal);
    metrics.writes.add({ driver_name: measurement.driver.name, form: this.#formOf(capacityReportKey) });
    return true;
  }

  #isCurrent(capacityReportKey: string, report: NewCapacityReport): boolean {
    const { reports, lifetimeMs } = this.#options;
    const published = this.#storeFor(capacityReportKey).published(capacityReportKey);
    if (published === undefined || !published.isComplete(report.disks)) return false;
    if (!published.hasAmount(report)) return false;
    if (isOtherDrift(published.drift, report.drift)) return false;
    const leftMs = (published.expiresAtMs ?? Number.POSITIVE_INFINITY) - report.measuredAtMs;
    if (leftMs < lifetimeMs / 2 || published.measuredAtMs === undefined) return false;
    const requiredMs = reports.requiredMs(capacityReportKey);
    const isLateEnough = requiredMs === undefined || published.measuredAtMs > requiredMs;
    // A report that is still too early would need another write.
    return isLateEnough || report.measuredAtMs <= requiredMs;
  }

  /** Nothing is removed because nothing is known: a driver that is registered nowhere may be restarting everywhere. */
  async #retire(capacityReportKey: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { desired, context, graceMs, reports, stores, problems, drift } = this.#options;
    const segmentKey = segmentKeyOf(capacityReportOfKey(capacityReportKey).segment);
    if (!desired.hasSegment(segmentKey)) {
      if (!desired.hasSegments) return undefined;
      const goneMs = desired.goneAtMs(segmentKey) ?? this.#startedMs;
      const leftMs = goneMs + graceMs - context.clock.nowMs();
      if (leftMs > 0) return { afterMs: leftMs };
    }
    for (const store of Object.values(stores)) await store.remove(capacityReportKey, signal);
    reports.forget(capacityReportKey);
    drift?.forget(capacityReportKey);
    problems.solved(capacityReportKey);
    return undefined;
  }

  /** Runs after a change of the form, when the new object already exists. */
  async #removeOtherForm(capacityReportKey: string, signal: AbortSignal): Promise<void> {
    const { stores } = this.#options;
    for (const store of Object.values(stores)) {
      if (store === this.#storeFor(capacityReportKey) || store.published(capacityReportKey) === undefined)
        continue;
      await store.remove(capacityReportKey, signal);
    }
  }

  async #failed(capacityReportKey: string, error: unknown, signal: AbortSignal): Promise<void> {
    const { problems, reports, context } = this.#options;
    const isLag = isReason(error, 'Conflict') || isReason(error, 'AlreadyExists');
    if (isLag && reports.queue.failures(capacityReportKey) < quietConflicts) return;
    const problem = problems.failed(capacityReportKey, error);
    try {
      await this.#storeFor(capacityReportKey).setProblem(
        capacityReportKey,
        { own: problem, inSegment: problem },
        signal,
      );
    } catch (writeError) {
      context.log.debug('the problem of a report could not be written', { error: writeError });
    }
  }

  #storeFor(capacityReportKey: string): CapacityReportStore {
    return this.#options.stores[this.#formOf(capacityReportKey)];
  }

  #formOf(capacityReportKey: string): CapacityForm {
    const { storageClassName } = capacityReportOfKey(capacityReportKey);
    return storageClassName === ephemeralStorageClassName ? 'DriverCapacity' : this.#options.form;
  }

  /** Polls are spread a little, so that they do not all come at the same time. */
  #nextMs(capacityReportKey: string): number {
    const { reports, context, pollIntervalMs } = this.#options;
    const pollMs = pollIntervalMs * (0.9 + context.random.next() / 5);
    const requiredMs = reports.requiredMs(capacityReportKey);
    if (requiredMs === undefined) return pollMs;
    return Math.max(waitMinMs, Math.min(pollMs, requiredMs + 1 - context.clock.nowMs()));
  }
}

/** Ignores the last report in the record: it changes with every measurement and is not worth a write. */
function isOtherDrift(before: NewCapacityReport['drift'], after: NewCapacityReport['drift']): boolean {
  const essence = (drift: NewCapacityReport['drift']) =>
    drift && JSON.stringify([drift.baseline, drift.kind, drift.difference, drift.since, drift.listed]);
  return essence(before) !== essence(after);
}
