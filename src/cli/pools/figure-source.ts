import type { PoolRecord } from '../../engine/records/pool-record.ts';
import type { ManagedFieldsEntry } from '../../kube/api/meta.ts';
import { labels } from '../../kube/well-known.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { ClusterView } from '../source/cluster-view.ts';

/** Where the figure of a pool comes from. */
export interface FigureSource {
  /** When the driver was asked; else when the object was last written. Undefined if neither is known. */
  readonly measuredAt: string | undefined;
  readonly measuredAtFrom: 'measurement' | 'write' | undefined;
  /** The label `csi.storage.k8s.io/managed-by`; without it, the manager of the fields that were written last. */
  readonly publishedBy: string | undefined;
}

export function figureSource({ snapshot }: ClusterView, pool: PoolRecord): FigureSource {
  const { metadata } = snapshot.get(pool.form, pool.object) ?? {};
  const written = lastWrite(listOf(metadata?.managedFields));
  const isMeasured = pool.measuredAtMs !== undefined;
  const measuredAt = isMeasured ? new Date(pool.measuredAtMs).toISOString() : written?.time;
  return {
    measuredAt,
    measuredAtFrom: isMeasured ? 'measurement' : measuredAt === undefined ? undefined : 'write',
    publishedBy: textOf(metadata?.labels?.[labels.managedBy]) || written?.manager,
  };
}

function lastWrite(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry | undefined {
  return entries.reduce<ManagedFieldsEntry | undefined>(
    (last, entry) => (last === undefined || (entry.time ?? '') > (last.time ?? '') ? entry : last),
    undefined,
  );
}
