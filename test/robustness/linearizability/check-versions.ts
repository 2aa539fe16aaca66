import { describeOperation, type History, type Operation } from './history.ts';

/**
 * What one counter of versions gives beside linearizability of each object: a write has a higher version than all that
 * was answered before it began, and a consistent list is not older than that. Reads of single objects return the
 * version of the object, so they say nothing about the counter except that it had reached it.
 */
export function checkVersions({ operations }: History): string[] {
  const answered = [...operations].sort((a, b) => a.endMs - b.endMs);
  const begun = [...operations].sort((a, b) => a.startMs - b.startMs);
  const problems: string[] = [];
  let newest: { readonly version: number; readonly operation: Operation } | undefined;
  let index = 0;
  for (const operation of begun) {
    for (; index < answered.length && answered[index]!.endMs < operation.startMs; index += 1) {
      const version = versionIn(answered[index]!);
      if (version > (newest?.version ?? 0)) newest = { version, operation: answered[index]! };
    }
    const floor = newest?.version ?? 0;
    if (newest === undefined || !isTooOld(operation, floor)) continue;
    problems.push(
      `${describeOperation(operation)} is older than what was answered before it began: ${describeOperation(newest.operation)}`,
    );
  }
  return problems;
}

function isTooOld({ call, outcome }: Operation, floor: number): boolean {
  if (outcome.type === 'written') return outcome.version !== undefined && outcome.version <= floor;
  return (
    outcome.type === 'listed' && call.verb === 'list' && call.at === undefined && outcome.version < floor
  );
}

function versionIn({ outcome }: Operation): number {
  if (outcome.type === 'found' || outcome.type === 'listed') return outcome.version;
  return outcome.type === 'written' ? (outcome.version ?? 0) : 0;
}
