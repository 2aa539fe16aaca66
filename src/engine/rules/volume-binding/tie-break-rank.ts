import type { ClaimRequest } from './needs.ts';

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
