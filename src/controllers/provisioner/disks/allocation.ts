import type { Condition } from '../../../kube/api/meta.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';

/** The condition `DiskAllocation`; undefined if it is about an earlier spec, or there is none yet. */
export function allocationOf(volume: DiskVolume | undefined): Condition | undefined {
  const { metadata, status } = volume ?? {};
  if (status?.observedGeneration !== Number(metadata?.generation ?? 0)) return undefined;
  return status.conditions?.find(({ type }) => type === 'DiskAllocation');
}
