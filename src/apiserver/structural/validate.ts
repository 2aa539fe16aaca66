import { isJsonArray, isJsonObject, type Json } from '../../kube/go/json-value.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { compileComposition } from './composition.ts';
import { Correlation } from './correlation.ts';
import { compileEnum } from './enum-check.ts';
import { knownFormat } from './formats/formats.ts';
import type { JsonSchema } from './json-schema.ts';
import { compileList } from './list-check.ts';
import { compileNumber } from './number-check.ts';
import { compileObject } from './object-check.ts';
import { report } from './report.ts';
import { compileFormat, compileText } from './text-check.ts';
import { compileNull, compileType } from './type-check.ts';
import { type NodeCheck, ValidationRun } from './validation-run.ts';

/** A schema made ready to judge values. */
export interface SchemaValidator {
  /** Adds what is wrong with a value. */
  validate(value: unknown, errors: FieldErrors, options?: ValidateOptions): void;
}

export interface ValidateOptions {
  /** The value that this one is to replace: parts that did not change may stay as wrong as they are. */
  readonly old?: unknown;
  /** Where the value is, if it is not the whole object: `status`, when only that is updated. */
  readonly path?: string;
}

/** Reads the schema once; judging a value then only walks along the value. */
export function compileSchema(schema: JsonSchema): SchemaValidator {
  const check = compileNode(schema);
  return {
    validate(value, errors, { old, path = '' } = {}): void {
      const run = new ValidationRun();
      check(value as Json, run, undefined);
      // Most values are fine, and then it is all the same what they were before.
      if (!run.findings.hasFailed) return;
      const judged =
        old === undefined ? run : rejudged(check, new Correlation(value as Json, old as Json, schema));
      report(judged.findings.problems?.values() ?? [], errors, path);
    },
  };
}

function rejudged(check: NodeCheck, twin: Correlation): ValidationRun {
  const run = new ValidationRun();
  check(twin.value, run, twin);
  return run;
}

/** The order of the checks is the order in which problems are told; what they count decides between alternatives. */
function compileNode(schema: JsonSchema): NodeCheck {
  const check = compilePlainNode(schema);
  return (value, run, twin) => {
    if (twin === undefined) {
      check(value, run, undefined);
      return;
    }
    const outer = run.begin(false);
    check(value, run, twin);
    const findings = run.end(outer);
    if (findings.hasFailed && twin.isUnchanged) run.match(findings.matches);
    else run.merge(findings);
  };
}

function compilePlainNode(schema: JsonSchema): NodeCheck {
  const format = knownFormat(schema);
  const checkNull = compileNull(schema);
  const checkType = compileType(schema, format);
  const checkComposition = compileComposition(schema, compileNode);
  const checkEnum = compileEnum(schema);
  const checkKind = compileKinds(schema, format);
  // One for the composition, twice, one for the enum, and one for the whole.
  const matches = checkType === undefined ? 4 : 5;
  return (value, run, twin) => {
    if (value === null) {
      checkNull(run);
      checkEnum?.(value, run);
      return;
    }
    checkType?.(value, run);
    checkComposition?.(value, run);
    checkKind(value, run, twin);
    checkEnum?.(value, run);
    run.match(matches);
  };
}

/** The checks that are for values of one kind only. */
function compileKinds(schema: JsonSchema, format: string): NodeCheck {
  const checkText = compileText(schema);
  const checkFormat = compileFormat(format);
  const checkNumber = compileNumber(schema, format);
  const checkList = compileList(schema, compileNode);
  const checkObject = compileObject(schema, compileNode);
  return (value, run, twin) => {
    if (typeof value === 'string') {
      checkText?.(value, run);
      checkFormat?.(value, run);
      run.match(checkFormat === undefined ? 1 : 2);
    } else if (typeof value === 'number') {
      checkNumber?.(value, run);
      run.match(2);
    } else if (isJsonArray(value)) {
      checkList?.(value, run, twin);
      run.match(2);
    } else if (isJsonObject(value)) {
      checkObject?.(value, run, twin);
      run.match(1);
    }
  };
}
