import { readPod } from '../../engine/records/pod-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import { ephemeralStorageClassName } from '../../kube/stowage/driver-capacity.ts';
import type { InformerHandler } from '../../reconcile/informer/informer.ts';
import { capacityReportKeyOf } from './capacity-report-id.ts';
import type { CapacityReportQueue } from './capacity-report-queue.ts';
import type { SegmentSource } from './segment-source.ts';
import { segmentOfKey } from './topology-segment.ts';

export interface InlineVolumeEventsOptions {
  readonly driver: string;
  readonly reports: CapacityReportQueue;
  readonly segments: SegmentSource;
}

/** Has capacity reports measured again after the kubelet has mounted or removed a pod's inline volumes. The kubelet calls the driver, not this process. */
export class InlineVolumeEvents {
  readonly #options: InlineVolumeEventsOptions;

  constructor(options: InlineVolumeEventsOptions) {
    this.#options = options;
  }

  get podHandler(): InformerHandler<Pod> {
    return {
      added: (pod) => this.#changed(pod, undefined),
      updated: (pod, old) => this.#changed(pod, old),
      deleted: (pod) => {
        const segmentKey = this.#segmentOf(pod);
        if (segmentKey !== undefined) this.#options.reports.volumesChanged([segmentKey]);
      },
    };
  }

  #changed(pod: Pod, old: Pod | undefined): void {
    const segmentKey = this.#segmentOf(pod);
    if (segmentKey === undefined) return;
    const { reports } = this.#options;
    const { volumesExistAtMs, isFinished } = readPod(pod);
    const before = old && readPod(old);
    if (isFinished && before?.isFinished === false) reports.volumesChanged([segmentKey]);
    if (volumesExistAtMs === undefined || volumesExistAtMs === before?.volumesExistAtMs) return;
    const segment = segmentOfKey(segmentKey);
    const capacityReportKey = capacityReportKeyOf({ storageClassName: ephemeralStorageClassName, segment });
    reports.require(capacityReportKey, volumesExistAtMs);
    reports.volumesChanged([segmentKey], volumesExistAtMs);
  }

  /** Undefined for a pod without inline volumes of the driver, or without a node. */
  #segmentOf({ spec }: Pod): string | undefined {
    const { driver, segments } = this.#options;
    if (!spec?.volumes?.some(({ csi }) => csi?.driver === driver)) return undefined;
    return spec.nodeName === undefined ? undefined : segments.of(spec.nodeName);
  }
}
