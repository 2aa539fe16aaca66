import { formatWithoutExponent } from '../../../kube/go/numbers.ts';
import { floorDivide, moment } from './arithmetic.ts';
import type { Timestamp, Value } from './values.ts';

const nanosPerSecond = 1_000_000_000n;

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[T](\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** RFC 3339 as Go's time.Parse reads it. Undefined where it is not; an error where the year is out of range. */
export function parseTimestamp(text: string): Value | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = offsetOf(match[8], Number(match[9] ?? 0), Number(match[10] ?? 0));
  if (offset === undefined) return undefined;
  const seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
  const fraction = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return moment(BigInt(seconds) * nanosPerSecond + fraction, offset);
}

/** RFC 3339 in the zone in which the moment was told, with as many digits of a second as it has. */
export function formatTimestamp({ epochNanos, offsetSeconds }: Timestamp): string {
  const parts = partsOf(epochNanos, offsetSeconds);
  const fraction = parts.nanos === 0 ? '' : `.${String(parts.nanos).padStart(9, '0').replace(/0+$/, '')}`;
  const date = `${String(parts.year).padStart(4, '0')}-${two(parts.month)}-${two(parts.day)}`;
  return `${date}T${two(parts.hour)}:${two(parts.minute)}:${two(parts.second)}${fraction}${zone(offsetSeconds)}`;
}

export interface TimeParts {
  readonly year: number;
  /** From one. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanos: number;
  /** Sunday is zero. */
  readonly weekday: number;
  /** The first of January is zero. */
  readonly yearday: number;
}

export function partsOf(epochNanos: bigint, offsetSeconds: number): TimeParts {
  const seconds = Number(floorDivide(epochNanos, nanosPerSecond)) + offsetSeconds;
  const days = Math.floor(seconds / 86_400);
  const inDay = seconds - days * 86_400;
  const { year, month, day } = dateOf(days);
  return {
    year,
    month,
    day,
    hour: Math.floor(inDay / 3600),
    minute: Math.floor((inDay % 3600) / 60),
    second: inDay % 60,
    nanos: Number(((epochNanos % nanosPerSecond) + nanosPerSecond) % nanosPerSecond),
    weekday: (((days + 4) % 7) + 7) % 7,
    yearday: days - daysSinceEpoch(year, 1, 1),
  };
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  '\u00b5s': 1000n,
  '\u03bcs': 1000n,
  ms: 1_000_000n,
  s: nanosPerSecond,
  m: 60n * nanosPerSecond,
  h: 3600n * nanosPerSecond,
};

/** Far more than any duration that fits needs. */
const durationLengthMax = 1000;

/** `1h30m` in nanoseconds, as Go's time.ParseDuration reads it; undefined where it is none, or too long. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > durationLengthMax) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.test(rest)) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(
    /(\d*)\.?(\d*)([a-z\u00b5\u03bc]+)/g,
  )) {
    const scale = unitNanos[unit] ?? 1n;
    nanos += BigInt(whole === '' ? '0' : whole) * scale;
    if (fraction !== '') nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  if (sign === '-') return nanos > 2n ** 63n ? undefined : -nanos;
  return nanos > 2n ** 63n - 1n ? undefined : nanos;
}

/** In seconds, as cel-go converts durations to texts. */
export function formatDuration(nanos: bigint): string {
  const whole = nanos / nanosPerSecond;
  const seconds = Number(whole) + Number(nanos % nanosPerSecond) / 1e9;
  return `${formatWithoutExponent(seconds)}s`;
}

function offsetOf(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (hours > 24 || minutes > 59) return undefined;
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

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Counts from the first of March, so that the day that leap years add is the last one. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function dateOf(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}
