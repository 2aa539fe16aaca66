import type { CSIDriver } from '../../kube/api/storage.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { csiDrivers, storageClasses } from '../../kube/resources.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import { messageOf } from '../../runtime/error-message.ts';
import type { CapacityMetrics } from './capacity-metrics.ts';
import { capacityReportOfKey } from './capacity-report-id.ts';
import type { DesiredCapacityReports } from './desired-capacity-reports.ts';
import { failureReason } from './measured-capacity-report.ts';
import { segmentText } from './topology-segment.ts';

export interface CapacityReportProblemsOptions {
  readonly context: ControllerContext;
  readonly driver: string;
  readonly desired: DesiredCapacityReports;
  readonly csiDriver: () => CSIDriver | undefined;
  readonly metrics: CapacityMetrics;
}

/** Capacity reports that could not be brought up to date. They are reported in the log, as Events and in metrics. */
export class CapacityReportProblems {
  readonly #options: CapacityReportProblemsOptions;
  readonly #failing = new Map<string, string>();
  #logged: string | undefined;

  constructor(options: CapacityReportProblemsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#failing.size;
  }

  /** Returns the problem as a sentence. One line of the log for all reports that fail for the same reason. */
  failed(capacityReportKey: string, error: unknown): string {
    const { context, driver, metrics } = this.#options;
    const { storageClassName, segment } = capacityReportOfKey(capacityReportKey);
    const message = messageOf(error);
    metrics.failures.add({ driver_name: driver, reason: failureReason(error) });
    const where = `class ${storageClassName} in ${segmentText(segment)}`;
    const fields = { driver, error };
    if (this.#logged === message) context.log.debug(`no new capacity report for ${where}`, fields);
    else context.log.warn(`no new capacity report for ${where}; the published one stays`, fields);
    this.#logged = message;
    this.#failing.set(capacityReportKey, message);
    this.#record(storageClassName, message);
    return sentenceOf(message);
  }

  solved(capacityReportKey: string): void {
    const { context, driver } = this.#options;
    if (!this.#failing.delete(capacityReportKey) || this.#failing.size > 0) return;
    context.log.info('all capacity reports are up to date again', { driver });
    this.#logged = undefined;
  }

  /** The problem of a report of the segment. */
  inSegment(segmentKey: string): string | undefined {
    for (const [capacityReportKey, message] of this.#failing)
      if (capacityReportKey.endsWith(` ${segmentKey}`)) return sentenceOf(message);
    return undefined;
  }

  /** An Event on the class, or on the driver for inline volumes. The recorder counts repetitions. */
  #record(storageClassName: string, message: string): void {
    const { context, desired, csiDriver, driver } = this.#options;
    const storageClass = desired.classOf(storageClassName);
    const regarding = storageClass ?? csiDriver();
    if (regarding === undefined) return;
    const resource = storageClass === undefined ? csiDrivers : storageClasses;
    context.events.record({
      regarding: referenceTo(regarding, { apiVersion: apiVersionOf(resource), kind: resource.kind }),
      type: 'Warning',
      reason: 'CapacityNotUpdated',
      action: 'GetCapacity',
      note: `The published capacity of ${driver} is not up to date: ${message}`,
    });
  }
}

function sentenceOf(message: string): string {
  return `the reports are not up to date: ${message}`;
}
