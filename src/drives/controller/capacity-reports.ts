import { type DriveRecord, promisedBytes } from '../../engine/drives/drive-record.ts';

/** Called with the topology segments that reach a drive whose capacity has changed. */
export type CapacityListener = (segments: StringMap) => void;

/** Reports drives that have other free bytes, or take other volumes, than before. */
export class CapacityReports {
  readonly #listeners = new Set<CapacityListener>();

  /** Returns how to stop that. */
  onChange(listener: CapacityListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A drive that comes has no `before`, and one that goes no `after`. */
  changed(before: DriveRecord | undefined, after: DriveRecord | undefined): void {
    if (before !== undefined && after !== undefined && !isOtherCapacity(before, after)) return;
    const hasMoved = !isEqualMap(before?.topology, after?.topology);
    for (const topology of hasMoved ? [before?.topology, after?.topology] : [after?.topology])
      if (topology !== undefined) for (const listener of this.#listeners) listener(topology);
  }
}

/** Whether GetCapacity may answer differently. */
function isOtherCapacity(before: DriveRecord, after: DriveRecord): boolean {
  return (
    before.capacityBytes !== after.capacityBytes ||
    before.exclusion !== after.exclusion ||
    before.tier !== after.tier ||
    !isEqualMap(before.labels, after.labels) ||
    !isEqualMap(before.topology, after.topology) ||
    promisedBytes(before) !== promisedBytes(after)
  );
}

type StringMap = Readonly<Record<string, string>>;

function isEqualMap(a: StringMap = {}, b: StringMap = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
