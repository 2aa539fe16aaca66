import type { Node, PersistentVolume } from '../../../kube/api/core.ts';

/** What a node's status says of its volumes, in the order of their names. */
export interface VolumeReport {
  /** What pods on the node use or are about to use. In here before it is mounted, and until it is unmounted. */
  readonly inUse: readonly string[];
  readonly attached: readonly string[];
}

/** Undefined for volumes that a node does not report: those without a CSI driver. */
export function uniqueVolumeName({ spec }: PersistentVolume): string | undefined {
  if (spec?.csi === undefined) return undefined;
  return `kubernetes.io/csi/${spec.csi.driver}^${spec.csi.volumeHandle}`;
}

/** The report that the node has. */
export function reportOf({ status }: Node): VolumeReport {
  return {
    inUse: status?.volumesInUse ?? [],
    attached: (status?.volumesAttached ?? []).map(({ name = '' }) => name),
  };
}

/** As a merge patch of the node's status; undefined where it says the same already. */
export function reportPatch(node: Node, wanted: VolumeReport): object | undefined {
  const current = reportOf(node);
  if (isSameReport(current, wanted)) return undefined;
  const attached = wanted.attached.map((name) => ({ name, devicePath: '' }));
  return { volumesInUse: orNull(wanted.inUse), volumesAttached: orNull(attached) };
}

export function isSameReport(one: VolumeReport, other: VolumeReport): boolean {
  return isSame(one.inUse, other.inUse) && isSame(one.attached, other.attached);
}

/** Null takes it out of the object. */
function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
