import { parseTimestamp } from '../../kube/go/timestamp.ts';

const steps = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** Uses the largest unit with at least two of it, as kubectl rounds ages. */
export function ageText(since: string | undefined, nowMs: number): string {
  const sinceMs = parseTimestamp(since);
  if (sinceMs === undefined) return '-';
  const seconds = Math.max(0, Math.trunc((nowMs - sinceMs) / 1000));
  const [unit, length] = steps.find(([, size]) => seconds >= 2 * size) ?? (['s', 1] as const);
  return `${Math.trunc(seconds / length)}${unit}`;
}
