import { assert } from '../../runtime/assert.ts';
import {
  isPrintedAsWritten,
  type QuantityFormat,
  type ScannedQuantity,
  scanQuantity,
} from './quantity-scanner.ts';

export type { QuantityFormat } from './quantity-scanner.ts';

/**
 * An exact, immutable amount: bytes, cores or a count. Create it with {@link parseQuantity} only.
 *
 * `amount` is one of two things, so that the common case costs no bigint:
 *   a number   the value itself, a whole number below 2^53 in magnitude
 *   a bigint   the value in billionths, for everything else
 * The choice is canonical: equal values always have equal amounts.
 */
export interface Quantity {
  readonly amount: number | bigint;
  readonly format: QuantityFormat;
  /**
   * The original text, set only where Kubernetes also prints it although it isn't canonical (`+1Gi`, `1.500`). Arithmetic
   * ignores it.
   */
  readonly spelling: string | undefined;
}

export type QuantityResult =
  | { readonly ok: true; readonly quantity: Quantity }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads a quantity as Kubernetes does, oddities included: `Gi` and `.` are zero, anything finer than a billionth is
 * rounded away from zero, binary suffixes stop at 2^63-1, blanks around the text are ignored.
 * Numbers, which YAML produces from unquoted text, are accepted below 2^53: above, YAML has already lost digits.
 *
 *     parseQuantity('10Gi', 'spec.capacity.storage')   // { ok: true, quantity }, 10737418240 bytes
 */
export function parseQuantity(text: unknown, field = 'quantity'): QuantityResult {
  if (typeof text === 'string') return parseText(text, field);
  if (typeof text === 'number') return parseNumber(text, field);
  const found = text === undefined || text === null ? 'nothing' : `a value of type ${typeof text}`;
  return { ok: false, problem: `${field}: found ${found} instead of a quantity; ${remedy}` };
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (typeof a.amount === 'number' && typeof b.amount === 'number') return order(a.amount, b.amount);
  return order(quantityToNano(a), quantityToNano(b));
}

/** The sum has the format of `a`, or of `b` where `a` is zero, as in Kubernetes. It is not capped. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const format = a.amount === 0 ? b.format : a.format;
  if (typeof a.amount === 'number' && typeof b.amount === 'number') {
    const sum = a.amount + b.amount;
    if (Number.isSafeInteger(sum)) return quantityOf(sum, format);
  }
  return quantityFromNano(quantityToNano(a) + quantityToNano(b), format);
}

/** The difference may be negative. The format is chosen as in {@link addQuantities}. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  const format = a.amount === 0 ? b.format : a.format;
  if (typeof a.amount === 'number' && typeof b.amount === 'number') {
    const difference = a.amount - b.amount;
    if (Number.isSafeInteger(difference)) return quantityOf(difference, format);
  }
  return quantityFromNano(quantityToNano(a) - quantityToNano(b), format);
}

/**
 * Prints a quantity as Kubernetes does: no fraction, the largest suffix that loses nothing, and decimal suffixes for
 * binary amounts below 1024 or with a fraction. One deliberate difference: Kubernetes has no suffix above E and Ei and
 * prints 1000E as `1`; we print `1000E`.
 */
export function formatQuantity(quantity: Quantity): string {
  return quantity.spelling ?? canonicalQuantity(quantity);
}

/** Like {@link formatQuantity}, but equal quantities of one format always give equal texts. */
export function canonicalQuantity({ amount, format }: Quantity): string {
  if (amount === 0) return '0';
  if (format === 'BinarySI' && isWholeAndAtLeast1024(amount)) {
    const whole = typeof amount === 'number' ? BigInt(amount) : amount / nanoPerUnit;
    return withLargestSuffix(whole, 1024n, binarySuffixes);
  }
  if (format !== 'DecimalExponent') return withLargestSuffix(toNano(amount), 1000n, decimalSuffixes);
  return withExponent(toNano(amount));
}

