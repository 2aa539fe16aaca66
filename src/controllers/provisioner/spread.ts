import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { controllerOf } from '../../kube/owner-references.ts';

/**
 * The position of a claim among those that should be spread over locations. A caller that chooses one of `n` locations takes number
 * `(hash + ordinal) % n`: neighbours get different locations, and the claims of one pod get the same.
 */
export interface SpreadPosition {
  /** The hash of the group: different groups start at different locations. */
  readonly hash: number;
  readonly ordinal: number;
}

/**
 * Claims of a StatefulSet are called `TEMPLATE-SET-ORDINAL`; only the set and the ordinal count, so that the volumes of one pod
 * are together. The same applies to the ephemeral volumes of a pod. Claims of other owners are counted in the order of their creation.
 */
export function spreadPosition(
  claim: PersistentVolumeClaim,
  siblings: Iterable<PersistentVolumeClaim>,
): SpreadPosition {
  const name = claim.metadata?.name ?? '';
  const owner = controllerOf(claim) ?? claim.metadata?.ownerReferences?.[0];
  const ordinal = ordinalOf(name);
  if (owner?.kind === 'Pod') return positionOf(owner.name ?? '');
  if (owner?.kind === 'StatefulSet' && ordinal !== undefined)
    return { hash: hashOf(owner.name ?? ''), ordinal: ordinal.value };
  if (owner?.uid !== undefined)
    return { hash: hashOf(owner.uid), ordinal: rankAmong(claim, owner.uid, siblings) };
  return positionOf(name);
}

/** Derives the position from the name alone, as Kubernetes did for the disks of cloud providers. */
function positionOf(name: string): SpreadPosition {
  const ordinal = ordinalOf(name);
  if (ordinal === undefined) return { hash: hashOf(name), ordinal: 0 };
  const group = ordinal.prefix.slice(ordinal.prefix.lastIndexOf('-') + 1);
  return { hash: hashOf(group), ordinal: ordinal.value };
}

function ordinalOf(name: string): { readonly prefix: string; readonly value: number } | undefined {
  const [, prefix, digits] = /^(.*)-(\d{1,9})$/.exec(name) ?? [];
  return prefix === undefined ? undefined : { prefix, value: Number(digits) };
}

/** How many siblings are older. New ones come after it, so the result does not change. */
function rankAmong(
  claim: PersistentVolumeClaim,
  ownerUid: string,
  siblings: Iterable<PersistentVolumeClaim>,
): number {
  const own = ageKey(claim);
  let rank = 0;
  for (const sibling of siblings) {
    const isSibling = (sibling.metadata?.ownerReferences ?? []).some(({ uid }) => uid === ownerUid);
    if (isSibling && ageKey(sibling) < own) rank += 1;
  }
  return rank;
}

function ageKey({ metadata }: PersistentVolumeClaim): string {
  return `${metadata?.creationTimestamp ?? ''} ${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** FNV-1, 32 bits: the hash by which cloud volumes were spread, so that a set keeps its zones when it moves here. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  return hash;
}
