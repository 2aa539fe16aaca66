/**
 * The words for the parts of a prediction. `stowage plan` and the console take their headings, columns and sentences from here, so that both say the
 * same about the same plan.
 */

export const planParts = {
  moves: 'Moves',
  stranded: 'Stranded',
  stuck: 'Stuck',
  lost: 'Lost',
  removed: 'Removed',
  stays: 'Stays',
  copies: 'To copy',
  nodes: 'Nodes',
} as const;

export const planColumns = {
  pod: 'Pod',
  from: 'From',
  to: 'To',
  cause: 'Why',
  volume: 'Volume',
  claim: 'Claim',
  size: 'Size',
} as const;

/** Why pods are lost, removed or stay: the same for each of them. */
export const planReasons = {
  lost: 'no controller creates it again',
  removed: 'its controller wants fewer, or has replaced it',
  stays: 'pods of DaemonSets and static pods stay',
} as const;

/** Shown in the column `From` for a pod that has no node now. */
export const noNodeText = '-';

/** Shown in the column `To` for a volume that fits on no other drive. */
export const noPlaceText = 'nowhere';

/** Where a pod is that gets no node, or that keeps a drive from being emptied. */
export function whereNow(from: string | undefined, cause: string): string {
  if (from !== undefined) return `on ${from} now`;
  return cause === 'pending' ? 'pending now' : 'new';
}

/** `size` is that of all volumes. */
export function copiedText(size: string): string {
  return `${size} in all: these volumes are local, and cannot follow their pods`;
}
