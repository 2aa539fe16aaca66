import { createHash } from 'node:crypto';
import type { Rights } from '../access/rights.ts';

/**
 * A position in the changes, for one viewer. It is valid only as long as the permissions are the same: with others the page lacks rows, or has rows that it
 * may not have any more, and reads the whole state again.
 */
export function positionFor(rights: Rights, position: string): string {
  return `${position}.${tagOf(rights)}`;
}

/** The position in the changes; empty if it was created for other permissions. */
export function positionOf(rights: Rights, text: string): string {
  const at = text.lastIndexOf('.');
  return at >= 0 && text.slice(at + 1) === tagOf(rights) ? text.slice(0, at) : '';
}

function tagOf({ key }: Rights): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}
