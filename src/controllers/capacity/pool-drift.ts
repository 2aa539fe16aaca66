import type { ServedCsiDriver } from '../../csi/served-driver.ts';
import { driftOf } from '../../engine/drift/drift-of.ts';
import { DriverVolumes } from '../../engine/drift/driver-volumes.ts';
import type { ListFindings } from '../../engine/drift/list-share.ts';
import { ListedVolumes } from '../../engine/drift/listed-volumes.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { type DriftKind, type DriftRecord, driftKinds } from '../../kube/stowage/drift-record.ts';
import type { InformerHandler } from '../../reconcile/informer/informer.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { CapacityMetrics } from './capacity-metrics.ts';
import { capacityReportOfKey } from './capacity-report-id.ts';
import type { CapacityReportQueue } from './capacity-report-queue.ts';
import type { PublishedCapacityReport } from './capacity-report-store.ts';
import type { DesiredCapacityReports } from './desired-capacity-reports.ts';
import type { MeasuredCapacityReport } from './measured-capacity-report.ts';
import { VolumeList } from './volume-list.ts';

export interface PoolDriftOptions {
  readonly driver: ServedCsiDriver;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly pollIntervalMs: number;
  readonly desired: DesiredCapacityReports;
  readonly reports: CapacityReportQueue;
  readonly metrics: CapacityMetrics;
  readonly servesClass: (className: string) => boolean;
  readonly labelsOf: (nodeName: string) => Readonly<Record<string, string>> | undefined;
}

/** Compares the capacity reports of a driver with the volumes that are known: foreign use, leaks, and pools that shrink or grow. */
export class PoolDrift {
  readonly #options: PoolDriftOptions;
  readonly #volumes: DriverVolumes;
  readonly #listed: ListedVolumes;
  readonly #list: VolumeList;
  readonly #drifts = new Map<string, DriftRecord>();
  /** The findings in the driver's list for a report's segment when the report was last compared. */
  readonly #compared = new Map<string, string>();

  constructor(options: PoolDriftOptions) {
    this.#options = options;
    this.#volumes = new DriverVolumes({ ...options, driver: options.driver.name });
    this.#listed = new ListedVolumes(this.#volumes);
    this.#list = new VolumeList(options, this.#listed);
  }

  get volumeHandler(): InformerHandler<PersistentVolume> {
    const set = (volume: PersistentVolume) => this.#volumes.setVolume(volume);
    const { clock } = this.#options;
    return {
      added: set,
      updated: set,
      deleted: ({ metadata }) => this.#volumes.deleteVolume(metadata?.name ?? '', clock.nowMs()),
    };
  }

  get claimHandler(): InformerHandler<PersistentVolumeClaim> {
    const set = (claim: PersistentVolumeClaim) => this.#volumes.setClaim(claim);
    return {
      added: set,
      updated: set,
      deleted: ({ metadata }) => this.#volumes.deleteClaim(metadata?.namespace ?? '', metadata?.name ?? ''),
    };
  }

  get podHandler(): InformerHandler<Pod> {
    const set = (pod: Pod) => this.#volumes.setPod(pod);
    return {
      added: set,
      updated: set,
      deleted: (pod) => this.#volumes.deletePod(pod, this.#options.clock.nowMs()),
    };
  }

  /**
   * The record to publish with a report. A poll that finds the same amount, while neither the volumes of the segment nor the driver's list
   * of them have changed, cannot find another difference, and costs nothing.
   */
  async recordFor(
    capacityReportKey: string,
    report: MeasuredCapacityReport,
    published: PublishedCapacityReport | undefined,
    signal: AbortSignal,
  ): Promise<DriftRecord | undefined> {
    const { reports } = this.#options;
    const { segment } = capacityReportOfKey(capacityReportKey);
    const before = published?.drift;
    await this.#list.refresh(signal);
    const isSame = before !== undefined && published?.hasAmount(report) === true;
    const isListSame = this.#compared.get(capacityReportKey) === this.#listed.signatureIn(segment);
    if (isSame && isListSame && !reports.haveVolumesChanged(capacityReportKey))
      return this.#noted(capacityReportKey, before, before);
    let record = this.#compare(capacityReportKey, report, before);
    if (record !== undefined && record.kind !== 'none' && this.#isListOlder(report)) {
      // A volume may have been made after the list and before the report.
      await this.#list.refreshAfter(report.measuredAtMs, signal);
      record = this.#compare(capacityReportKey, report, before);
    }
    return this.#noted(capacityReportKey, before, record);
  }

