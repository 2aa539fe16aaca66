import type { JsonSchema, SchemaValidationRule } from '../../schema/json-schema.ts';
import { type CostRange, cappedUint64 } from '../estimates/cost-range.ts';
import type { Path } from '../estimates/known-sizes.ts';
import {
  compileExpression,
  type ExpressionProgram,
  type ExpressionScope,
  type RunnableExpression,
} from '../program.ts';
import { type CelSchemaType, objectTypes, requestBytesMax } from '../schema/schema-types.ts';
import { type CelType, optionalType } from '../types/types.ts';
import { parseFieldPath } from './field-path.ts';

/** A parsed and checked rule of a schema. */
export interface CompiledRule {
  readonly rule: SchemaValidationRule;
  /** Undefined if there is an error, or if the rule is empty. */
  readonly program?: RunnableExpression;
  readonly error?: string;
  readonly usesOldSelf: boolean;
  /** The maximum cost for one value, and the maximum number of such values in a request. */
  readonly maxCost: bigint;
  readonly maxCardinality: bigint;
  readonly message?: RunnableExpression;
  readonly messageError?: string;
  readonly messageMaxCost: bigint;
  /** The path below the value of the rule; empty for the value itself. */
  readonly fieldPath: string;
}

/**
 * The name of a schema's type in messages. Upstream it ends in a number that changes, so that rules cannot depend on
 * it.
 */
export const selfTypeName = 'selfType1';

/** `type` is the type of the values of the schema's rules. */
export function compileRulesOf(schema: JsonSchema, type: CelSchemaType): readonly CompiledRule[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const objects = objectTypes(type);
  const fieldsOf = (name: string): ReadonlyMap<string, CelType> | undefined => {
    const fields = objects.get(name)?.fields;
    return fields === undefined ? undefined : declaredTypesOf(fields);
  };
  const scopeFor = (oldSelf: CelType): ExpressionScope => ({
    variables: new Map([
      ['self', type.type],
      ['oldSelf', oldSelf],
    ]),
    fieldsOf,
  });
  const plain = scopeFor(type.type);
  const optional = scopeFor(optionalType(type.type));
  return rules.map((rule) =>
    compileRule(rule, { schema, type, scope: rule.optionalOldSelf === true ? optional : plain }),
  );
}

function declaredTypesOf(fields: ReadonlyMap<string, CelSchemaType>): ReadonlyMap<string, CelType> {
  return new Map([...fields].map(([name, field]) => [name, field.type]));
}

interface RuleContext {
  readonly schema: JsonSchema;
  readonly type: CelSchemaType;
  readonly scope: ExpressionScope;
}

const empty = {
  usesOldSelf: false,
  maxCost: 0n,
  maxCardinality: 0n,
  messageMaxCost: 0n,
  fieldPath: '',
} as const;

function compileRule(rule: SchemaValidationRule, context: RuleContext): CompiledRule {
  if (rule.rule.trim() === '') return { rule, ...empty };
  const compiled = compileExpression(rule.rule, context.scope);
  if (compiled.kind === 'issues') return { rule, ...empty, error: `compilation failed: ${compiled.issues}` };
  const { program } = compiled;
  if (program.resultType !== 'bool')
    return { rule, ...empty, error: 'cel expression must evaluate to a bool' };
  const usesOldSelf = program.refersTo('oldSelf');
  const runnable = program.prepare();
  if (typeof runnable === 'string') {
    return { rule, ...empty, usesOldSelf, error: `program instantiation failed: ${runnable}` };
  }
  return {
    rule,
    program: runnable,
    usesOldSelf,
    maxCost: maxCostOf(program, context.type),
    maxCardinality: BigInt(Math.floor(requestBytesMax / (context.type.minBytes + 1))),
    ...compileMessage(rule, context),
  };
}

type CompiledMessage = Pick<CompiledRule, 'message' | 'messageError' | 'messageMaxCost' | 'fieldPath'>;

/** The path is used only if the message is valid. */
function compileMessage(rule: SchemaValidationRule, context: RuleContext): CompiledMessage {
  const fieldPath = normalizedPath(rule, context.schema);
  if (rule.messageExpression === undefined || rule.messageExpression === '') {
    return { messageMaxCost: 0n, fieldPath };
  }
  const failed = (messageError: string): CompiledMessage => ({
    messageError,
    messageMaxCost: 0n,
    fieldPath: '',
  });
  const compiled = compileExpression(rule.messageExpression, context.scope);
  if (compiled.kind === 'issues') return failed(`messageExpression compilation failed: ${compiled.issues}`);
  if (compiled.program.resultType !== 'string') return failed('messageExpression must evaluate to a string');
  const message = compiled.program.prepare();
  if (typeof message === 'string') return failed(`messageExpression instantiation failed: ${message}`);
  return { message, messageMaxCost: maxCostOf(compiled.program, context.type), fieldPath };
}

function normalizedPath({ fieldPath }: SchemaValidationRule, schema: JsonSchema): string {
  if (fieldPath === undefined || fieldPath === '') return '';
  const read = parseFieldPath(fieldPath, schema);
  return read.ok ? read.path : '';
}

function maxCostOf(program: ExpressionProgram, type: CelSchemaType): bigint {
  return program.estimate((path) => sizeAt(type, path)).max;
}

/** The first step is a variable; both variables have this type. */
function sizeAt(root: CelSchemaType, path: Path): CostRange | undefined {
  let current: CelSchemaType | undefined = root;
  for (const step of path.slice(1)) {
    if (step === '@items' || step === '@values') current = current?.element;
    else if (step === '@keys') current = current?.kind === 'map' ? keyType : undefined;
    else current = current?.fields?.get(step);
    if (current === undefined) return undefined;
  }
  const max = BigInt(current?.maxElements ?? 0);
  return { min: 0n, max: cappedUint64(max) };
}

/** Keys of maps have no limits of their own. */
const keyType: CelSchemaType = {
  kind: 'scalar',
  type: { kind: 'string', name: 'string', params: [] },
  maxElements: 0,
  minBytes: 2,
};
