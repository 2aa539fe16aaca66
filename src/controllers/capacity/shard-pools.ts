import { bytesOf } from '../../kube/quantities/bytes.ts';
import type { DriverCapacity, StoragePool } from '../../kube/stowage/driver-capacity.ts';
import { annotations } from '../../kube/well-known.ts';
import { capacityReportKeyOf, capacityReportOfKey } from './capacity-report-id.ts';
import type { MeasuredCapacityReport } from './measured-capacity-report.ts';
import { segmentOfKey, type TopologySegment } from './topology-segment.ts';

/** The keys of the capacity reports that a DriverCapacity of ours has. */
export function capacityReportKeysIn({ metadata, status }: DriverCapacity): ReadonlySet<string> {
  const segment = segmentIn(metadata?.annotations?.[annotations.segment]);
  if (segment === undefined) return new Set();
  const entries = (status?.storage ?? []).filter(({ pools = [] }) => pools.length > 0);
  return new Set(
    entries.map(({ storageClassName = '' }) => capacityReportKeyOf({ storageClassName, segment })),
  );
}

/** The pool of a report; a shard has one for each class. */
export function poolIn({ status }: DriverCapacity, capacityReportKey: string): StoragePool | undefined {
  const { storageClassName } = capacityReportOfKey(capacityReportKey);
  return status?.storage?.find((entry) => entry.storageClassName === storageClassName)?.pools?.[0];
}

/** The part of a pool that this publisher writes, to recognise the pool again. */
export function contentOfPool({
  name,
  capacity,
  minimumVolume,
  measuredAt,
  expiryTime,
}: StoragePool): string {
  const amount = capacity === undefined ? '' : String(bytesOf(capacity));
  const smallest = minimumVolume === undefined ? '' : String(bytesOf(minimumVolume));
  return JSON.stringify([name, amount, smallest, measuredAt, expiryTime]);
}

/** The kind has one number, the largest volume that can be created. */
export function publishedAmount({ freeBytes, largestBytes }: MeasuredCapacityReport): bigint {
  return largestBytes ?? freeBytes;
}

/** Without labels, every node reaches the pool. */
export function topologyOf(segment: TopologySegment): Pick<StoragePool, 'nodeTopology'> {
  const matchExpressions = Object.entries(segment)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ key, operator: 'In' as const, values: [value] }));
  return matchExpressions.length === 0 ? {} : { nodeTopology: { nodeSelectorTerms: [{ matchExpressions }] } };
}

/** Undefined if the annotation is missing, or not ours. */
function segmentIn(text: string | undefined): TopologySegment | undefined {
  if (text === undefined) return undefined;
  try {
    return segmentOfKey(text);
  } catch {
    return undefined;
  }
}
