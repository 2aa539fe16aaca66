import type { Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { ValidationRun, ValueCheck } from './validation-run.ts';

/**
 * Checks whether the value has a type that the schema allows; undefined if any type is valid. `format` is a known
 * format of the type.
 */
export function compileType(schema: JsonSchema, format: string): ValueCheck | undefined {
  const types = typesOf(schema);
  if (types.length === 0 && format === '') return undefined;
  const [first, second] = types;
  const allowsIntegers = first === 'integer';
  const isNumeric = allowsIntegers || first === 'number';
  return (value, run) => {
    const kind = kindOf(value);
    const fits =
      kind === first ||
      kind === second ||
      (kind === 'integer' && first === 'number') ||
      (kind === 'number' && allowsIntegers && isNearlyWhole(value as number));
    const isTextOrList = kind === 'string' || kind === 'array';
    // A format also implies the type; it has its own check, and lists pass.
    if (fits || (format !== '' && isTextOrList && !isNumeric)) run.match(1);
    else if (format !== '' && !isTextOrList) wrongType(run, format, impliedFormats[kind] ?? '');
    else wrongType(run, types.join(','), kind);
  };
}

/** `x-kubernetes-int-or-string` means two types. */
export function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
}

/** The names of JSON types in schemas. Numbers without a fraction are integers, in any notation. */
type ValueKind = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

function kindOf(value: Exclude<Json, null>): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number';
    case 'bigint':
      return 'integer';
    case 'boolean':
      return 'boolean';
    default:
      return Array.isArray(value) ? 'array' : 'object';
  }
}

/** Null has its own type. */
export function compileNull(schema: JsonSchema): (run: ValidationRun) => void {
  const types = typesOf(schema);
  if (types.length === 0 || schema.nullable === true) return (run) => run.match(1);
  return (run) => wrongType(run, types.join(','), 'null');
}

/** A number very close to a whole number counts as whole: the difference is a rounding error. */
export function isNearlyWhole(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  if (Number.isInteger(value)) return true;
  const whole = Math.trunc(value);
  if (whole <= 0) return false;
  return Math.abs(value - whole) / (value + whole) < relativeError;
}

const relativeError = 1e-9;

const impliedFormats: Readonly<Partial<Record<ValueKind, string>>> = { integer: 'int64', number: 'float64' };

function wrongType(run: ValidationRun, expected: string, found: string): void {
  run.addHere('type', `must be of type ${expected}: "${found}"`, { value: found });
}
