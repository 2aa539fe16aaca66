import type { Operation } from '../history.ts';

/**
 * The obvious check of one object for small histories: every order of every selection of the unknown writes is played
 * on a variable. Versions are ignored except as preconditions.
 */
export function isLinearizableByForce(operations: readonly Operation[]): boolean {
  const known = operations.filter(({ outcome }) => outcome.type !== 'unknown');
  const unknown = operations.filter(({ outcome }) => outcome.type === 'unknown');
  return subsets(unknown).some((chosen) => permutations([...known, ...chosen]).some(isPossible));
}

function isPossible(order: readonly Operation[]): boolean {
  return keepsRealTime(order) && isSequential(order);
}

function keepsRealTime(order: readonly Operation[]): boolean {
  return order.every((later, index) =>
    order.slice(0, index).every((earlier) => later.endMs >= earlier.startMs),
  );
}

function isSequential(order: readonly Operation[]): boolean {
  let value: string | undefined;
  for (const { call, outcome } of order) {
    const before = value;
    const isMatch =
      !('replaces' in call) || call.replaces === undefined || versionOf(before) === call.replaces;
    if (call.verb === 'create' && before === undefined) value = call.value;
    if (call.verb === 'update' && before !== undefined && isMatch) value = call.value;
    if (call.verb === 'delete' && before !== undefined && isMatch) value = undefined;
    if (outcome.type !== 'unknown' && outcome.type !== expected(call, before, isMatch)) return false;
    if (outcome.type === 'unknown' && value === before) return false;
    if (outcome.type === 'found' && outcome.value !== before) return false;
  }
  return true;
}

function expected(call: Operation['call'], before: string | undefined, isMatch: boolean): string {
  if (call.verb === 'create') return before === undefined ? 'written' : 'already exists';
  if (before === undefined) return 'not found';
  if (call.verb === 'get') return 'found';
  return isMatch ? 'written' : 'conflict';
}

/** Within these histories, the value `v7` always has version 7. */
function versionOf(value: string | undefined): number | undefined {
  return value === undefined ? undefined : Number(value.slice(1));
}

function subsets<T>(items: readonly T[]): T[][] {
  const [first, ...others] = items;
  if (first === undefined) return [[]];
  return subsets(others).flatMap((set) => [set, [first, ...set]]);
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}
