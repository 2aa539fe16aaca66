import type { BackingPool } from '../records/backing-pool.ts';
import type { OtherCost } from './drift-of.ts';

/** The known facts about the disks of a class. */
export interface ClassDisks {
  /** Equal for classes with the same parameters. */
  readonly parameters: string;
  readonly backing: BackingPool | undefined;
}

/** Without a factor, a byte of one class uses at most four of another: a mirror of four copies beside stripes. */
const unknownMostMilli = 4000;
const nothing: OtherCost = { leastMilli: 0, mostMilli: 0 };
const oneOrNothing: OtherCost = { leastMilli: 0, mostMilli: 1000 };

/**
 * By how much a byte of the driver's other classes may reduce the capacity report of a class; undefined if all of them have its parameters, so that a byte is a
 * byte, or nothing on other disks. A difference within that range is not reported: volumes of ours may explain it.
 */
export function otherCostOf(own: ClassDisks, others: readonly ClassDisks[]): OtherCost | undefined {
  const costs = others.map((other) => costOf(own, other));
  if (costs.every((cost) => cost === oneOrNothing)) return undefined;
  return costs.reduce((a, b) => ({
    leastMilli: Math.min(a.leastMilli, b.leastMilli),
    mostMilli: Math.max(a.mostMilli, b.mostMilli),
  }));
}

function costOf(own: ClassDisks, other: ClassDisks): OtherCost {
  if (own.backing !== undefined && other.backing !== undefined) {
    if (own.backing.name !== other.backing.name) return nothing;
    const { factorMilli: ownFactor } = own.backing;
    const { factorMilli: otherFactor } = other.backing;
    if (ownFactor !== undefined && otherFactor !== undefined) {
      const milli = Math.round((otherFactor * 1000) / ownFactor);
      return { leastMilli: milli, mostMilli: milli };
    }
  }
  return own.parameters === other.parameters ? oneOrNothing : { leastMilli: 0, mostMilli: unknownMostMilli };
}
