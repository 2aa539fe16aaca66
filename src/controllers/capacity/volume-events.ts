import { CsiError } from '../../csi/csi-errors.ts';
import type { EndedCall } from '../../csi/served-driver.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { volumeClassName, volumeExistsAtMs, volumeExpandedAtMs } from '../../kube/volumes.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { InformerHandler } from '../../reconcile/informer/informer.ts';
import { capacityReportKeyOf } from './capacity-report-id.ts';
import type { CapacityReportQueue } from './capacity-report-queue.ts';
import type { DesiredCapacityReports } from './desired-capacity-reports.ts';
import type { SegmentSource } from './segment-source.ts';
import { segmentKeyOf, segmentOfKey, type TopologySegment } from './topology-segment.ts';
import { VolumeLocations } from './volume-locations.ts';

export interface VolumeEventsOptions {
  readonly context: ControllerContext;
  readonly driver: string;
  readonly desired: DesiredCapacityReports;
  readonly reports: CapacityReportQueue;
  readonly segments: SegmentSource;
}

/** The PersistentVolume of a new volume follows within this time, and says where and since when the volume exists. */
const volumeFollowsMs = 2000;

/** Has capacity reports measured again after volumes were created, deleted or expanded, or disks changed. */
export class VolumeEvents {
  readonly #options: VolumeEventsOptions;
  readonly #locations: VolumeLocations;

  constructor(options: VolumeEventsOptions) {
    this.#options = options;
    this.#locations = new VolumeLocations(options.driver, options.desired);
  }

  get volumeHandler(): InformerHandler<PersistentVolume> {
    return {
      added: (volume) => this.#exists(volume),
      updated: (volume, old) => {
        const isSame = changedAtMs(volume) === changedAtMs(old);
        if (!isSame) this.#exists(volume);
        else if (sizeOf(volume) !== sizeOf(old))
          this.#options.reports.volumesChanged(this.#locations.set(volume));
      },
      deleted: (volume) => this.#options.reports.volumesChanged(this.#locations.remove(volume)),
    };
  }

  /** The report has to be measured after the call: while one is being measured, the queue notes that it has to run again. */
  callEnded({ method, request, error }: EndedCall): void {
    if (method === 'CreateVolume') this.#createEnded(request as CreateRequest, error);
    else if (method === 'DeleteVolume' || method === 'ControllerExpandVolume')
      this.#volumeEnded((request as { readonly volumeId?: string }).volumeId ?? '');
  }

  /** The driver says that nodes with these labels reach another capacity. */
  capacityChanged(labels: TopologySegment): void {
    const { reports, desired } = this.#options;
    reports.volumesChanged(desired.segmentKeysOf(labels));
  }

  #exists(volume: PersistentVolume): void {
    const { reports } = this.#options;
    const segmentKeys = this.#locations.set(volume);
    if (segmentKeys.length === 0) return;
    const existsAtMs = changedAtMs(volume);
    const storageClassName = volumeClassName(volume);
    for (const segmentKey of existsAtMs === undefined ? [] : segmentKeys) {
      const segment = segmentOfKey(segmentKey);
      reports.require(capacityReportKeyOf({ storageClassName, segment }), existsAtMs ?? 0);
    }
    reports.volumesChanged(segmentKeys, existsAtMs);
  }

  /** After a failure, the published report is the likely reason: measure immediately. */
  #createEnded({ accessibilityRequirements }: CreateRequest, error: unknown): void {
    const { reports, desired, context } = this.#options;
    if (error instanceof CsiError && error.outcome.effect === 'none' && error.outcome.next === 'change')
      return;
    const [wanted] = [
      ...(accessibilityRequirements?.preferred ?? []),
      ...(accessibilityRequirements?.requisite ?? []),
    ];
    const segmentKey = wanted?.segments && segmentKeyOf(wanted.segments);
    const isKnown = segmentKey !== undefined && desired.hasSegment(segmentKey);
    const segmentKeys = isKnown ? [segmentKey] : desired.segmentKeys;
    const notBeforeMs = error === undefined ? context.clock.nowMs() + volumeFollowsMs : 0;
    reports.volumesChanged(segmentKeys, notBeforeMs);
  }

  #volumeEnded(handle: string): void {
    const { reports, desired } = this.#options;
    reports.volumesChanged(this.#locations.ofHandle(handle) ?? desired.segmentKeys);
  }
}

interface CreateRequest {
  readonly accessibilityRequirements?: {
    readonly preferred?: readonly TopologyInit[];
    readonly requisite?: readonly TopologyInit[];
  };
}

interface TopologyInit {
  readonly segments?: Readonly<Record<string, string>>;
}

/** The volume has existed with its size since this time. */
function changedAtMs(volume: PersistentVolume): number | undefined {
  const times = [volumeExistsAtMs(volume), volumeExpandedAtMs(volume)].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}

function sizeOf({ spec }: PersistentVolume): unknown {
  return spec?.capacity?.storage;
}
