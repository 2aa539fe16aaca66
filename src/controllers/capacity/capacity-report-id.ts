import { segmentKeyOf, segmentOfKey, type TopologySegment } from './topology-segment.ts';

/** The identity of a capacity report: a class (or `<ephemeral>`) in a topology segment. */
export interface CapacityReportId {
  readonly storageClassName: string;
  readonly segment: TopologySegment;
}

/** The key of a report in the work queue: equal for equal reports, so that the queue holds each only once. */
export function capacityReportKeyOf({ storageClassName, segment }: CapacityReportId): string {
  return `${storageClassName} ${segmentKeyOf(segment)}`;
}

/** The inverse of {@link capacityReportKeyOf}: names of classes contain no space. */
export function capacityReportOfKey(key: string): CapacityReportId {
  const space = key.indexOf(' ');
  return { storageClassName: key.slice(0, space), segment: segmentOfKey(key.slice(space + 1)) };
}
