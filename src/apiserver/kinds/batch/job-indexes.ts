import { goQuoted } from '../../../kube/go/quote.ts';

/** Both ends are inclusive. */
interface Interval {
  readonly first: number;
  readonly last: number;
}

type Result<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly problem: string };

/**
 * Parses indexes such as `1-3,5`, which must be increasing and below the number of completions. `total` is the number
 * of indexes.
 */
export function readIndexes(text: string, completions: number): Result<{ readonly total: number }> {
  let total = 0;
  let previous: number | undefined;
  for (const part of text === '' ? [] : text.split(',')) {
    const interval = readInterval(part, completions);
    if (!interval.ok) return interval;
    const { first, last } = interval;
    if (previous !== undefined && previous >= first) return notRising(previous, first);
    total += last - first + 1;
    previous = last;
  }
  return { ok: true, total };
}

/** The first common index. Undefined if one of the texts is invalid, which is reported elsewhere. */
export function findOverlap(a: string, b: string, completions: number): number | undefined {
  const others = readableIntervals(b, completions);
  for (const one of readableIntervals(a, completions)) {
    const other = others.find(({ first, last }) => first <= one.last && one.first <= last);
    if (other) return Math.max(one.first, other.first);
  }
  return undefined;
}

function readableIntervals(text: string, completions: number): readonly Interval[] {
  if (text === '') return [];
  const results = text.split(',').map((part) => readInterval(part, completions));
  return results.filter((result) => result.ok);
}

function readInterval(part: string, completions: number): Result<Interval> {
  const limits = part.split('-');
  const [first = '', last = first] = limits;
  if (limits.length > 2) {
    const problem = `the fragment ${goQuoted(part)} violates the requirement that an index interval can have at most two parts separated by '-'`;
    return { ok: false, problem };
  }
  for (const limit of limits) {
    if (!/^[+-]?[0-9]+$/.test(limit)) {
      return { ok: false, problem: `cannot convert string to integer for index: ${goQuoted(limit)}` };
    }
    if (Number(limit) >= completions) return { ok: false, problem: `too large index: ${goQuoted(limit)}` };
  }
  if (limits.length === 2 && Number(first) >= Number(last)) return notRising(Number(first), Number(last));
  return { ok: true, first: Number(first), last: Number(last) };
}

function notRising(previous: number, current: number): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: `non-increasing order, previous: ${previous}, current: ${current}` };
}
