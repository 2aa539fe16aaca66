import type { WhatIfChange, WorkloadReference } from '../../engine/what-if/change.ts';
import { type ChangeWords, changesOfWords, workloadOf } from '../../queries/plan/change-words.ts';
import { type DrainTarget, drainTargetOf } from '../../queries/plan/drain-target.ts';
import { QuestionError } from '../../queries/question-error.ts';
import { usage } from '../errors/cli-error.ts';

/** The changes that the flags ask for, apart from `--apply`. */
export function changesOfFlags(flags: ChangeWords, namespace: string): readonly WhatIfChange[] {
  return orUsage(() => changesOfWords(flags, namespace));
}

/** The value of a flag that names a workload. */
export function workloadFlag(...asked: Parameters<typeof workloadOf>): WorkloadReference {
  return orUsage(() => workloadOf(...asked));
}

/** An argument that names a node or a drive. */
export function drainTargetArgument(text: string): DrainTarget {
  return orUsage(() => drainTargetOf(text));
}

/** Words that make no sense are a wrong call: the report adds which `--help` explains more. */
function orUsage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof QuestionError ? usage(error.message) : error;
  }
}
