import type { JsonSchema, SchemaValidationRule } from '../schema/json-schema.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { cappedUint64 } from './estimates/cost-range.ts';
import { type CompiledRule, compileRulesOf, selfTypeName } from './rules/compiled-rule.ts';
import { checkRuleFields } from './rules/rule-fields.ts';
import { isEmbedded, schemaType } from './schema/schema-types.ts';

/** The limits for the estimated cost of one rule of a definition, and of all rules together. */
const ruleCostLimit = 10_000_000n;
const definitionCostLimit = 100_000_000n;

export interface RuleCheckOptions {
  /**
   * Whether the schema at a path already has errors. Such a schema, and the schemas that contain it, are not compiled,
   * because their CEL errors would only be consequences. Paths are in the notation of `checkRules`.
   */
  readonly hasSchemaErrors?: (path: string) => boolean;
  /** Checks only the fields of the rules; for schemas that are not structural. */
  readonly withoutCompiling?: boolean;
}

/**
 * Adds the errors of the rules in a definition's schema at `path` (`spec.validation.openAPIV3Schema`): invalid fields,
 * compilation errors, and excessive cost. Errors of fields come before compilation errors; within both, inner levels
 * come first.
 */
export function checkRules(
  schema: JsonSchema,
  path: string,
  errors: FieldErrors,
  options: RuleCheckOptions = {},
): void {
  const invalidPaths = new Set<string>();
  checkFields({
    schema,
    path,
    errors,
    hasSchemaErrors: options.hasSchemaErrors ?? (() => false),
    invalidPaths,
  });
  if (options.withoutCompiling === true) return;
  const total = new TotalCost();
  const root = { schema, path, cardinality: 1n, isResourceRoot: true, uncorrelatable: undefined };
  new RuleCheck(errors, invalidPaths, total).visit(root);
  total.report(path, errors);
}

interface SchemaLevel {
  readonly schema: JsonSchema;
  readonly path: string;
  /** The maximum number of such values; undefined if an outer level has no limit. */
  readonly cardinality: bigint | undefined;
  readonly isResourceRoot: boolean;
  /** The path of the outer list whose items cannot be correlated between versions. */
  readonly uncorrelatable: string | undefined;
}

interface FieldCheck {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly errors: FieldErrors;
  readonly hasSchemaErrors: (path: string) => boolean;
  /** Collects the paths of levels with errors, at the level or below. */
  readonly invalidPaths: Set<string>;
}

function checkFields(check: FieldCheck): boolean {
  const { schema, path, errors, invalidPaths } = check;
  let hasErrors = check.hasSchemaErrors(path);
  for (const [at, child] of subschemasOf(schema)) {
    hasErrors = checkFields({ ...check, schema: child, path: `${path}.${at}` }) || hasErrors;
  }
  hasErrors = checkRuleFields(schema, path, errors) || hasErrors;
  if (hasErrors) invalidPaths.add(path);
  return hasErrors;
}

/**
 * Includes `not`, `allOf`, `oneOf` and `anyOf`: rules may be in there, though they are compiled with the level that
 * they belong to.
 */
function subschemasOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const below: (readonly [string, JsonSchema])[] = [...valueSchemasOf(schema)];
  if (schema.not !== undefined) below.push(['not', schema.not]);
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, nested] of (schema[name] ?? []).entries()) below.push([`${name}[${index}]`, nested]);
  }
  return below;
}

function valueSchemasOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const { additionalProperties, properties, items } = schema;
  const below: (readonly [string, JsonSchema])[] = [];
  if (typeof additionalProperties === 'object') below.push(['additionalProperties', additionalProperties]);
  for (const [name, property] of Object.entries(properties ?? {}))
    below.push([`properties[${name}]`, property]);
  if (items !== undefined) below.push(['items', items]);
  return below;
}

class RuleCheck {
  readonly #errors: FieldErrors;
  readonly #invalidPaths: ReadonlySet<string>;
  readonly #total: TotalCost;

  constructor(errors: FieldErrors, invalidPaths: ReadonlySet<string>, total: TotalCost) {
    this.#errors = errors;
    this.#invalidPaths = invalidPaths;
    this.#total = total;
  }

