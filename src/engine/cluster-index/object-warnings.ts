import type { IndexedKind, ObjectWarning } from './cluster-change.ts';

const noNotices: readonly ObjectWarning[] = [];

/** Problems quote what they are about, which may be of any length, and an object may have any number of them. */
const problemLengthMax = 500;
const noticesMax = 20;

/** What the owner of an object should know of it. */
export function objectWarnings(
  kind: IndexedKind,
  key: string,
  problems: readonly string[],
): readonly ObjectWarning[] {
  if (problems.length === 0) return noNotices;
  const shown = problems.slice(0, noticesMax).map((problem) => ({ kind, key, problem: clipped(problem) }));
  const omitted = problems.length - shown.length;
  return omitted === 0
    ? shown
    : [...shown, { kind, key, problem: `and more: ${omitted} further problems of this object are left out` }];
}

function clipped(problem: string): string {
  return problem.length <= problemLengthMax ? problem : `${problem.slice(0, problemLengthMax)}…`;
}
