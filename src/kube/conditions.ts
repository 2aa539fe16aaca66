import type { Condition, Timestamp } from './api/meta.ts';
import { listOf } from './wire.ts';

export function getCondition<T extends Condition>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return listOf(conditions).find((condition) => condition?.type === type);
}

/**
 * Replaces the condition of the same type by `next`, or appends it. `lastTransitionTime` changes only when the status
 * changes: to the time in `next`, or else to `now`. Returns the same list if nothing changes, so that the caller knows
 * whether it has to write.
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
  const hasNewStatus = current.status !== next.status;
  const lastTransitionTime =
    (hasNewStatus ? undefined : current.lastTransitionTime) ?? next.lastTransitionTime ?? now;
  const replacement = { ...next, lastTransitionTime };
  return isSame(current, replacement) ? list : list.with(index, replacement);
}

function isSame(a: object, b: object): boolean {
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = new Map<string, unknown>(Object.entries(b).filter(([, value]) => value !== undefined));
  return left.length === right.size && left.every(([key, value]) => right.get(key) === value);
}
