import { VerbatimJson } from '../../kube/go/json-text.ts';
import { formatGoFloat } from '../../kube/go/numbers.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { isNearlyWhole, typesOf } from './type-check.ts';
import type { ValidationRun } from './validation-run.ts';

type NumberCheck = (value: number | bigint, run: ValidationRun) => void;

/**
 * Checks bounds, factors, and the range of the format. Integers are compared with the bound truncated to an integer,
 * unless the bound does not have the type of the schema: that is a problem too, and then values are compared as floats.
 */
export function compileNumber(schema: JsonSchema, format: string): NumberCheck | undefined {
  const range = rangeOf(schema, format);
  const checks = [
    compileMultiple(schema, range),
    compileBound(schema.minimum, schema.exclusiveMinimum === true, minimum, range),
    compileBound(schema.maximum, schema.exclusiveMaximum === true, maximum, range),
  ].filter((check) => check !== undefined);
  if (range === everyNumber && checks.length === 0) return undefined;
  return (value, run) => {
    if (!range.contains(value)) outOfRange(run, 'Checked', range);
    for (const check of checks) check(value, run);
  };
}

/** The values that a type with a format can represent. */
interface NumberRange {
  readonly name: string;
  readonly contains: (value: number | bigint) => boolean;
}

function rangeOf(schema: JsonSchema, format: string): NumberRange {
  const types = typesOf(schema);
  const type = types.length === 1 ? types[0] : undefined;
  if (type === 'integer') {
    const name = `integer ${format === '' ? '(default format)' : `with format ${format}`}`;
    // The smallest 64-bit integer, shown as a float, has rounded digits, and those are out of range.
    return format === 'int32'
      ? { name, contains: (value) => isWhole(value) && value < 2 ** 31 && value >= -(2 ** 31) }
      : { name, contains: (value) => typeof value === 'bigint' || isInt64(value) };
  }
  if (type === 'number' && format === 'float') {
    return {
      name: 'number with format float',
      contains: (value) => Number.isFinite(Math.fround(Number(value))),
    };
  }
  return everyNumber;
}

function isWhole(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

const everyNumber: NumberRange = { name: '', contains: () => true };

function outOfRange(run: ValidationRun, what: string, range: NumberRange): void {
  run.add('unplaced', (path) => `${what} value must be of type ${range.name} in ${path}`);
}

interface Bound {
  readonly what: string;
  readonly exceeds: (value: number | bigint, bound: number | bigint, exclusive: boolean) => boolean;
  readonly inclusive: string;
  readonly exclusive: string;
}

const minimum: Bound = {
  what: 'Minimum boundary',
  exceeds: (value, bound, exclusive) => value < bound || (exclusive && !(value > bound)),
  inclusive: 'should be greater than or equal to',
  exclusive: 'should be greater than',
};

const maximum: Bound = {
  what: 'Maximum boundary',
  exceeds: (value, bound, exclusive) => value > bound || (exclusive && !(value < bound)),
  inclusive: 'should be less than or equal to',
  exclusive: 'should be less than',
};

function compileBound(
  limit: number | undefined,
  exclusive: boolean,
  bound: Bound,
  range: NumberRange,
): NumberCheck | undefined {
  if (limit === undefined) return undefined;
  const fits = range.contains(limit);
  const whole = toInt64(limit);
  const message = exclusive ? bound.exclusive : bound.inclusive;
  return (value, run) => {
    if (!fits) outOfRange(run, bound.what, range);
    const asInteger = fits && isDecodedAsInt64(value);
    if (!bound.exceeds(value, asInteger ? whole : limit, exclusive)) return;
    const shown = asInteger ? String(whole) : formatGoFloat(limit);
    run.addHere('invalid', `${message} ${shown}`, { value: asInteger ? value : asFloat(value) });
  };
}

function compileMultiple(schema: JsonSchema, range: NumberRange): NumberCheck | undefined {
  const factor = schema.multipleOf;
  if (factor === undefined) return undefined;
  const fits = range.contains(factor);
  const whole = toInt64(factor);
  return (value, run) => {
    if (!fits) outOfRange(run, 'MultipleOf', range);
    if (fits && isDecodedAsInt64(value)) checkWholeMultiple(value, whole, run);
    else checkMultiple(Number(value), factor, run);
  };
}

/** Other numbers are doubles, even whole ones. */
function isDecodedAsInt64(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

function checkWholeMultiple(value: number | bigint, factor: bigint, run: ValidationRun): void {
  if (factor <= 0n) notPositive(run, String(factor));
  else if (BigInt(value) % factor !== 0n) {
    run.addHere('invalid', `should be a multiple of ${factor}`, { value });
  }
}

function checkMultiple(value: number, factor: number, run: ValidationRun): void {
  if (factor <= 0) notPositive(run, formatGoFloat(factor));
  else if (!isNearlyWhole(factor < 1 ? (1 / factor) * value : value / factor)) {
    run.addHere('invalid', `should be a multiple of ${formatGoFloat(factor)}`, { value: asFloat(value) });
  }
}

function notPositive(run: ValidationRun, factor: string): void {
  const message = (path: string): string =>
    `factor MultipleOf declared for ${path} must be positive: ${factor}`;
  run.add('invalid', message, { value: new VerbatimJson(factor) });
}

/** As processors convert it: a value that does not fit becomes the smallest integer. */
function toInt64(value: number): bigint {
  const whole = BigInt(Math.trunc(value));
  return BigInt.asIntN(64, whole) === whole ? whole : -(2n ** 63n);
}

function asFloat(value: number | bigint): VerbatimJson {
  return new VerbatimJson(formatGoFloat(Number(value)));
}
