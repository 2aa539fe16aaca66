import type { PodRecord } from '../records/pod-record.ts';
import { startMs } from './importance.ts';

/** A node on which the pod would fit once these are gone. */
export interface PreemptionCandidate {
  readonly node: string;
  /** At least one; the most important first. */
  readonly victims: readonly PodRecord[];
  /** How many of them break a budget. */
  readonly violations: number;
}

/**
 * The one that suffers least: the fewest broken budgets, then the lowest highest priority, then the lowest sum of priorities, then
 * the fewest victims, then whose most important victims have run the shortest; then the first by name.
 */
export function bestCandidate(
  candidates: readonly PreemptionCandidate[],
  nowMs: number,
): PreemptionCandidate | undefined {
  const measured = candidates.map((candidate) => ({ candidate, pain: costOf(candidate, nowMs) }));
  const [best] = measured.sort(
    (a, b) => compareCosts(a.pain, b.pain) || (a.candidate.node < b.candidate.node ? -1 : 1),
  );
  return best?.candidate;
}

/** Makes every priority positive, so that of pods with negative priorities fewer are better than more. */
const priorityOffset = 2 ** 31;

/** What counts, the weightiest first; less is better. */
function costOf({ victims, violations }: PreemptionCandidate, nowMs: number): readonly number[] {
  const highest = victims[0]!.priority;
  const sum = victims.reduce((total, { priority }) => total + priority + priorityOffset, 0);
  const starts = victims
    .filter(({ priority }) => priority === highest)
    .map((victim) => startMs(victim, nowMs));
  return [violations, highest, sum, victims.length, -Math.min(...starts)];
}

function compareCosts(a: readonly number[], b: readonly number[]): number {
  for (const [at, pain] of a.entries()) {
    const difference = pain - b[at]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