  #compare(
    capacityReportKey: string,
    { measuredAtMs, freeBytes }: MeasuredCapacityReport,
    before: DriftRecord | undefined,
  ): DriftRecord | undefined {
    const { reports, desired } = this.#options;
    const { storageClassName, segment } = capacityReportOfKey(capacityReportKey);
    const otherCost = desired.otherCost(storageClassName);
    const report = { storageClass: storageClassName, measuredAtMs, segments: desired.segments, otherCost };
    const volumes = this.#volumes.volumesOf(segment, report);
    if (volumes === undefined) return before;
    const isSure = volumes.unsureBytes === 0n;
    const leakedBefore = new Set(before?.listed?.leaked.volumes.map(({ id }) => id));
    const findings = this.#listed.findingsIn(segment, { measuredAtMs, leakedBefore });
    const listed = isSure || !mayBeInFlight(findings, before) ? findings : undefined;
    const record = driftOf(before, { measuredAtMs, freeBytes, volumes, listed });
    if (isSure) reports.volumesCompared(capacityReportKey);
    const isFinal = isSure && (record?.kind === 'none' || !this.#isListOlder({ measuredAtMs }));
    if (isFinal) this.#compared.set(capacityReportKey, this.#listed.signatureIn(segment));
    else this.#compared.delete(capacityReportKey);
    return record;
  }

  #isListOlder({ measuredAtMs }: Pick<MeasuredCapacityReport, 'measuredAtMs'>): boolean {
    const { listedAtMs } = this.#listed;
    return listedAtMs !== undefined && listedAtMs < measuredAtMs;
  }

  #noted(
    capacityReportKey: string,
    before: DriftRecord | undefined,
    after: DriftRecord | undefined,
  ): DriftRecord | undefined {
    const { driver, metrics } = this.#options;
    if (after === undefined || after.kind === 'none') this.#drifts.delete(capacityReportKey);
    else this.#drifts.set(capacityReportKey, after);
    if (after?.since !== undefined && before?.since === undefined)
      metrics.drifts.add({ driver_name: driver.name, kind: after.kind });
    return after;
  }

  forget(capacityReportKey: string): void {
    this.#compared.delete(capacityReportKey);
    this.#drifts.delete(capacityReportKey);
  }

  updateMetrics(): void {
    const { driver, metrics } = this.#options;
    for (const kind of driftKinds) if (kind !== 'none') this.#updateKind(kind, driver.name, metrics);
    for (const [kind, volumes] of Object.entries(this.#listed.totals())) {
      const labels = { driver_name: driver.name, kind };
      metrics.listedVolumes.set(volumes.length, labels);
      metrics.listedBytes.set(
        volumes.reduce((sum, { bytes }) => sum + Number(bytes), 0),
        labels,
      );
    }
  }

  #updateKind(kind: DriftKind, driver: string, metrics: CapacityMetrics): void {
    const found = [...this.#drifts.values()].filter((record) => record.kind === kind);
    const amounts = found.map(({ difference }) => Math.abs(Number(bytesOf(difference))));
    const labels = { driver_name: driver, kind };
    metrics.driftPools.set(found.length, labels);
    metrics.driftBytes.set(
      amounts.reduce((sum, bytes) => sum + bytes, 0),
      labels,
    );
  }
}

/** While volumes are being created, one that appears in the list may be one of them. */
function mayBeInFlight(findings: ListFindings | undefined, before: DriftRecord | undefined): boolean {
  const foreignBefore = new Set(before?.listed?.foreign.volumes.map(({ id }) => id));
  return findings?.foreign.some(({ id }) => !foreignBefore.has(id)) ?? false;
}
