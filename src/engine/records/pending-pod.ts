import type { PodRecord } from './pod-record.ts';

/** A pod that has no node, has not finished, and is not being deleted. */
export function needsNode({ nodeName, isFinished, isDeleting }: PodRecord): boolean {
  return nodeName === '' && !isFinished && !isDeleting;
}

/** Spreads pods over nodes of equal score, deterministically: FNV-1a over the uid. */
export function tieBreakSeed({ uid, key }: PodRecord): number {
  let hash = 0x811c9dc5;
  for (const character of uid === '' ? key : uid) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  }
  return hash >>> 0;
}
