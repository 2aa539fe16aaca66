import { floorDivide, isDateOfCalendar, nanosPerSecond } from './calendar.ts';
import { parseRfc3339, type ZonedTime } from './rfc3339.ts';
import { formatTimestamp } from './timestamp.ts';

/**
 * A time in the form in which Kubernetes stores it: UTC, whole seconds. Undefined if Go's RFC 3339 parser refuses the text;
 * {@link timeParseError} says why.
 */
export function canonicalTime(text: string): string | undefined {
  if (plainSeconds.test(text) && isClockTime(text)) return text;
  const time = parseRfc3339(text);
  return time && timeFromUnix(secondsOf(time));
}

/** The same for MicroTime, which has exactly six digits of a fraction. */
export function canonicalMicroTime(text: string): string | undefined {
  if (plainMicros.test(text) && isClockTime(text)) return text;
  const time = sixDigits.test(text) ? parseRfc3339(text) : undefined;
  return time && microTimeFromUnix(secondsOf(time), nanosOf(time));
}

/** Whether this is Go's zero time, which Kubernetes writes as null. */
export function isZeroTime(text: string): boolean {
  return text.startsWith('0001-01-01T00:00:00') && /^(\.0+)?Z$/.test(text.slice(19));
}

export function timeFromUnix(seconds: number): string | undefined {
  const ms = seconds * 1000;
  if (!(ms >= firstMs && ms <= lastMs)) return undefined;
  return formatTimestamp(ms);
}

export function microTimeFromUnix(seconds: number, nanos: number): string | undefined {
  const time = timeFromUnix(seconds);
  if (time === undefined || nanos < 0 || nanos > 999_999_999) return undefined;
  const micros = String(Math.floor(nanos / 1000)).padStart(6, '0');
  return `${time.slice(0, 19)}.${micros}Z`;
}

/** The error message of Go's time.Parse for a text that it refuses. */
export function timeParseError(text: string, isMicro: boolean): string {
  const layout = isMicro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  const prefix = `parsing time ${JSON.stringify(text)}`;
  let rest = text;
  for (const [element, pattern] of isMicro ? microElements : secondElements) {
    const match = pattern.exec(rest);
    if (match === null)
      return `${prefix} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${element}"`;
    const outOfRange = element === 'Z07:00' ? zoneOutOfRange(match[0]) : partOutOfRange(element, match[0]);
    if (outOfRange !== undefined) return `${prefix}: ${outOfRange} out of range`;
    rest = rest.slice(match[0].length);
  }
  return rest === '' ? `${prefix}: day out of range` : `${prefix}: extra text: ${JSON.stringify(rest)}`;
}

/** The years 1 to 9999, which four digits can express. */
const firstMs = Date.UTC(2000, 0, 1) - 63_082_281_600_000;
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const plainSeconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const plainMicros = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const sixDigits = /[.,]\d{6}(?:Z|[+-]\d\d:\d\d)$/;

const secondElements: readonly (readonly [string, RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d{1,2}/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d(?:[.,]\d+)?/],
  ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/],
];

const microElements: readonly (readonly [string, RegExp])[] = [
  ...secondElements.slice(0, 10),
  ['05', /^\d\d/],
  ['.000000', /^[.,]\d{6}/],
  ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/],
];

const ranges = new Map([
  ['01', { name: 'month', min: 1, max: 12 }],
  ['02', { name: 'day', min: 1, max: 31 }],
  ['15', { name: 'hour', min: 0, max: 23 }],
  ['04', { name: 'minute', min: 0, max: 59 }],
  ['05', { name: 'second', min: 0, max: 59.999_999_999_9 }],
]);

function partOutOfRange(element: string, text: string): string | undefined {
  const range = ranges.get(element);
  const value = Number(text.replace(',', '.'));
  return range === undefined || (value >= range.min && value <= range.max) ? undefined : range.name;
}

function zoneOutOfRange(zone: string): string | undefined {
  if (Number(zone.slice(4, 6)) > 60) return 'time zone offset minute';
  return Number(zone.slice(1, 3)) > 24 ? 'time zone offset hour' : undefined;
}

function secondsOf({ epochNanos }: ZonedTime): number {
  return Number(floorDivide(epochNanos, nanosPerSecond));
}

function nanosOf({ epochNanos }: ZonedTime): number {
  return Number(epochNanos - floorDivide(epochNanos, nanosPerSecond) * nanosPerSecond);
}

/** Whether month, day, hour, minute and second exist; JavaScript would turn February 30 into March 2. */
function isClockTime(text: string): boolean {
  if (!isDateOfCalendar(Number(text.slice(0, 4)), twoDigits(text, 5), twoDigits(text, 8))) return false;
  return twoDigits(text, 11) < 24 && twoDigits(text, 14) < 60 && twoDigits(text, 17) < 60;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}
