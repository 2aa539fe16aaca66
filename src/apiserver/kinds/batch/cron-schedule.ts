import { goQuoted } from '../../../kube/go/quote.ts';
import { parseInt64 } from '../../../kube/selectors/int64.ts';

/**
 * The problem of a cron schedule, with the message of the library that Kubernetes uses; undefined if it is valid. A
 * schedule is five fields, or a descriptor such as `@daily`, or `@every` with a duration.
 */
export function cronScheduleProblem(schedule: string): string | undefined {
  let rest = schedule;
  if (/^(CRON_)?TZ=/.test(schedule)) {
    const space = schedule.indexOf(' ');
    if (space < 0) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]';
    const zone = schedule.slice(schedule.indexOf('=') + 1, space);
    if (!isKnownTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    rest = schedule.slice(space).trim();
  }
  if (rest.startsWith('@')) return descriptorProblem(rest);
  const fields = rest.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== bounds.length) {
    return `expected exactly ${bounds.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  }
  return firstProblem(fields, (field, index) => fieldProblem(field, bounds[index]));
}

/** Spelled as in the time zone database. */
export function isKnownTimeZone(zone: string): boolean {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return true;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    return timeZone === zone || timeZone.toLowerCase() !== zone.toLowerCase();
  } catch {
    return false;
  }
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const bounds: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: monthNames },
  { min: 0, max: 6, names: dayNames },
];

const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const everyPrefix = '@every ';

function descriptorProblem(descriptor: string): string | undefined {
  if (descriptors.includes(descriptor)) return undefined;
  if (!descriptor.startsWith(everyPrefix)) return `unrecognized descriptor: ${descriptor}`;
  const problem = durationProblem(descriptor.slice(everyPrefix.length));
  return problem === undefined ? undefined : `failed to parse duration ${descriptor}: ${problem}`;
}

/** A Go duration such as `1h30m`. */
function durationProblem(text: string): string | undefined {
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return undefined;
  const invalid = `time: invalid duration ${goQuoted(text)}`;
  if (unsigned === '') return invalid;
  let rest = unsigned;
  while (rest !== '') {
    const number = /^(\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return invalid;
    rest = rest.slice(number.length);
    const unit = /^[^\d.]*/.exec(rest)?.[0] ?? '';
    if (unit === '') return `time: missing unit in duration ${goQuoted(text)}`;
    if (!durationUnits.has(unit)) {
      return `time: unknown unit ${goQuoted(unit)} in duration ${goQuoted(text)}`;
    }
    rest = rest.slice(unit.length);
  }
  return undefined;
}

const durationUnits: ReadonlySet<string> = new Set(['ns', 'us', '\u00b5s', '\u03bcs', 'ms', 's', 'm', 'h']);

function fieldProblem(field: string, bound: Bounds | undefined): string | undefined {
  const ranges = field.split(',').filter((range) => range !== '');
  return bound && firstProblem(ranges, (range) => rangeProblem(range, bound));
}

type Reading = { readonly value: number } | { readonly problem: string };

function rangeProblem(range: string, bound: Bounds): string | undefined {
  const [interval = '', stepText, ...moreSteps] = range.split('/');
  const [low = '', high, ...moreLimits] = interval.split('-');
  const isAll = low === '*' || low === '?';
  const start: Reading = isAll ? { value: bound.min } : readLimit(low, bound);
  if ('problem' in start) return start.problem;
  if (!isAll && moreLimits.length > 0) return `too many hyphens: ${range}`;
  const end = isAll ? { value: bound.max } : high === undefined ? start : readLimit(high, bound);
  if ('problem' in end) return end.problem;
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  const step = stepText === undefined ? { value: 1 } : readNumber(stepText);
  if ('problem' in step) return step.problem;
  // `5/15` extends to the maximum.
  const endValue = stepText !== undefined && high === undefined ? bound.max : end.value;
  return limitsProblem(range, bound, [start.value, endValue, step.value]);
}

function limitsProblem(
  range: string,
  { min, max }: Bounds,
  [start, end, step]: readonly [number, number, number],
): string | undefined {
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return step === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

function readLimit(text: string, { min, names }: Bounds): Reading {
  const named = names.indexOf(text.toLowerCase());
  return named >= 0 ? { value: min + named } : readNumber(text);
}

function readNumber(text: string): Reading {
  const failure = `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuoted(text)}`;
  if (!/^[+-]?[0-9]+$/.test(text)) return { problem: `${failure}: invalid syntax` };
  const value = parseInt64(text);
  if (value === undefined) return { problem: `${failure}: value out of range` };
  return value < 0n
    ? { problem: `negative number (${value}) not allowed: ${text}` }
    : { value: Number(value) };
}

function firstProblem<T>(
  items: readonly T[],
  problemOf: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
