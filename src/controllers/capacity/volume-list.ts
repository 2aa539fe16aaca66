import { listVolumes } from '../../csi/list-volumes.ts';
import type { ServedCsiDriver } from '../../csi/served-driver.ts';
import type { ListedVolumes } from '../../engine/drift/listed-volumes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { CapacityMetrics } from './capacity-metrics.ts';
import type { DesiredCapacityReports } from './desired-capacity-reports.ts';
import { withDeadline } from './measured-capacity-report.ts';

export interface VolumeListOptions {
  readonly driver: ServedCsiDriver;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly pollIntervalMs: number;
  readonly desired: DesiredCapacityReports;
  readonly metrics: CapacityMetrics;
}

/** Listing takes at most a tenth of the driver's time, and has at least this interval. */
const gapMinMs = 5000;
const gapPerDuration = 10;

/** After a failure, so many poll intervals pass before the next ListVolumes. */
const pausePolls = 5;

/**
 * Keeps the driver's list of volumes up to date: all capacity reports use one list for each poll interval. It is asked for when a
 * report is compared, so a driver whose list hangs delays a report by one deadline in five intervals, and never prevents it.
 */
export class VolumeList {
  readonly #options: VolumeListOptions;
  readonly #listed: ListedVolumes;
  #running: Promise<void> | undefined;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: VolumeListOptions, listed: ListedVolumes) {
    this.#options = options;
    this.#listed = listed;
  }

  /** Asks the driver if the list is older than a poll interval. */
  async refresh(signal: AbortSignal): Promise<void> {
    await this.refreshAfter(this.#options.clock.nowMs() - this.#options.pollIntervalMs, signal);
  }

  /** Asks the driver if the list is older than `ms`, unless it was asked a moment ago. */
  async refreshAfter(ms: number, signal: AbortSignal): Promise<void> {
    const { driver, clock } = this.#options;
    if (!driver.hasControllerCapability('LIST_VOLUMES')) {
      this.#listed.clear();
      return;
    }
    if ((this.#listed.listedAtMs ?? Number.NEGATIVE_INFINITY) >= ms) return;
    if (this.#running === undefined && clock.monotonicMs() < this.#notBeforeMs) return;
    this.#running ??= this.#ask(signal).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { driver, clock, timeoutMs, pollIntervalMs, desired, metrics, log } = this.#options;
    const startedMs = Math.floor(clock.nowMs());
    const askedMs = clock.monotonicMs();
    try {
      const entries = await withDeadline(clock, { method: 'ListVolumes', timeoutMs }, signal, (deadline) =>
        listVolumes(driver, { signal: deadline, timeoutMs }),
      );
      const volumes = entries.map(({ volume }) => ({
        id: volume?.volumeId ?? '',
        bytes: volume?.capacityBytes ?? 0n,
        topology: (volume?.accessibleTopology ?? []).map(({ segments }) => segments),
        context: volume?.volumeContext ?? {},
      }));
      this.#listed.replace(volumes, desired.segments, startedMs);
      const tookMs = clock.monotonicMs() - askedMs;
      this.#notBeforeMs = clock.monotonicMs() + Math.max(gapMinMs, tookMs * gapPerDuration);
    } catch (error) {
      if (signal.aborted) throw error;
      // The last list stays, and is older than any report: it explains less, but nothing wrongly.
      this.#notBeforeMs = clock.monotonicMs() + pausePolls * pollIntervalMs;
      metrics.listFailures.add({ driver_name: driver.name });
      log.warn('ListVolumes failed, so drift is found from reports alone', { driver: driver.name, error });
    }
  }
}
