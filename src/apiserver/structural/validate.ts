import { isEqualJson } from '../../kube/deep-equal.ts';
import { formatGoValue } from '../../kube/go/format-value.ts';
import { isJsonArray, isJsonObject, type Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { compileComposition } from './composition.ts';
import { Correlation } from './correlation.ts';
import { knownFormat } from './formats/formats.ts';
import { compileList } from './list-check.ts';
import { compileNumber } from './number-check.ts';
import { compileObject } from './object-check.ts';
import { reportProblems } from './report.ts';
import { compileFormat, compileText } from './text-check.ts';
import { compileNull, compileType } from './type-check.ts';
import { type NodeCheck, ValidationRun } from './validation-run.ts';

/** A compiled schema that validates values. */
export interface SchemaValidator {
  /** Adds the errors of a value. */
  validate(value: unknown, errors: FieldErrors, options?: ValidateOptions): void;
}

export interface ValidateOptions {
  /** The value that this one replaces: unchanged parts may stay invalid. */
  readonly old?: unknown;
  /** The path of the value if it is not the whole object: `status`, when only that is updated. */
  readonly path?: string;
}

/** Compiles the schema once; validating a value then only walks the value. */
export function compileSchema(schema: JsonSchema): SchemaValidator {
  const check = compileNode(schema);
  return {
    validate(value, errors, { old, path = '' } = {}): void {
      const run = new ValidationRun();
      check(value as Json, run, undefined);
      // Most values are valid, and then the old value does not matter.
      if (!run.result.hasFailed) return;
      const final =
        old === undefined ? run : validateAgain(check, new Correlation(value as Json, old as Json, schema));
      reportProblems(final.result.problems?.values() ?? [], errors, path);
    },
  };
}

function validateAgain(check: NodeCheck, correlation: Correlation): ValidationRun {
  const run = new ValidationRun();
  check(correlation.value, run, correlation);
  return run;
}

/**
 * The order of the checks is the order of the reported problems; the number of matches decides between alternatives.
 */
function compileNode(schema: JsonSchema): NodeCheck {
  const check = compileNodeAsNew(schema);
  return (value, run, correlation) => {
    if (correlation === undefined) {
      check(value, run, undefined);
      return;
    }
    const outer = run.begin(false);
    check(value, run, correlation);
    const result = run.end(outer);
    if (result.hasFailed && correlation.isUnchanged) run.match(result.matches);
    else run.merge(result);
  };
}

function compileNodeAsNew(schema: JsonSchema): NodeCheck {
  const format = knownFormat(schema);
  const checkNull = compileNull(schema);
  const checkType = compileType(schema, format);
  const checkComposition = compileComposition(schema, compileNode);
  const checkEnum = compileEnum(schema);
  const checkByType = compileTypeChecks(schema, format);
  // Two for the composition, one for the enum, and one for the whole.
  const matches = checkType === undefined ? 4 : 5;
  return (value, run, correlation) => {
    if (value === null) {
      checkNull(run);
      checkEnum?.(value, run);
      return;
    }
    checkType?.(value, run);
    checkComposition?.(value, run);
    checkByType(value, run, correlation);
    checkEnum?.(value, run);
    run.match(matches);
  };
}

/** The checks that apply only to values of one type. */
function compileTypeChecks(schema: JsonSchema, format: string): NodeCheck {
  const checkText = compileText(schema);
  const checkFormat = compileFormat(format);
  const checkNumber = compileNumber(schema, format);
  const checkList = compileList(schema, compileNode);
  const checkObject = compileObject(schema, compileNode);
  return (value, run, correlation) => {
    if (typeof value === 'string') {
      checkText?.(value, run);
      checkFormat?.(value, run);
      run.match(checkFormat === undefined ? 1 : 2);
    } else if (typeof value === 'number' || typeof value === 'bigint') {
      checkNumber?.(value, run);
      run.match(2);
    } else if (isJsonArray(value)) {
      checkList?.(value, run, correlation);
      run.match(2);
    } else if (isJsonObject(value)) {
      checkObject?.(value, run, correlation);
      run.match(1);
    }
  };
}

/** Checks whether the value is one of the listed ones. Null never matches, even if it is listed. */
function compileEnum(schema: JsonSchema): ((value: Json, run: ValidationRun) => void) | undefined {
  const supported = schema.enum;
  if (supported === undefined || supported.length === 0) return undefined;
  const texts = new Set(supported.filter((each) => typeof each === 'string'));
  const others = supported.filter((each) => typeof each !== 'string' && each !== null);
  return (value, run) => {
    if (typeof value === 'string' ? texts.has(value) : isAmong(value, others, texts)) return;
    run.addHere('enum', `should be one of ${formatGoValue(supported)}`, { value, supported });
  };
}

/**
 * As in Go, values are converted to the type of the listed value: a float loses its fraction, and an integer becomes
 * the character with that code.
 */
function isAmong(value: Json, others: readonly Json[], texts: ReadonlySet<string>): boolean {
  if (value === null) return false;
  if (typeof value !== 'number') return others.some((other) => isEqualJson(value, other));
  if (Number.isSafeInteger(value) && texts.has(characterOf(value))) return true;
  return others.some((other) => typeof other === 'number' && convertedTo(other, value) === other);
}

function convertedTo(other: number, value: number): number {
  return Number.isSafeInteger(other) ? Math.trunc(value) : value;
}

function characterOf(code: number): string {
  const isCodePoint = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCodePoint ? String.fromCodePoint(code) : '\ufffd';
}
