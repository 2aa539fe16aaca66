import type { PoolRecord } from '../../engine/records/pool-record.ts';
import type { ManagedFieldsEntry } from '../../kube/api/meta.ts';
import { type PublisherState, publisherState } from '../../kube/publisher-heartbeat.ts';
import { labels } from '../../kube/well-known.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { ageText } from './age-text.ts';

/** Where the capacity report of a pool comes from. */
export interface CapacityReportSource {
  /** When the driver was asked; else when the object was last written. Undefined if neither is known. */
  readonly measuredAt: string | undefined;
  readonly measuredAtFrom: 'measurement' | 'write' | undefined;
  /** The label `csi.storage.k8s.io/managed-by`; without it, the manager of the fields that were written last. */
  readonly publishedBy: string | undefined;
  /** Whether the publisher runs; undefined if that is unknown, as for publishers of others. */
  readonly publisher: PublisherState | undefined;
}

export function capacityReportSource(
  { snapshot }: Pick<ClusterView, 'snapshot'>,
  pool: PoolRecord,
  nowMs: number,
): CapacityReportSource {
  const { metadata } = snapshot.get(pool.form, pool.object) ?? {};
  const written = lastWrite(listOf(metadata?.managedFields));
  const isMeasured = pool.measuredAtMs !== undefined;
  const measuredAt = isMeasured ? new Date(pool.measuredAtMs).toISOString() : written?.time;
  return {
    measuredAt,
    measuredAtFrom: isMeasured ? 'measurement' : measuredAt === undefined ? undefined : 'write',
    publishedBy: textOf(metadata?.labels?.[labels.managedBy]) || written?.manager,
    publisher: publisherState(metadata, (key) => snapshot.lease(key), nowMs),
  };
}

/** A report that has not changed is not written again: while its publisher runs, its age is that of the pool's last change, and not shown. */
export function capacityReportAgeText(
  { measuredAt, publisher }: Partial<Pick<CapacityReportSource, 'measuredAt' | 'publisher'>>,
  nowMs: number,
): string {
  return publisher?.kind === 'running' ? 'current' : ageText(measuredAt, nowMs);
}

/** The publisher with its state, if that is a problem. */
export function publisherText({
  publishedBy = '-',
  publisher,
}: Partial<Pick<CapacityReportSource, 'publishedBy' | 'publisher'>>): string {
  if (publisher?.kind === 'gone') return `${publishedBy} (gone since ${publisher.since})`;
  return publisher?.kind === 'failing' ? `${publishedBy} (${publisher.problem})` : publishedBy;
}

function lastWrite(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry | undefined {
  return entries.reduce<ManagedFieldsEntry | undefined>(
    (last, entry) => (last === undefined || (entry.time ?? '') > (last.time ?? '') ? entry : last),
    undefined,
  );
}
