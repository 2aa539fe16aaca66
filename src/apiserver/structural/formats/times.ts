import { isDateOfCalendar } from '../../../kube/go/calendar.ts';
import { parseGoDuration } from '../../../kube/go/duration.ts';
import { utf8Length } from '../../../kube/go/quote.ts';

export function isDateFormat(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return false;
  return isDateOfCalendar(Number(parts[1]), Number(parts[2]), Number(parts[3]));
}

/** A date, a T, and a time with its zone; text after another T is ignored. */
export function isDateTimeFormat(text: string): boolean {
  if (utf8Length(text) < 4) return false;
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDateFormat(date)) return false;
  const parts = /^([0-9]{2}):([0-9]{2}):([0-9]{2})([^\n][0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/u.exec(time);
  if (parts === null) return false;
  return Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59;
}

/**
 * A duration in Go's notation (`1h30m`), or, more loosely, numbers with units anywhere in the text (`about 3 days`).
 */
export function isDurationFormat(text: string): boolean {
  return parseGoDuration(text) !== undefined || isLooseDuration(text);
}

/** Larger numbers do not fit into Go's int64. */
const integerLimit = 2n ** 63n;

/** A number that is too large makes the whole text invalid. */
function isLooseDuration(text: string): boolean {
  let found = false;
  for (let at = 0; at < text.length; ) {
    const end = endOf(/\d/, text, at);
    if (end === at) {
      at++;
      continue;
    }
    const unitAt = endOf(/[\t\n\f\r ]/, text, end);
    const unitEnd = endOf(/[A-Za-zµ]/, text, unitAt);
    if (unitEnd > unitAt) {
      if (isTooLarge(text.slice(at, end))) return false;
      found ||= isUnit(text.slice(unitAt, unitEnd).toLowerCase());
    }
    at = Math.max(end, unitEnd);
  }
  return found;
}

function isTooLarge(digits: string): boolean {
  const significant = digits.replace(/^0+/, '');
  return significant.length > 19 || BigInt(significant === '' ? '0' : significant) >= integerLimit;
}

function endOf(letter: RegExp, text: string, from: number): number {
  let end = from;
  while (end < text.length && letter.test(text[end] as string)) end++;
  return end;
}

/** Short names must be the whole unit; long names may continue (`minutes`). */
function isUnit(unit: string): boolean {
  if (['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'].includes(unit)) return true;
  return ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'].some((long) =>
    unit.startsWith(long),
  );
}
