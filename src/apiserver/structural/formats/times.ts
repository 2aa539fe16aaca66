import { utf8Length } from '../../../kube/go/quote.ts';

export function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

/** A date, a T, a time with its zone; what follows another T is not looked at. */
export function isDateTime(text: string): boolean {
  if (utf8Length(text) < 4) return false;
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const parts = /^([0-9]{2}):([0-9]{2}):([0-9]{2})([^\n][0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/u.exec(time);
  if (parts === null) return false;
  return Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59;
}

/** As Go writes durations (`1h30m`), or, more loosely, numbers with units somewhere in the text (`about 3 days`). */
export function isDuration(text: string): boolean {
  return isGoDuration(text) || isLooseDuration(text);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

const goUnits: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
};

function isGoDuration(text: string): boolean {
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return true;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(unsigned)) return false;
  let total = 0;
  for (const [, amount = '', unit = ''] of unsigned.matchAll(/([\d.]+)([^\d.]+)/g)) {
    total += Number(amount) * (goUnits[unit] ?? 0);
  }
  return total < 2 ** 63;
}

/** What a number must be below to be one to Go. */
const integerLimit = 2n ** 63n;

/** A number that is too large spoils it all. */
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

/** Short names must be the whole unit; of the long ones a beginning will do (`minutes`). */
function isUnit(unit: string): boolean {
  if (['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'].includes(unit)) return true;
  return ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'].some((long) =>
    unit.startsWith(long),
  );
}
