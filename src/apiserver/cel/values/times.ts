import { nanosPerSecond } from '../../../kube/go/calendar.ts';
import { formatWithoutExponent } from '../../../kube/go/numbers.ts';
import { parseRfc3339 } from '../../../kube/go/rfc3339.ts';
import { checkedTimestamp } from './arithmetic.ts';
import type { Value } from './values.ts';

/** Undefined if the text is not RFC 3339; an error if the year is out of range. */
export function parseCelTimestamp(text: string): Value | undefined {
  const time = parseRfc3339(text);
  return time && checkedTimestamp(time.epochNanos, time.offsetSeconds);
}

/** Formats a duration in seconds, as cel-go converts durations to strings. */
export function formatCelDuration(nanos: bigint): string {
  const whole = nanos / nanosPerSecond;
  const seconds = Number(whole) + Number(nanos % nanosPerSecond) / 1e9;
  return `${formatWithoutExponent(seconds)}s`;
}
