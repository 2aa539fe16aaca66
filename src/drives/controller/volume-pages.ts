import { CsiStatusError } from '../../csi/csi-errors.ts';

/** Distinguishes our tokens from other text. */
const tokenPrefix = 'after:';

export interface VolumePage {
  readonly names: readonly string[];
  /** Empty after the last page. */
  readonly nextToken: string;
}

/**
 * One page of the names of volumes, in their order. A token is the last name of its page: volumes that come and go between two pages cause
 * neither gaps nor repetitions.
 */
export function pageOf(names: Iterable<string>, maxEntries: number, startingToken: string): VolumePage {
  const after = startingToken === '' ? undefined : nameIn(startingToken);
  const left = [...names].filter((name) => after === undefined || name > after).sort();
  if (maxEntries === 0 || left.length <= maxEntries) return { names: left, nextToken: '' };
  const page = left.slice(0, maxEntries);
  return { names: page, nextToken: Buffer.from(`${tokenPrefix}${page.at(-1)}`).toString('base64url') };
}

function nameIn(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  const isOurs = text.startsWith(tokenPrefix) && Buffer.from(text).toString('base64url') === token;
  if (!isOurs)
    throw new CsiStatusError(
      'Aborted',
      `starting_token ${JSON.stringify(token)} is not valid; start without one`,
    );
  return text.slice(tokenPrefix.length);
}
