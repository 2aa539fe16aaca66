import type { PoolTable } from '../../cluster-index/pools/pool-table.ts';
import type { InFlightPolicy } from '../../cluster-index/profile.ts';
import type { CandidateDrive } from '../../drives/drive-rule.ts';
import type { ClaimRequest } from './needs.ts';

/** The drive of one pool at a time, as the rule on drives reads it. One object serves all pools: a plan checks thousands of them. */
export class PoolDrive implements CandidateDrive {
  readonly #pools: PoolTable;
  #row = 0;
  #countsPromises = true;

  constructor(pools: PoolTable) {
    this.#pools = pools;
  }

  /** Becomes the drive of this pool. With the policy `off`, volumes in flight do not reduce its free bytes. */
  at(row: number, policy: InFlightPolicy): this {
    this.#row = row;
    this.#countsPromises = policy !== 'off';
    return this;
  }

  /** The limit is -1 if the drive, its Node or another Drive of its filesystem keeps new volumes away. */
  get isExcluded(): boolean {
    return this.#pools.limitBytes[this.#row]! < 0;
  }

  get freeBytes(): number {
    return this.#countsPromises ? this.#pools.availableBytes[this.#row]! : this.#pools.limitBytes[this.#row]!;
  }

  get capacityBytes(): number {
    return this.#pools.record(this.#row).drive?.capacityBytes ?? 0;
  }

  hasGroup(group: string): boolean {
    return this.#pools.drivesWithGroup(group)?.has(this.#pools.record(this.#row).key) === true;
  }
}

/**
 * Tie-break rank of a drive among equal drives; the lowest wins. The rank is computed from the random uid of the claim or pod, because a plan reads no random
 * numbers: over many claims every drive is as likely, and a plan that is repeated chooses the same drive.
 */
export function tieBreakRank({ tieBreakKey }: Pick<ClaimRequest, 'tieBreakKey'>, poolKey: string): number {
  const text = `${tieBreakKey} ${poolKey}`;
  let hash = 0;
  for (let position = 0; position < text.length; position++)
    hash = mixed(hash ^ text.charCodeAt(position)) ^ position;
  return mixed(hash);
}

/** Every bit of the result depends on every bit of the value. */
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
