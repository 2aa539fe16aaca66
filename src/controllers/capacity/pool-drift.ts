import { driftOf } from '../../engine/drift/drift-of.ts';
import { DriverVolumes } from '../../engine/drift/driver-volumes.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { type DriftKind, type DriftRecord, driftKinds } from '../../kube/drift-record.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import type { InformerHandler } from '../../reconcile/informer/informer.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { CapacityMetrics } from './capacity-metrics.ts';
import type { DesiredFigures } from './desired-figures.ts';
import { figureOfKey } from './figure-id.ts';
import type { FigureQueue } from './figure-queue.ts';
import type { PublishedFigure } from './figure-store.ts';
import type { MeasuredFigure } from './measured-figure.ts';

export interface PoolDriftOptions {
  readonly driver: string;
  readonly clock: Clock;
  readonly desired: DesiredFigures;
  readonly figures: FigureQueue;
  readonly metrics: CapacityMetrics;
  readonly servesClass: (className: string) => boolean;
  readonly labelsOf: (nodeName: string) => Readonly<Record<string, string>> | undefined;
}

/** Compares the figures of a driver with the volumes that are known: foreign use, leaks, and pools that shrink or grow. */
export class PoolDrift {
  readonly #options: PoolDriftOptions;
  readonly #volumes: DriverVolumes;
  readonly #drifts = new Map<string, DriftRecord>();

  constructor(options: PoolDriftOptions) {
    this.#options = options;
    this.#volumes = new DriverVolumes(options);
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
   * The record to publish with a figure. A poll that finds the same amount, while no volume of the segment has changed, cannot find another
   * difference, and costs nothing.
   */
  recordFor(
    figureKey: string,
    figure: MeasuredFigure,
    published: PublishedFigure | undefined,
  ): DriftRecord | undefined {
    const { figures, desired } = this.#options;
    const before = published?.drift;
    const isSame = before !== undefined && published?.hasAmount(figure) === true;
    if (isSame && !figures.haveVolumesChanged(figureKey)) return this.#noted(figureKey, before, before);
    const { storageClassName, segment } = figureOfKey(figureKey);
    const { measuredAtMs, freeBytes } = figure;
    const { segments } = desired;
    const volumes = this.#volumes.volumesOf(segment, {
      storageClass: storageClassName,
      measuredAtMs,
      segments,
    });
    if (volumes === undefined) return before;
    if (volumes.unsureBytes === 0n) figures.volumesCompared(figureKey);
    return this.#noted(figureKey, before, driftOf(before, { measuredAtMs, freeBytes, volumes }));
  }

  #noted(
    figureKey: string,
    before: DriftRecord | undefined,
    after: DriftRecord | undefined,
  ): DriftRecord | undefined {
    const { driver, metrics } = this.#options;
    if (after === undefined || after.kind === 'none') this.#drifts.delete(figureKey);
    else this.#drifts.set(figureKey, after);
    if (after?.since !== undefined && before?.since === undefined)
      metrics.drifts.add({ driver_name: driver, kind: after.kind });
    return after;
  }

  forget(figureKey: string): void {
    this.#drifts.delete(figureKey);
  }

  updateMetrics(): void {
    const { driver, metrics } = this.#options;
    for (const kind of driftKinds) if (kind !== 'none') this.#updateKind(kind, driver, metrics);
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
