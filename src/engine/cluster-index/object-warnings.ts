import type { IndexedKind, ObjectWarning, RecordOf } from './cluster-change.ts';

const noWarnings: readonly ObjectWarning[] = [];

/** A problem quotes values of any length, and an object may have any number of problems. */
const problemLengthMax = 500;
const warningsMax = 20;

/** The first problems of an object, each truncated, and a count of the rest. */
export function objectWarnings(
  kind: IndexedKind,
  key: string,
  problems: readonly string[],
): readonly ObjectWarning[] {
  if (problems.length === 0) return noWarnings;
  const shown = problems.slice(0, warningsMax).map((problem) => ({ kind, key, problem: truncated(problem) }));
  const omitted = problems.length - shown.length;
  return omitted === 0
    ? shown
    : [...shown, { kind, key, problem: `and more: ${omitted} further problems of this object are omitted` }];
}

function truncated(problem: string): string {
  return problem.length <= problemLengthMax ? problem : `${problem.slice(0, problemLengthMax)}…`;
}

export function problemsOf(record: RecordOf[IndexedKind]): readonly string[] {
  return 'problems' in record ? record.problems : noProblems;
}

const noProblems: readonly string[] = [];
