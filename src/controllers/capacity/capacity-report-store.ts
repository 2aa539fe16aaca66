import type { DriftRecord } from '../../kube/stowage/drift-record.ts';
import type { MeasuredCapacityReport } from './measured-capacity-report.ts';

/**
 * The published capacity reports of one publisher, in one form. It knows only objects with the publisher's labels, so it can neither change nor
 * delete those of others.
 *
 * 1. `synced`, then `listen`.
 * 2. `published` returns the stored report, and `write` replaces it. A write names the version that it replaces: if that is stale, it fails with
 *    `Conflict`, and the caller tries again after the cache has caught up.
 * 3. `remove` is called only for reports that are certainly not wanted any more.
 */
export interface CapacityReportStore {
  synced(signal: AbortSignal): Promise<boolean>;
  /** `listener` gets the keys of reports that another client has changed or deleted, or that may be there twice. */
  listen(listener: (capacityReportKey: string) => void): () => void;
  published(capacityReportKey: string): PublishedCapacityReport | undefined;
  /** The keys of all published reports. */
  keys(): Iterable<string>;
  write(capacityReportKey: string, report: NewCapacityReport, signal: AbortSignal): Promise<void>;
  remove(capacityReportKey: string, signal: AbortSignal): Promise<void>;
  /** Says in the object that its reports are not up to date, and why. */
  setProblem(capacityReportKey: string, problem: CapacityReportProblem, signal: AbortSignal): Promise<void>;
}

/** Undefined: up to date. */
export interface CapacityReportProblem {
  /** The problem of the report itself. */
  readonly own: string | undefined;
  /** A problem of any report of the segment: some forms have one object for all of them. */
  readonly inSegment: string | undefined;
}

export interface NewCapacityReport extends MeasuredCapacityReport {
  readonly disks: CapacityReportDisks;
  readonly drift: DriftRecord | undefined;
}

/** Which disks of its segment a report is about, as far as that is known. */
export interface CapacityReportDisks {
  /** Equal for classes whose volumes are on the same disks. */
  readonly parameters: string;
  /** Whether there is another class with the same parameters. */
  readonly isShared: boolean;
}

export interface PublishedCapacityReport {
  readonly freeBytes: bigint | undefined;
  readonly largestBytes: bigint | undefined;
  /** Undefined if the object does not say it. */
  readonly measuredAtMs: number | undefined;
  /** Undefined: never. */
  readonly expiresAtMs: number | undefined;
  readonly drift: DriftRecord | undefined;
  /** Labels, owner and other fields are as this publisher writes them, and there is one object. */
  isComplete(disks: CapacityReportDisks): boolean;
  /** Whether it says this amount. */
  hasAmount(report: MeasuredCapacityReport): boolean;
}
