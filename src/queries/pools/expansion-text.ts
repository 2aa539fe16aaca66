import { readableAmount } from './amounts.ts';
import type { ExpansionInFlight } from './expansions.ts';

/** Describes the bytes that are reserved for an expansion, and the pool that lacks bytes for it. */
export function expansionText({ from, to, growth, pool, state, missing }: ExpansionInFlight): string {
  const sizes = `from ${readableAmount(from)} to ${readableAmount(to)}`;
  const amount = readableAmount(growth);
  const lacks = missing === undefined ? '' : `pool ${pool} lacks ${readableAmount(missing)}`;
  switch (state) {
    case 'Untracked':
      return `${sizes}; its driver publishes no capacity, so nothing is reserved`;
    case 'Expanded':
      return `${sizes} is done; ${amount} of pool ${pool} stay reserved until its next capacity report`;
    case 'DoesNotFit':
      return `${sizes} needs ${amount} more; ${lacks}, so nothing is reserved; free as much in the pool, or request less`;
    case 'Reserved':
      return missing === undefined
        ? `${sizes}; ${amount} of pool ${pool} are reserved`
        : `${sizes}; ${amount} of pool ${pool} are reserved, but with all its promises ${lacks}`;
  }
}
