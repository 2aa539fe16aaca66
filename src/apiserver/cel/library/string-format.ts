import { formatGoFloat } from '../../../kube/go/numbers.ts';
import { goQuoted } from '../../../kube/go/quote.ts';
import { formatRfc3339 } from '../../../kube/go/rfc3339.ts';
import {
  type ClauseLetter,
  defaultPrecision,
  formatProblems,
  walkFormat,
} from '../language/format-clauses.ts';
import { formatCelDuration } from '../values/times.ts';
import {
  CelDuration,
  CelError,
  CelTimestamp,
  isList,
  isMap,
  itemsOf,
  type ListValue,
  type MapValue,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts';

/** `'%s has %d'.format([...])`, in English. */
export function formatString(text: string, args: readonly Value[]): Value {
  const result = walkFormat(text, args.length, ({ letter, digits, index }) => {
    const formatted = clauses[letter](args[index] as Value, digits);
    return typeof formatted === 'string' ? formatted : { problem: formatted.message };
  });
  return typeof result === 'string' ? result : new CelError(result.problem);
}

type FormatResult = string | CelError;

const clauses: Readonly<Record<ClauseLetter, (value: Value, digits: number) => FormatResult>> = {
  s: formatAny,
  d: (value) => formatInteger(value, 10, formatProblems.d),
  f: (value, digits) => formatDouble(value, formatProblems.f, (number) => formatFixed(number, digits)),
  e: (value, width) =>
    formatDouble(value, formatProblems.e, (number) => formatScientific(number).padStart(width)),
  b: (value) => {
    if (typeof value === 'boolean') return value ? '1' : '0';
    return formatInteger(value, 2, formatProblems.b);
  },
  x: formatHex,
  X: (value) => {
    const text = formatHex(value);
    return typeof text === 'string' ? text.toUpperCase() : text;
  },
  o: (value) => formatInteger(value, 8, formatProblems.o),
};

function wrongTypeError(problem: string, value: Value): CelError {
  return new CelError(`${problem}, was given ${typeNameOf(value)}`);
}

function formatInteger(value: Value, base: number, problem: string): FormatResult {
  if (typeof value === 'bigint') return value.toString(base);
  return value instanceof Uint ? value.value.toString(base) : wrongTypeError(problem, value);
}

function formatHex(value: Value): FormatResult {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return formatInteger(value, 16, formatProblems.x);
}

const specialNumbers: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

function formatDouble(value: Value, problem: string, format: (number: number) => string): FormatResult {
  const number = typeof value === 'string' ? specialNumbers[value] : value;
  if (typeof number !== 'number') return wrongTypeError(problem, value);
  if (Number.isNaN(number)) return 'NaN';
  if (!Number.isFinite(number)) return number > 0 ? '\u221e' : '-\u221e';
  return format(number);
}

/** Formats a number with commas between thousands. */
function formatFixed(value: number, digits: number): string {
  const [whole = '', fraction] = roundedToEven(value, Math.min(digits, 100)).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/**
 * The exponent is a power of ten in superscript digits, as Go's x/text prints English texts. As in cel-go, the
 * precision of the clause is used as the width of the text.
 */
function formatScientific(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential(defaultPrecision).split('e');
  const power = Number(exponent);
  const superscript = Array.from(
    String(Math.abs(power)).padStart(2, '0'),
    (digit) => superscriptDigits[Number(digit)],
  ).join('');
  return `${mantissa}\u00d710${power < 0 ? '\u207b' : ''}${superscript}`;
}

/** JavaScript rounds a value exactly between two numbers up, Go to the even one. */
function roundedToEven(value: number, digits: number): string {
  const text = value.toFixed(digits);
  const exact = value.toFixed(100);
  const rest = exact.slice(exact.indexOf('.') + 1 + digits);
  if (!/^50*$/.test(rest)) return text;
  const below = exact.slice(0, exact.length - rest.length).replace(/\.$/, '');
  return /[02468]$/.test(below) ? below : text;
}

const superscriptDigits = Array.from('\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079');

function formatAny(value: Value): FormatResult {
  if (isList(value)) return formatList(value);
  if (isMap(value)) return formatMap(value);
  return formatScalar(value) ?? wrongTypeError(formatProblems.s, value);
}

function formatScalar(value: Value): string | CelError | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return formatGoFloat(value);
    default:
      if (value === null) return 'null';
      if (value instanceof Uint) return String(value.value);
      if (value instanceof TypeValue) return value.name;
      if (value instanceof CelDuration) return formatCelDuration(value.nanos);
      if (value instanceof CelTimestamp) return formatRfc3339(value);
      if (value instanceof Uint8Array) return new TextDecoder().decode(value);
      return value instanceof CelError ? value : undefined;
  }
}

function formatList(list: ListValue): FormatResult {
  const items: string[] = [];
  for (const item of itemsOf(list)) {
    const text = formatElement(item);
    if (text instanceof CelError) return text;
    items.push(text);
  }
  return `[${items.join(', ')}]`;
}

function formatMap(map: MapValue): FormatResult {
  const entries: [string, string][] = [];
  for (const key of map.keys()) {
    const keyText = formatElement(key);
    const valueText = formatElement(map.find(key) ?? null);
    if (keyText instanceof CelError) return keyText;
    if (valueText instanceof CelError) return valueText;
    entries.push([keyText, valueText]);
  }
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

/** An element of a list or a map, formatAny with its type. */
function formatElement(value: Value): FormatResult {
  if (typeof value === 'string') return goQuoted(value);
  if (value instanceof Uint8Array) return `b${goQuoted(new TextDecoder().decode(value))}`;
  if (typeof value === 'number')
    return Number.isFinite(value) ? value.toFixed(defaultPrecision) : `"${formatGoFloat(value)}"`;
  if (value instanceof CelTimestamp) return `timestamp("${formatRfc3339(value)}")`;
  if (value instanceof CelDuration) return `duration("${formatCelDuration(value.nanos)}")`;
  if (isList(value)) return formatList(value);
  if (isMap(value)) return formatMap(value);
  return formatScalar(value) ?? new CelError(`no formatting function for ${typeNameOf(value)}`);
}