  visit(level: SchemaLevel): void {
    for (const child of childrenOf(level)) this.visit(child);
    if (!this.#invalidPaths.has(level.path)) this.#compile(level);
  }

  #compile(level: SchemaLevel): void {
    const { schema, path, isResourceRoot } = level;
    const rules = schema['x-kubernetes-validations'] ?? [];
    if (rules.length === 0) return;
    const type = schemaType(schema, isResourceRoot, selfTypeName);
    if (type === undefined) {
      const problem = 'failed to construct type information for x-kubernetes-validations rules';
      const detail = 'unable to convert structural schema to CEL declarations';
      this.#errors.internal(`${path}.x-kubernetes-validations`, `internal error: ${problem}: ${detail}`);
      return;
    }
    for (const [index, compiled] of compileRulesOf(schema, type).entries())
      this.#checkRule(level, compiled, index);
  }

  #checkRule(level: SchemaLevel, compiled: CompiledRule, index: number): void {
    const path = `${level.path}.x-kubernetes-validations[${index}]`;
    const { rule } = compiled;
    const cost = cappedUint64(compiled.maxCost * (level.cardinality ?? compiled.maxCardinality));
    if (cost > ruleCostLimit) {
      this.#errors.forbidden(`${path}.rule`, costProblem('estimated rule cost', cost, ruleCostLimit));
    }
    this.#total.add(`${path}.rule`, cost);
    if (compiled.error !== undefined) this.#errors.invalid(`${path}.rule`, shownRule(rule), compiled.error);
    this.#checkMessage(path, compiled);
    if (compiled.usesOldSelf && level.uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${level.uncorrelatable}`;
      this.#errors.invalid(`${path}.rule`, rule.rule, detail);
    }
    if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      this.#errors.invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail);
    }
  }

  #checkMessage(path: string, { rule, message, messageError, messageMaxCost }: CompiledRule): void {
    const field = `${path}.messageExpression`;
    if (messageError !== undefined) {
      this.#errors.invalid(field, shownRule(rule), messageError);
      return;
    }
    if (message === undefined) return;
    if (messageMaxCost > ruleCostLimit) {
      const problem = costProblem('estimated messageExpression cost', messageMaxCost, ruleCostLimit);
      this.#errors.forbidden(field, problem);
    }
    this.#total.add(field, messageMaxCost);
  }
}

/** The levels below, in the order of the checks. */
function childrenOf(level: SchemaLevel): readonly SchemaLevel[] {
  const { schema, path } = level;
  const below = {
    cardinality: cardinalityBelow(level),
    uncorrelatable: level.uncorrelatable ?? (isUncorrelatable(schema) ? path : undefined),
  };
  return valueSchemasOf(schema).map(([at, child]) => ({
    schema: child,
    path: `${path}.${at}`,
    isResourceRoot: isEmbedded(child),
    ...below,
  }));
}

/** Items of a list have an old value only if keys identify them. */
function isUncorrelatable(schema: JsonSchema): boolean {
  return schema.items !== undefined && schema['x-kubernetes-list-type'] !== 'map';
}

function cardinalityBelow({ schema, cardinality }: SchemaLevel): bigint | undefined {
  if (cardinality === undefined) return undefined;
  const isMap = schema.type === 'object' && schema.additionalProperties !== undefined;
  if (!isMap && schema.type !== 'array') return cardinality;
  const max = isMap ? schema.maxProperties : schema.maxItems;
  return max === undefined ? undefined : cappedUint64(cardinality * BigInt(max > 0 ? max : 0));
}

/** The total cost of all rules of a definition, and the four most expensive rules. */
class TotalCost {
  #total = 0n;
  #expensive: { readonly path: string; readonly cost: bigint }[] = [];

  add(path: string, cost: bigint): void {
    this.#total = cappedUint64(this.#total + cost);
    if (cost < definitionCostLimit / 100n) return;
    this.#expensive.push({ path, cost });
    this.#expensive.sort((a, b) => (a.cost < b.cost ? 1 : a.cost > b.cost ? -1 : 0));
    this.#expensive = this.#expensive.slice(0, 4);
  }

  report(path: string, errors: FieldErrors): void {
    if (this.#total <= definitionCostLimit) return;
    const share = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    for (const expensive of this.#expensive) errors.forbidden(expensive.path, share);
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    errors.forbidden(path, costProblem(name, this.#total, definitionCostLimit));
  }
}

function costProblem(name: string, cost: bigint, limit: bigint): string {
  const factor = Number(cost) / Number(limit);
  const shown = factor > 100 ? 'more than 100' : factor.toFixed(factor < 1.5 ? 6 : 1);
  const remedy =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${name} exceeds budget by factor of ${shown}x (${remedy})`;
}

/** A rule as error messages show it: with the names and the order of the internal Go type, which differ from JSON. */
function shownRule(rule: SchemaValidationRule): unknown {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
