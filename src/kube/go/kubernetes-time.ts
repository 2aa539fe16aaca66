import { formatTimestamp } from './timestamp.ts';

/**
 * Times as Go's RFC 3339 parser reads them and as Kubernetes writes them: UTC, whole seconds or exactly six digits of a
 * fraction. Undefined where Go refuses the text; {@link explainTime} says why.
 */
export function canonicalTime(text: string): string | undefined {
  if (plainSeconds.test(text) && isDate(text)) return text;
  const ms = parseTime(text, anyFraction);
  return ms === undefined ? undefined : formatTimestamp(ms);
}

export function canonicalMicroTime(text: string): string | undefined {
  if (plainMicros.test(text) && isDate(text)) return text;
  const ms = parseTime(text, sixDigits);
  if (ms === undefined) return undefined;
  return `${new Date(ms).toISOString().slice(0, 19)}${text.slice(19, 26)}Z`;
}

/** Go's zero time, which Kubernetes writes as null. */
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

/** The sentence of Go's time.Parse for a text that it refuses. */
export function explainTime(text: string, isMicro: boolean): string {
  const layout = isMicro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  const prefix = `parsing time ${JSON.stringify(text)}`;
  let rest = text;
  for (const [element, pattern] of isMicro ? microElements : secondElements) {
    const match = pattern.exec(rest);
    if (match === null)
      return `${prefix} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${element}"`;
    const range = ranges.get(element);
    if (range !== undefined && !(Number(match[0]) >= range.min && Number(match[0]) <= range.max))
      return `${prefix}: ${range.name} out of range`;
    rest = rest.slice(match[0].length);
  }
  return rest === '' ? `${prefix}: day out of range` : `${prefix}: extra text: ${JSON.stringify(rest)}`;
}

/** Years 1 to 9999, which four digits can say. */
const firstMs = Date.UTC(2000, 0, 1) - 63_082_281_600_000;
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const plainSeconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const plainMicros = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const anyFraction = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:\d\d)$/;
const sixDigits = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.,]\d{6}(Z|[+-]\d\d:\d\d)$/;

const secondElements: readonly (readonly [string, RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
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

function parseTime(text: string, pattern: RegExp): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, local = '', zone = ''] = match;
  if (!isDate(local)) return undefined;
  const ms = Date.parse(`${local}Z`) - offsetMs(zone);
  return ms >= firstMs && ms <= lastMs ? ms : undefined;
}

function offsetMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** That month, day, hour, minute and second exist; JavaScript would carry February 30 over to March. */
function isDate(text: string): boolean {
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (month < 1 || month > 12 || day < 1 || day > daysOf(month, Number(text.slice(0, 4)))) return false;
  return twoDigits(text, 11) < 24 && twoDigits(text, 14) < 60 && twoDigits(text, 17) < 60;
}

function daysOf(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}
