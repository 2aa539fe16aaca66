import type { PoolRecord } from '../../engine/records/pool-record.ts';
import type { ClusterView } from '../view/cluster-view.ts';

/** A check whether the driver of a DriverCapacity is known not to exist. */
export function orphanCheck(view: ClusterView): (pool: PoolRecord) => boolean {
  const { snapshot, unseen = [], isFromFiles = false } = view;
  const isUnseen = unseen.some(({ kind }) => kind === 'CSIDriver');
  // Files without any CSIDriver say nothing about drivers.
  if (isUnseen || (isFromFiles && snapshot.count('CSIDriver') === 0)) return () => false;
  return ({ driver }) => driver !== undefined && snapshot.get('CSIDriver', driver) === undefined;
}
