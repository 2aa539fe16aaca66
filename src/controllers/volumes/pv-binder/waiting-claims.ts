import { couldServe } from '../../../engine/claim-match.ts';
import type { ClaimRecord } from '../../../engine/records/claim-record.ts';
import type { VolumeRecord } from '../../../engine/records/volume-record.ts';
import { compareSizes, type Size, zeroSize } from '../../../engine/size.ts';

/**
 * Claims that found no volume, so that a free volume wakes only the claim it suits best. Claims are grouped
 * by the volumes they accept, and sorted by size within a group: a lookup costs a binary search per group.
 */
export class WaitingClaims {
  readonly #families = new Map<string, Map<string, ClaimRecord[]>>();
  readonly #byKey = new Map<string, ClaimRecord>();

  get size(): number {
    return this.#byKey.size;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  add(claim: ClaimRecord): void {
    this.delete(claim.key);
    this.#byKey.set(claim.key, claim);
    const group = this.#families.get(groupKey(claim)) ?? new Map<string, ClaimRecord[]>();
    this.#families.set(groupKey(claim), group);
    const family = group.get(familyKey(claim)) ?? [];
    group.set(familyKey(claim), family);
    family.splice(positionOf(family, claim), 0, claim);
  }

  delete(key: string): void {
    const claim = this.#byKey.get(key);
    if (claim === undefined) return;
    this.#byKey.delete(key);
    const group = this.#families.get(groupKey(claim));
    const family = group?.get(familyKey(claim));
    family?.splice(positionOf(family, claim), 1);
    if (family?.length === 0) group?.delete(familyKey(claim));
    if (group?.size === 0) this.#families.delete(groupKey(claim));
  }

  /** The largest claim that the volume could serve: it wastes least. */
  bestFor(volume: VolumeRecord): ClaimRecord | undefined {
    let best: ClaimRecord | undefined;
    for (const family of this.#families.get(groupKey(volume))?.values() ?? []) {
      const claim = family[countUpTo(family, volume.size) - 1];
      if (claim === undefined || !couldServe(volume, claim)) continue;
      if (best === undefined || compareSizes(sizeOf(claim), sizeOf(best)) > 0) best = claim;
    }
    return best;
  }
}

function groupKey(of: Pick<VolumeRecord, 'className' | 'mode' | 'attributesClass'>): string {
  return `${of.className}\n${of.mode}\n${of.attributesClass}`;
}

function familyKey({ accessModes, selectorKey }: ClaimRecord): string {
  return `${accessModes}\n${selectorKey}`;
}

function sizeOf(claim: ClaimRecord): Size {
  return claim.request ?? zeroSize;
}

/** The position of the claim, or where it would be inserted. */
function positionOf(family: readonly ClaimRecord[], claim: ClaimRecord): number {
  return firstWhere(family, (other) => {
    const bySize = compareSizes(sizeOf(other), sizeOf(claim));
    return bySize > 0 || (bySize === 0 && other.key >= claim.key);
  });
}

function countUpTo(family: readonly ClaimRecord[], size: Size): number {
  return firstWhere(family, (claim) => compareSizes(sizeOf(claim), size) > 0);
}

/** The first position where the predicate is true; it is false before and true from there on. */
function firstWhere(family: readonly ClaimRecord[], isTrue: (claim: ClaimRecord) => boolean): number {
  let low = 0;
  let high = family.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(family[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