/** The exact value in billionths, the finest unit of a quantity. */
export function quantityToNano(quantity: Quantity): bigint {
  return toNano(quantity.amount);
}

/** The value as a whole number, fractions rounded away from zero. Unlike Kubernetes' Value() it can't overflow. */
export function quantityToBytes({ amount }: Quantity): bigint {
  return typeof amount === 'number' ? BigInt(amount) : roundAwayFromZero(amount, nanoPerUnit);
}

/** {@link quantityToBytes} for hot paths: a double, or undefined where a double may be inexact (2^53 and above). */
export function quantityToSafeBytes({ amount }: Quantity): number | undefined {
  if (typeof amount === 'number') return amount;
  const bytes = Number(roundAwayFromZero(amount, nanoPerUnit));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** For amounts that we computed ourselves; a fraction of a byte is a bug. */
export function quantityFromBytes(bytes: number | bigint, format: QuantityFormat = 'BinarySI'): Quantity {
  assert(typeof bytes === 'bigint' || Number.isInteger(bytes), `${bytes} is not a whole number of bytes`);
  return quantityFromNano(BigInt(bytes) * nanoPerUnit, format);
}

const nanoPerUnit = 1_000_000_000n;
const int64MaxNano = (2n ** 63n - 1n) * nanoPerUnit;

/** How many characters of a wrong text a message quotes. */
const quotedLengthMax = 40;

const remedy = 'write a number with an optional suffix such as 10Gi or 500M';

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

function parseText(text: string, field: string): QuantityResult {
  const plain = parsePlain(text);
  if (plain !== undefined) return { ok: true, quantity: plain };
  const quantity = parseAny(withoutSpacesAround(text));
  if (quantity !== undefined) return { ok: true, quantity };
  const quoted = text.length > quotedLengthMax ? `${text.slice(0, quotedLengthMax)}…` : text;
  return { ok: false, problem: `${field}: ${JSON.stringify(quoted)} is not a quantity; ${remedy}` };
}

function parseNumber(value: number, field: string): QuantityResult {
  // Adding 0 turns -0 into 0.
  if (Number.isSafeInteger(value)) return { ok: true, quantity: quantityOf(value + 0, 'DecimalSI') };
  if (Math.abs(value) < Number.MAX_SAFE_INTEGER) return parseText(String(value), field);
  return {
    ok: false,
    problem: `${field}: ${value} is too large for a plain number; write it as text, in quotes`,
  };
}

/**
 * The hot path: up to fifteen digits with or without a suffix, like nearly all quantities. Returns undefined for
 * everything else, wrong texts included; {@link parseAny} handles them.
 */
function parsePlain(text: string): Quantity | undefined {
  let digits = 0;
  let end = 0;
  for (; end < text.length && end < 15; end++) {
    const digit = text.charCodeAt(end) - 48;
    if (digit < 0 || digit > 9) break;
    digits = digits * 10 + digit;
  }
  if (end === 0 || (end > 1 && text.charCodeAt(0) === 48)) return undefined;
  switch (text.length - end) {
    case 0:
      return quantityOf(digits, 'DecimalSI');
    case 1:
      if (text.charCodeAt(end) === 109) return milliQuantity(digits);
      return scaledQuantity(digits, decimalFactor(text.charCodeAt(end)), 'DecimalSI');
    case 2:
      if (text.charCodeAt(end + 1) !== 105) return undefined;
      return scaledQuantity(digits, binaryFactor(text.charCodeAt(end)), 'BinarySI');
    default:
      return undefined;
  }
}

function scaledQuantity(digits: number, factor: number, format: QuantityFormat): Quantity | undefined {
  const value = digits * factor;
  return Number.isSafeInteger(value) ? quantityOf(value, format) : undefined;
}

/** Nearly all CPU requests look like `100m`. */
function milliQuantity(digits: number): Quantity | undefined {
  if (digits % 1000 === 0) return quantityOf(digits / 1000, 'DecimalSI');
  const nano = digits * 1_000_000;
  return Number.isSafeInteger(nano)
    ? { amount: BigInt(nano), format: 'DecimalSI', spelling: undefined }
    : undefined;
}

/** NaN for a letter that is not a suffix; the product with it is not a safe integer. */
function decimalFactor(charCode: number): number {
  switch (charCode) {
    case 107: // k
      return 1e3;
    case 77: // M
      return 1e6;
    case 71: // G
      return 1e9;
    case 84: // T
      return 1e12;
    case 80: // P
      return 1e15;
    default:
      return Number.NaN;
  }
}

function binaryFactor(charCode: number): number {
  switch (charCode) {
    case 75: // Ki
      return 2 ** 10;
    case 77: // Mi
      return 2 ** 20;
    case 71: // Gi
      return 2 ** 30;
    case 84: // Ti
      return 2 ** 40;
    case 80: // Pi
      return 2 ** 50;
    default:
      return Number.NaN;
  }
}

/** Kubernetes ignores blanks around a quantity, but not the tabs and line ends that JSON escapes. */
function withoutSpacesAround(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
}

/** Every other text that Kubernetes accepts: signs, fractions, exponents, very large and very small values. */
function parseAny(text: string): Quantity | undefined {
  const scanned = scanQuantity(text);
  if (scanned === undefined) return undefined;
  const magnitude = scannedNano(scanned);
  const capped = scanned.format === 'BinarySI' && magnitude > int64MaxNano ? int64MaxNano : magnitude;
  const isFractionOfOne = capped > 0n && capped < nanoPerUnit;
  const format = scanned.format === 'BinarySI' && isFractionOfOne ? 'DecimalSI' : scanned.format;
  const quantity = quantityFromNano(scanned.negative ? -capped : capped, format);
  const keepsSpelling = isPrintedAsWritten(scanned) && canonicalQuantity(quantity) !== text;
  return keepsSpelling ? { ...quantity, spelling: text } : quantity;
}

/** The magnitude in billionths, rounded up, so that a tiny request does not become zero. */
function scannedNano({ whole, fraction, base, exponent }: ScannedQuantity): bigint {
  const digits = BigInt(whole + fraction) * nanoPerUnit;
  const divisor = 10n ** BigInt(fraction.length);
  if (exponent < 0) return roundAwayFromZero(digits, divisor * base ** BigInt(-exponent));
  return roundAwayFromZero(digits * base ** BigInt(exponent), divisor);
}

function quantityFromNano(nano: bigint, format: QuantityFormat): Quantity {
  const whole = nano / nanoPerUnit;
  const value = Number(whole);
  if (Number.isSafeInteger(value) && whole * nanoPerUnit === nano) return quantityOf(value, format);
  return { amount: nano, format, spelling: undefined };
}

function quantityOf(amount: number, format: QuantityFormat): Quantity {
  return { amount, format, spelling: undefined };
}

function toNano(amount: number | bigint): bigint {
  return typeof amount === 'number' ? BigInt(amount) * nanoPerUnit : amount;
}

function roundAwayFromZero(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

function isWholeAndAtLeast1024(amount: number | bigint): boolean {
  if (typeof amount === 'number') return Math.abs(amount) >= 1024;
  return amount % nanoPerUnit === 0n;
}

function withLargestSuffix(units: bigint, step: bigint, suffixes: readonly string[]): string {
  let mantissa = units;
  let index = 0;
  while (index < suffixes.length - 1 && mantissa % step === 0n) {
    mantissa /= step;
    index += 1;
  }
  return `${mantissa}${suffixes[index]}`;
}

function withExponent(nano: bigint): string {
  let mantissa = nano;
  let exponent = -9;
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

function order<T extends number | bigint>(a: T, b: T): -1 | 0 | 1 {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}
