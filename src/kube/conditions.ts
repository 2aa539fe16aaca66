import type { Condition, Timestamp } from './api/meta.ts';
import { listOf } from './wire.ts';

export function getCondition<T extends Condition>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return listOf(conditions).find((condition) => condition?.type === type);
}

/**
 * The conditions with `next` in place of the one of its type, or at the end. `lastTransitionTime` moves only when the
 * status does: to the time that `next` brings, or else to `now`. Where nothing changes the same list comes back, so
 * that a caller can tell whether there is anything to write.
 */
export function setCondition<T extends Condition>(
  conditions: readonly T[] | undefined,
  next: T,
  now: Timestamp,
): readonly T[] {
  const list = listOf(conditions);
  const index = list.findIndex((condition) => condition?.type === next.type);
  const current = list[index];
  if (current === undefined)
    return [...list, { ...next, lastTransitionTime: next.lastTransitionTime ?? now }];
  const moved = current.status !== next.status;
  const lastTransitionTime =
    (moved ? undefined : current.lastTransitionTime) ?? next.lastTransitionTime ?? now;
  const replacement = { ...next, lastTransitionTime };
  return isSame(current, replacement) ? list : list.with(index, replacement);
}

function isSame(a: object, b: object): boolean {
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = new Map<string, unknown>(Object.entries(b).filter(([, value]) => value !== undefined));
  return left.length === right.size && left.every(([key, value]) => right.get(key) === value);
}
