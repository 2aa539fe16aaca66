import { isReason } from '../../kube/api-error.ts';
import { ephemeralStorageClassName } from '../../kube/stowage.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { TokenBucket } from '../../runtime/token-bucket.ts';
import type { CapacityMetrics } from './capacity-metrics.ts';
import type { CapacityForm } from './capacity-settings.ts';
import type { DesiredFigures } from './desired-figures.ts';
import { figureOfKey } from './figure-id.ts';
import type { FigureProblems } from './figure-problems.ts';
import type { FigureQueue } from './figure-queue.ts';
import type { FigureStore, NewFigure } from './figure-store.ts';
import { type MeasuredFigure, type Measurement, measure } from './measured-figure.ts';
import type { PoolDrift } from './pool-drift.ts';
import { segmentKeyOf } from './topology-segment.ts';

/** Figures written in the long run, and at once; measurements that change nothing are not limited by it. */
const writeLimit = { tokensPerSecond: 50, burst: 100 };

/** How long the objects of a segment stay after its last node went: a node plugin that restarts is away for a moment. */
export const segmentGraceMs = 60_000;

/** A figure that has to be measured again soon is not measured more often than this. */
const waitMinMs = 100;

/** Versions conflict while a cache lags behind. Only a conflict that stays is a problem. */
const quietConflicts = 3;

export interface FigurePublicationOptions {
  readonly context: ControllerContext;
  readonly measurement: Measurement;
  readonly desired: DesiredFigures;
  readonly figures: FigureQueue;
  readonly stores: Readonly<Record<CapacityForm, FigureStore>>;
  readonly form: CapacityForm;
  readonly problems: FigureProblems;
  readonly metrics: CapacityMetrics;
  readonly pollIntervalMs: number;
  /** The lifetime of a figure that expires. */
  readonly lifetimeMs: number;
  /** How long the objects of a segment without nodes stay. */
  readonly graceMs: number;
  /** Whether the request of GetCapacity has a topology. */
  readonly sendsTopology: () => boolean;
  /** Undefined if the figures of the driver are not compared; then no record is published, and one that exists is removed. */
  readonly drift: PoolDrift | undefined;
}

/**
 * Brings one published figure up to date: asks the driver, and writes what has changed.
 *
 * Safe to run twice and to die anywhere: a figure is written with the time before its measurement, by a write that names the version that it
 * replaces, and the name of an object depends on what it is about. What a process did not write, the next one measures again.
 */
export class FigurePublication {
  readonly #options: FigurePublicationOptions;
  readonly #writes: TokenBucket;
  readonly #startedMs: number;

  constructor(options: FigurePublicationOptions) {
    this.#options = options;
    const { clock } = options.context;
    this.#writes = new TokenBucket(writeLimit, clock.monotonicMs());
    this.#startedMs = clock.nowMs();
  }

  async reconcile(figureKey: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { desired, problems } = this.#options;
    const { storageClassName, segment } = figureOfKey(figureKey);
    try {
      if (!desired.isWanted(storageClassName, segmentKeyOf(segment)))
        return await this.#retire(figureKey, signal);
      await this.#update(figureKey, signal);
      problems.solved(figureKey);
      const inSegment = problems.inSegment(segmentKeyOf(segment));
      await this.#storeFor(figureKey).setProblem(figureKey, { own: undefined, inSegment }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#failed(figureKey, error, signal);
      return {};
    }
    return { afterMs: this.#nextMs(figureKey) };
  }

  async #update(figureKey: string, signal: AbortSignal): Promise<void> {
    const { measurement, desired, figures, sendsTopology } = this.#options;
    const { storageClassName, segment } = figureOfKey(figureKey);
    const measured = await measure(
      measurement,
      { storageClass: desired.classOf(storageClassName), segment: sendsTopology() ? segment : undefined },
      signal,
    );
    const isWritten = await this.#publish(figureKey, measured, signal);
    const published = this.#storeFor(figureKey).published(figureKey);
    const publishedMs = isWritten ? measured.measuredAtMs : published?.measuredAtMs;
    figures.measured(figureKey, measured.measuredAtMs, publishedMs);
    await this.#removeOtherForm(figureKey, signal);
  }

