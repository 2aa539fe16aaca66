import type { Clock } from '../../runtime/clock.ts';
import type { DiskObjects } from '../disks/disk-objects.ts';
import type { MakePlanOptions } from '../plan/make-plan.ts';
import { unreadForDrain } from '../plan/missing-in-files.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import type { Note } from '../view/note.ts';
import type { DrainStep, LeftLine } from './drain-report.ts';

/** The input of a plan. */
export interface DrainFacts {
  readonly view: ClusterView;
  /** Undefined if there are none, or if they cannot be read: then a note says so. */
  readonly disks: DiskObjects | undefined;
  readonly clock: Clock;
  readonly profile: MakePlanOptions['profile'];
}

/** The results of the parts of a plan. */
export interface DrainParts {
  readonly steps: readonly Omit<DrainStep, 'number'>[];
  readonly left: readonly LeftLine[];
  readonly stays: readonly string[];
  readonly notes: readonly Note[];
}

/** Kinds that the caller may not list, though the plan depends on them. */
export function unreadKinds({ view, disks }: Pick<DrainFacts, 'view' | 'disks'>): readonly string[] {
  const budgets = (view.unreadPolicies ?? []).filter((kind) => kind === budgetKind);
  return [...unreadForDrain(view), ...((disks?.notes ?? []).length > 0 ? ['StorageNode'] : []), ...budgets];
}

/** One that may not be read may refuse evictions. */
export const budgetKind = 'PodDisruptionBudget';
