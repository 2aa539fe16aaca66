import { type JsonObject, ownValue } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { Correlation } from './correlation.ts';
import type { NodeCheck, ValidationRun } from './validation-run.ts';

type ObjectCheck = (value: JsonObject, run: ValidationRun, correlation: Correlation | undefined) => void;

/** Checks the number of fields, their values, and required fields. Undefined if the schema has no such rules. */
export function compileObject(
  schema: JsonSchema,
  compileNode: (schema: JsonSchema) => NodeCheck,
): ObjectCheck | undefined {
  const { required = [] } = schema;
  const checkCount = compileCount(schema);
  const checkFields = compileFields(schema, compileNode);
  if (checkCount === undefined && checkFields === undefined && required.length === 0) return undefined;
  return (value, run, correlation) => {
    checkCount?.(value, run);
    checkFields?.(value, run, correlation);
    for (const name of required) if (ownValue(value, name) === undefined) addMissing(run, name);
  };
}

function compileCount(schema: JsonSchema): ((value: JsonObject, run: ValidationRun) => void) | undefined {
  const { minProperties: min, maxProperties: max } = schema;
  if (min === undefined && max === undefined) return undefined;
  return (value, run) => {
    const count = Object.keys(value).length;
    if (min !== undefined && count < min) {
      run.addHere('invalid', `should have at least ${min} properties`, { value: count });
    }
    if (max !== undefined && count > max) {
      run.addHere('tooMany', `should have at most ${max} properties`, { value: count, max: Number(max) });
    }
  };
}

/** Iterates over the fields of the value: schemas often name many more. */
function compileFields(
  schema: JsonSchema,
  compileNode: (schema: JsonSchema) => NodeCheck,
): ObjectCheck | undefined {
  const { properties = {}, additionalProperties: rest } = schema;
  const checks = new Map(Object.entries(properties).map(([name, field]) => [name, compileNode(field)]));
  const checkRest = typeof rest === 'object' ? compileNode(rest) : undefined;
  const forbidsRest = rest === false;
  if (checks.size === 0 && checkRest === undefined && !forbidsRest) return undefined;
  return (value, run, correlation) => {
    for (const name of Object.keys(value)) {
      const field = value[name];
      if (field === undefined) continue;
      const check = checks.get(name);
      if (check !== undefined) run.enter(name);
      else if (checkRest !== undefined) run.enterKey(name);
      else {
        if (forbidsRest) addForbidden(run, name);
        continue;
      }
      (check ?? checkRest)?.(field, run, correlationOfField(name, run, correlation));
      run.leave();
    }
  };
}

/** kind and apiVersion never count as unchanged: both objects were converted to the same version. */
function correlationOfField(
  name: string,
  run: ValidationRun,
  correlation: Correlation | undefined,
): Correlation | undefined {
  if (correlation === undefined || (run.depth === 1 && (name === 'kind' || name === 'apiVersion')))
    return undefined;
  return correlation.field(name);
}

function addForbidden(run: ValidationRun, name: string): void {
  run.add('invalid', (path) => `${path}.${name} in body is a forbidden property`, { value: name });
}

/** The problem belongs to the path of the missing field. */
function addMissing(run: ValidationRun, name: string): void {
  run.enterKey(name);
  run.addHere('required', 'is required');
  run.leave();
}