  /** Whether something had to be written. */
  async #publish(figureKey: string, measured: MeasuredFigure, signal: AbortSignal): Promise<boolean> {
    const { desired, drift, context, metrics, measurement } = this.#options;
    const store = this.#storeFor(figureKey);
    const disks = desired.disksOf(figureOfKey(figureKey).storageClassName);
    const record = await drift?.recordFor(figureKey, measured, store.published(figureKey), signal);
    const figure = { ...measured, disks, drift: record };
    if (this.#isCurrent(figureKey, figure)) return false;
    const { clock } = context;
    const waitMs = this.#writes.reserveMs(clock.monotonicMs());
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    signal.throwIfAborted();
    await store.write(figureKey, figure, signal);
    metrics.writes.add({ driver_name: measurement.driver.name, form: this.#formOf(figureKey) });
    return true;
  }

  #isCurrent(figureKey: string, figure: NewFigure): boolean {
    const { figures, lifetimeMs } = this.#options;
    const published = this.#storeFor(figureKey).published(figureKey);
    if (published === undefined || !published.isComplete(figure.disks)) return false;
    if (!published.hasAmount(figure)) return false;
    if (isOtherDrift(published.drift, figure.drift)) return false;
    const leftMs = (published.expiresAtMs ?? Number.POSITIVE_INFINITY) - figure.measuredAtMs;
    if (leftMs < lifetimeMs / 2 || published.measuredAtMs === undefined) return false;
    const requiredMs = figures.requiredMs(figureKey);
    const isLateEnough = requiredMs === undefined || published.measuredAtMs > requiredMs;
    // A figure that is still too early would need another write.
    return isLateEnough || figure.measuredAtMs <= requiredMs;
  }

  /** Nothing is removed because nothing is known: a driver that is registered nowhere may be restarting everywhere. */
  async #retire(figureKey: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { desired, context, graceMs, figures, stores, problems, drift } = this.#options;
    const segmentKey = segmentKeyOf(figureOfKey(figureKey).segment);
    if (!desired.hasSegment(segmentKey)) {
      if (!desired.hasSegments) return undefined;
      const goneMs = desired.goneAtMs(segmentKey) ?? this.#startedMs;
      const leftMs = goneMs + graceMs - context.clock.nowMs();
      if (leftMs > 0) return { afterMs: leftMs };
    }
    for (const store of Object.values(stores)) await store.remove(figureKey, signal);
    figures.forget(figureKey);
    drift?.forget(figureKey);
    problems.solved(figureKey);
    return undefined;
  }

  /** After a change of the form. The new object is there already. */
  async #removeOtherForm(figureKey: string, signal: AbortSignal): Promise<void> {
    const { stores } = this.#options;
    for (const store of Object.values(stores)) {
      if (store === this.#storeFor(figureKey) || store.published(figureKey) === undefined) continue;
      await store.remove(figureKey, signal);
    }
  }

  async #failed(figureKey: string, error: unknown, signal: AbortSignal): Promise<void> {
    const { problems, figures, context } = this.#options;
    const isLag = isReason(error, 'Conflict') || isReason(error, 'AlreadyExists');
    if (isLag && figures.queue.failures(figureKey) < quietConflicts) return;
    const problem = problems.failed(figureKey, error);
    try {
      await this.#storeFor(figureKey).setProblem(figureKey, { own: problem, inSegment: problem }, signal);
    } catch (writeError) {
      context.log.debug('the problem of a figure could not be written', { error: writeError });
    }
  }

  #storeFor(figureKey: string): FigureStore {
    return this.#options.stores[this.#formOf(figureKey)];
  }

  #formOf(figureKey: string): CapacityForm {
    const { storageClassName } = figureOfKey(figureKey);
    return storageClassName === ephemeralStorageClassName ? 'DriverCapacity' : this.#options.form;
  }

  /** Polls are spread a little, so that they do not come all at once. */
  #nextMs(figureKey: string): number {
    const { figures, context, pollIntervalMs } = this.#options;
    const pollMs = pollIntervalMs * (0.9 + context.random.next() / 5);
    const requiredMs = figures.requiredMs(figureKey);
    if (requiredMs === undefined) return pollMs;
    return Math.max(waitMinMs, Math.min(pollMs, requiredMs + 1 - context.clock.nowMs()));
  }
}

/** The last figure in a record changes with every measurement, and is no reason to write. */
function isOtherDrift(before: NewFigure['drift'], after: NewFigure['drift']): boolean {
  const essence = (drift: NewFigure['drift']) =>
    drift && JSON.stringify([drift.baseline, drift.kind, drift.difference, drift.since, drift.listed]);
  return essence(before) !== essence(after);
}
