import type { Node, PersistentVolume } from '../../../../kube/api/core.ts';

/** The volumes in a node's status, sorted by name. */
export interface VolumeReport {
  /** Volumes that pods on the node use or are about to use: from before the mount until after the unmount. */
  readonly inUse: readonly string[];
  readonly attached: readonly string[];
}

/** Undefined for volumes that a node does not report: those without a CSI driver. */
export function uniqueVolumeName({ spec }: PersistentVolume): string | undefined {
  if (spec?.csi === undefined) return undefined;
  return `kubernetes.io/csi/${spec.csi.driver}^${spec.csi.volumeHandle}`;
}

/** The report in the node's status. */
export function reportOf({ status }: Node): VolumeReport {
  return {
    inUse: status?.volumesInUse ?? [],
    attached: (status?.volumesAttached ?? []).map(({ name = '' }) => name),
  };
}

/** A merge patch of the node's status; undefined if it is up to date. */
export function reportPatch(node: Node, wanted: VolumeReport): object | undefined {
  const current = reportOf(node);
  if (isSameReport(current, wanted)) return undefined;
  const attached = wanted.attached.map((name) => ({ name, devicePath: '' }));
  return { volumesInUse: orNull(wanted.inUse), volumesAttached: orNull(attached) };
}

export function isSameReport(one: VolumeReport, other: VolumeReport): boolean {
  return isSame(one.inUse, other.inUse) && isSame(one.attached, other.attached);
}

/** Null removes it from the object. */
function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
