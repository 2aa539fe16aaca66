/** The parts of a quantity's text: sign · (whole . fraction) · base ^ exponent. */
export interface ScannedQuantity {
  readonly negative: boolean;
  /** Digits before the point without leading zeros; at least `0`. */
  readonly whole: string;
  readonly fraction: string;
  readonly base: 2n | 10n;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

/** Which suffixes a quantity is printed with: `12Mi`, `12M` or `12e6`. It is that of the parsed text. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/**
 * Splits a text by the grammar of Kubernetes' parser, which is laxer than its documentation: digits may be missing on
 * either side of the point and, with most suffixes, on both. One pass without backtracking, because the text may be
 * hostile.
 *
 * Texts longer than {@link textLengthMax} and exponents above {@link exponentMax} are refused, which Kubernetes accepts:
 * they serve only to overload a server.
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
 * Kubernetes keeps the text of a quantity if a quick test says that it is canonical, and prints this text again. The test
 * is wrong for some texts (`+1Gi`, `01Gi`, `1.500`, `1E3`), which Kubernetes then prints although they aren't canonical.
 */
export function isPrintedAsWritten(scanned: ScannedQuantity): boolean {
  const { whole, fraction, base, exponent } = scanned;
  if (!isSmall(scanned)) return false;
  if (base === 2n) return Number(whole) % 8 !== 0;
  const digits = whole + fraction;
  return (exponent - fraction.length) % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
}

/** More than enough for every number of bytes. */
const textLengthMax = 1024;
const exponentMax = 1024;

/** So small that even {@link textLengthMax} digits are rounded up to the smallest value. */
const exponentMin = -4096;

/**
 * Whether Kubernetes parses the quantity with 64-bit integers instead of big ones. The value is the same, but the rules
 * differ: only here digits are optional, and only here Kubernetes keeps the text.
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
  // Unlike Kubernetes, which truncates exponents to 32 bits and reads 1e4294967296 as 1.
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
