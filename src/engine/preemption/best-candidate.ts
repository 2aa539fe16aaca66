import type { PodRecord } from '../records/pod-record.ts';
import { startMs } from './importance.ts';

/** A node on which the pod would fit without the victims. */
export interface PreemptionCandidate {
  readonly node: string;
  /** At least one; the most important first. */
  readonly victims: readonly PodRecord[];
  /** How many of them violate a PodDisruptionBudget. */
  readonly violations: number;
}

/**
 * The candidate with the least harm: the fewest violated budgets, then the lowest highest priority, then the lowest sum of priorities,
 * then the fewest victims, then the one whose most important victims started last, then the first by name.
 */
export function bestCandidate(
  candidates: readonly PreemptionCandidate[],
  nowMs: number,
): PreemptionCandidate | undefined {
  const measured = candidates.map((candidate) => ({ candidate, cost: costOf(candidate, nowMs) }));
  const [best] = measured.sort(
    (a, b) => compareCosts(a.cost, b.cost) || (a.candidate.node < b.candidate.node ? -1 : 1),
  );
  return best?.candidate;
}

/** Makes every priority positive, so that fewer victims with negative priorities are better than more of them. */
const priorityOffset = 2 ** 31;

/** The criteria in descending order of weight; less is better. */
function costOf({ victims, violations }: PreemptionCandidate, nowMs: number): readonly number[] {
  const highest = victims[0]!.priority;
  const sum = victims.reduce((total, { priority }) => total + priority + priorityOffset, 0);
  const starts = victims
    .filter(({ priority }) => priority === highest)
    .map((victim) => startMs(victim, nowMs));
  return [violations, highest, sum, victims.length, -Math.min(...starts)];
}

function compareCosts(a: readonly number[], b: readonly number[]): number {
  for (const [at, cost] of a.entries()) {
    const difference = cost - b[at]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
