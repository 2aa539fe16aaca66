import type { JsonSchema } from '../../schema/json-schema.ts';
import { compileExpression } from '../program.ts';
import { type CelSchemaType, objectTypes, schemaType, withObjectMeta } from '../schema/schema-types.ts';
import { schemaValue } from '../schema/schema-values.ts';
import type { CelType } from '../types/types.ts';
import type { Value } from '../values/values.ts';
import { showValue } from './show-value.ts';

export interface ExpressionSubject {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly old?: unknown;
  /** True by default. */
  readonly isResourceRoot?: boolean;
}

/** The result of an expression, with the fields of the recorded vectors. */
export interface ExpressionResult {
  readonly compile?: string;
  readonly program?: string;
  readonly type?: string;
  readonly min?: string;
  readonly max?: string;
  readonly cost?: string;
  readonly error?: string;
  readonly value?: string;
}

const callCostLimit = 1_000_000;

/** Compiles, estimates and evaluates an expression with `self` and `oldSelf`. */
export function runExpression(text: string, subject: ExpressionSubject): ExpressionResult {
  const { schema, value, old, isResourceRoot = true } = subject;
  const type = schemaType(schema, isResourceRoot, 'selfType');
  if (type === undefined) return { compile: 'the schema has no type' };
  const compiled = compileExpression(text, {
    variables: new Map([
      ['self', type.type],
      ['oldSelf', type.type],
    ]),
    fieldsOf: fieldsFrom(type),
  });
  if (compiled.kind === 'issues') return { compile: compiled.issues };
  const { program } = compiled;
  const runnable = program.prepare();
  if (typeof runnable === 'string') return { type: program.resultType, program: runnable };
  const { min, max } = program.estimate((path) => sizeAt(type, path.slice(1)));
  const seen = isResourceRoot ? withObjectMeta(schema) : schema;
  const variables = new Map<string, Value>([['self', schemaValue(value, seen)]]);
  if (old !== undefined) variables.set('oldSelf', schemaValue(old, seen));
  const outcome = runnable.evaluate(variables, callCostLimit);
  const costs = { type: program.resultType, min: String(min), max: String(max), cost: String(outcome.cost) };
  return outcome.kind === 'error'
    ? { ...costs, error: outcome.message }
    : { ...costs, value: showValue(outcome.value) };
}

function fieldsFrom(root: CelSchemaType): (name: string) => ReadonlyMap<string, CelType> | undefined {
  const objects = objectTypes(root);
  return (name) => {
    const fields = objects.get(name)?.fields;
    return fields === undefined ? undefined : new Map([...fields].map(([field, type]) => [field, type.type]));
  };
}

function sizeAt(root: CelSchemaType, steps: readonly string[]): { min: bigint; max: bigint } | undefined {
  let current: CelSchemaType | undefined = root;
  for (const step of steps) {
    if (step === '@items' || step === '@values') current = current?.element;
    else if (step === '@keys') return current?.kind === 'map' ? { min: 0n, max: 0n } : undefined;
    else current = current?.fields?.get(step);
    if (current === undefined) return undefined;
  }
  return { min: 0n, max: BigInt(current?.maxElements ?? 0) };
}
