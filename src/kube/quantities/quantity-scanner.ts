/** A quantity's text taken apart: sign · (whole . fraction) · base ^ exponent. */
export interface ScannedQuantity {
  readonly negative: boolean;
  /** Digits before the point without leading zeros; at least `0`. */
  readonly whole: string;
  readonly fraction: string;
  readonly base: 2n | 10n;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

/** Which suffixes a quantity is printed with: `12Mi`, `12M` or `12e6`. It is kept from the text it came from. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/**
 * Takes a text apart by the grammar of Kubernetes' parser, which is laxer than its documentation: digits may be
 * missing on either side of the point and, with most suffixes, altogether. One pass without backtracking, because the
 * text may be hostile.
 *
 * Texts longer than {@link textLengthMax} and exponents above {@link exponentMax} are refused where Kubernetes would
 * compute on: their only use is to keep a server busy.
 */
export function scanQuantity(text: string): ScannedQuantity | undefined {
  if (text.length === 0 || text.length > textLengthMax) return undefined;
  const signLength = text[0] === '-' || text[0] === '+' ? 1 : 0;
  const wholeStart = skip(text, signLength, isZeroDigit);
  const wholeEnd = skip(text, wholeStart, isDigit);
  const fractionStart = text[wholeEnd] === '.' ? wholeEnd + 1 : wholeEnd;
  const suffixStart = text[wholeEnd] === '.' ? skip(text, fractionStart, isDigit) : wholeEnd;
  const scale = interpretSuffix(text.slice(suffixStart));
  if (scale === undefined) return undefined;
  const whole = text.slice(wholeStart, wholeEnd) || '0';
  const fraction = text.slice(fractionStart, suffixStart);
  if (scale.exponent > exponentMax && !isAllZeros(whole, fraction)) return undefined;
  const exponent = Math.min(Math.max(scale.exponent, exponentMin), exponentMax);
  const scanned = { negative: text[0] === '-', whole, fraction, ...scale, exponent };
  const hasDigits = wholeEnd > signLength || fraction !== '';
  return hasDigits || isSmall(scanned) ? scanned : undefined;
}

/**
 * Kubernetes remembers the text of quantities that a quick test takes for canonical, and prints it back. The test errs
 * for some (`+1Gi`, `01Gi`, `1.500`, `1E3`), and then what it prints isn't canonical.
 */
export function isPrintedAsWritten(scanned: ScannedQuantity): boolean {
  const { whole, fraction, base, exponent } = scanned;
  if (!isSmall(scanned)) return false;
  if (base === 2n) return Number(whole) % 8 !== 0;
  const digits = whole + fraction;
  return (exponent - fraction.length) % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
}

/** Longer than any number of bytes in the universe needs. */
const textLengthMax = 1024;
const exponentMax = 1024;

/** So small that with {@link textLengthMax} digits, too, nothing is left but the rounding up. */
const exponentMin = -4096;

/**
 * Whether Kubernetes reads the quantity with 64-bit integers rather than big ones. The value is the same either way,
 * but what is taken for granted differs: only here are digits optional, and the text remembered.
 */
function isSmall({ whole, fraction, base, exponent }: ScannedQuantity): boolean {
  if (base === 2n) return fraction === '' && whole.length + Math.trunc((exponent * 3) / 10) <= 14;
  return whole.length + fraction.length <= 18 && exponent - fraction.length >= -9;
}

interface Scale {
  readonly base: 2n | 10n;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

const suffixes: ReadonlyMap<string, Scale> = new Map([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => decimal(suffix, 3 * index - 9)),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => binary(suffix, 10 * (index + 1))),
]);

function decimal(suffix: string, exponent: number): [string, Scale] {
  return [suffix, { base: 10n, exponent, format: 'DecimalSI' }];
}

function binary(suffix: string, exponent: number): [string, Scale] {
  return [suffix, { base: 2n, exponent, format: 'BinarySI' }];
}

/** `E` alone is a suffix, `E` with digits is an exponent. */
function interpretSuffix(suffix: string): Scale | undefined {
  const known = suffixes.get(suffix);
  if (known !== undefined) return known;
  if (suffix[0] !== 'e' && suffix[0] !== 'E') return undefined;
  const digitsStart = suffix[1] === '-' || suffix[1] === '+' ? 2 : 1;
  if (digitsStart === suffix.length || skip(suffix, digitsStart, isDigit) !== suffix.length) return undefined;
  // A difference from Kubernetes, which cuts exponents to 32 bits and reads 1e4294967296 as 1.
  return { base: 10n, exponent: Number(suffix.slice(1)), format: 'DecimalExponent' };
}

function skip(text: string, start: number, accepts: (charCode: number) => boolean): number {
  let end = start;
  while (end < text.length && accepts(text.charCodeAt(end))) end += 1;
  return end;
}

function isDigit(charCode: number): boolean {
  return charCode >= 48 && charCode <= 57;
}

function isZeroDigit(charCode: number): boolean {
  return charCode === 48;
}

function isAllZeros(whole: string, fraction: string): boolean {
  return whole === '0' && skip(fraction, 0, isZeroDigit) === fraction.length;
}
