import { daysSinceEpoch, isDateOfCalendar, nanosPerSecond, timePartsOf } from './calendar.ts';

/** A moment, and how many seconds the zone of its text is ahead of UTC. */
export interface ZonedTime {
  readonly epochNanos: bigint;
  readonly offsetSeconds: number;
}

/**
 * Parses RFC 3339 as Go's time.Parse does, which is more lenient than the standard: the hour may have one digit, and a comma
 * may precede the fraction. Digits after the ninth of a fraction are dropped. Undefined if Go refuses the text.
 */
export function parseRfc3339(text: string): ZonedTime | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  if (!isDateOfCalendar(year, month, day) || hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetSeconds = offsetOf(match[8], Number(match[9] ?? 0), Number(match[10] ?? 0));
  if (offsetSeconds === undefined) return undefined;
  const days = daysSinceEpoch(year, month, day);
  const seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offsetSeconds;
  const fraction = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return { epochNanos: BigInt(seconds) * nanosPerSecond + fraction, offsetSeconds };
}

/** Go's time.RFC3339Nano: as many digits of a second as are needed, in the zone of the time. */
export function formatRfc3339({ epochNanos, offsetSeconds }: ZonedTime): string {
  const parts = timePartsOf(epochNanos, offsetSeconds);
  const fraction = parts.nanos === 0 ? '' : `.${String(parts.nanos).padStart(9, '0').replace(/0+$/, '')}`;
  const date = `${String(parts.year).padStart(4, '0')}-${two(parts.month)}-${two(parts.day)}`;
  return `${date}T${two(parts.hour)}:${two(parts.minute)}:${two(parts.second)}${fraction}${zone(offsetSeconds)}`;
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Go accepts offsets of 24 hours and of 60 minutes, because people write them. */
function offsetOf(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (hours > 24 || minutes > 60) return undefined;
  const seconds = hours * 3600 + minutes * 60;
  return sign === '-' ? -seconds : seconds;
}

function zone(offsetSeconds: number): string {
  if (offsetSeconds === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  return `${offsetSeconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
