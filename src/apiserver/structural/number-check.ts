import { VerbatimJson } from '../../kube/go/json-text.ts';
import { formatGoFloat } from '../../kube/go/numbers.ts';
import type { JsonSchema } from './json-schema.ts';
import { isNearlyWhole, typesOf } from './type-check.ts';
import type { ValidationRun } from './validation-run.ts';

type NumberCheck = (value: number, run: ValidationRun) => void;

/**
 * Bounds, factors, and what the format can hold. Integers are compared with the bound cut to an integer, unless the bound is none of the
 * schema's type: that is a problem too, and then all are compared as floats.
 */
export function compileNumber(schema: JsonSchema, format: string): NumberCheck | undefined {
  const range = rangeOf(schema, format);
  const checks = [
    compileMultiple(schema, range),
    compileBound(schema.minimum, schema.exclusiveMinimum === true, minimum, range),
    compileBound(schema.maximum, schema.exclusiveMaximum === true, maximum, range),
  ].filter((check) => check !== undefined);
  if (range === everything && checks.length === 0) return undefined;
  return (value, run) => {
    if (!range.holds(value)) outOfRange(run, 'Checked', range);
    for (const check of checks) check(value, run);
  };
}

/** What a type with its format can hold. */
interface Range {
  readonly name: string;
  readonly holds: (value: number) => boolean;
}

function rangeOf(schema: JsonSchema, format: string): Range {
  const types = typesOf(schema);
  const type = types.length === 1 ? types[0] : undefined;
  if (type === 'integer') {
    const name = `integer ${format === '' ? '(default format)' : `with format ${format}`}`;
    // As a float the least integer of 64 bits is shown with rounded digits, and those are beyond it.
    return format === 'int32'
      ? { name, holds: (value) => Number.isInteger(value) && value < 2 ** 31 && value >= -(2 ** 31) }
      : { name, holds: (value) => Number.isInteger(value) && Math.abs(value) < 2 ** 63 };
  }
  if (type === 'number' && format === 'float') {
    return { name: 'number with format float', holds: (value) => Number.isFinite(Math.fround(value)) };
  }
  return everything;
}

const everything: Range = { name: '', holds: () => true };

function outOfRange(run: ValidationRun, what: string, range: Range): void {
  run.add('unplaced', (path) => `${what} value must be of type ${range.name} in ${path}`);
}

interface Bound {
  readonly what: string;
  readonly exceeds: (value: number, bound: number, exclusive: boolean) => boolean;
  readonly inclusive: string;
  readonly exclusive: string;
}

const minimum: Bound = {
  what: 'Minimum boundary',
  exceeds: (value, bound, exclusive) => value < bound || (exclusive && value === bound),
  inclusive: 'should be greater than or equal to',
  exclusive: 'should be greater than',
};

const maximum: Bound = {
  what: 'Maximum boundary',
  exceeds: (value, bound, exclusive) => value > bound || (exclusive && value === bound),
  inclusive: 'should be less than or equal to',
  exclusive: 'should be less than',
};

function compileBound(
  limit: number | undefined,
  exclusive: boolean,
  bound: Bound,
  range: Range,
): NumberCheck | undefined {
  if (limit === undefined) return undefined;
  const fits = range.holds(limit);
  const whole = toInt64(limit);
  const sentence = exclusive ? bound.exclusive : bound.inclusive;
  return (value, run) => {
    if (!fits) outOfRange(run, bound.what, range);
    const asInteger = fits && Number.isSafeInteger(value);
    if (!bound.exceeds(value, asInteger ? Number(whole) : limit, exclusive)) return;
    const shown = asInteger ? String(whole) : formatGoFloat(limit);
    run.addHere('invalid', `${sentence} ${shown}`, { value: asInteger ? value : asFloat(value) });
  };
}

function compileMultiple(schema: JsonSchema, range: Range): NumberCheck | undefined {
  const factor = schema.multipleOf;
  if (factor === undefined) return undefined;
  const fits = range.holds(factor);
  const whole = toInt64(factor);
  return (value, run) => {
    if (!fits) outOfRange(run, 'MultipleOf', range);
    if (fits && Number.isSafeInteger(value)) checkWholeMultiple(value, whole, run);
    else checkMultiple(value, factor, run);
  };
}

function checkWholeMultiple(value: number, factor: bigint, run: ValidationRun): void {
  if (factor <= 0n) notPositive(run, String(factor));
  else if (value % Number(factor) !== 0) {
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
  const tell = (path: string): string => `factor MultipleOf declared for ${path} must be positive: ${factor}`;
  run.add('invalid', tell, { value: new VerbatimJson(factor) });
}

/** As processors cut it: what does not fit becomes the least of all integers. */
function toInt64(value: number): bigint {
  const whole = BigInt(Math.trunc(value));
  return BigInt.asIntN(64, whole) === whole ? whole : -(2n ** 63n);
}

function asFloat(value: number): VerbatimJson {
  return new VerbatimJson(formatGoFloat(value));
}
