import type { JsonSchema, SchemaValidationRule } from '../structural/json-schema.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { cappedSum } from './estimates/cost-range.ts';
import { type CompiledRule, compileRulesOf, selfTypeName } from './rules/compiled-rule.ts';
import { checkRuleFields } from './rules/rule-fields.ts';
import { isEmbedded, schemaType } from './schema/schema-types.ts';

/** The most that one rule of a definition may cost by its estimate, and all of them together. */
const ruleCostLimit = 10_000_000n;
const definitionCostLimit = 100_000_000n;

export interface RuleCheckOptions {
  /**
   * Schemas that already have complaints, at their level or below, are not compiled: what CEL would say about them would
   * go away with those. Told by path, as `checkRules` names paths.
   */
  readonly hasSchemaErrors?: (path: string) => boolean;
  /** Only what is written in the rules is looked at; for schemas that are not structural. */
  readonly withoutCompiling?: boolean;
}

/**
 * Complains about the rules of a definition's schema at `path` (`spec.validation.openAPIV3Schema`): how they are written,
 * what does not compile, and what costs too much. First comes what is written wrongly, then what does not compile; within
 * both, inner levels come first.
 */
export function checkRules(
  schema: JsonSchema,
  path: string,
  errors: FieldErrors,
  options: RuleCheckOptions = {},
): void {
  const wrong = new Set<string>();
  checkWriting({ schema, path, errors, hasSchemaErrors: options.hasSchemaErrors ?? (() => false), wrong });
  if (options.withoutCompiling === true) return;
  const total = new TotalCost();
  const root = { schema, path, cardinality: 1n, isResourceRoot: true, uncorrelatable: undefined };
  new RuleCheck(errors, wrong, total).visit(root);
  total.report(path, errors);
}

interface Level {
  readonly schema: JsonSchema;
  readonly path: string;
  /** How many such values there can be at most; undefined where nothing above says so. */
  readonly cardinality: bigint | undefined;
  readonly isResourceRoot: boolean;
  /** The list above whose items can't be told from one version to the next. */
  readonly uncorrelatable: string | undefined;
}

interface Writing {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly errors: FieldErrors;
  readonly hasSchemaErrors: (path: string) => boolean;
  /** Gathers the paths of levels that are wrong, themselves or below. */
  readonly wrong: Set<string>;
}

function checkWriting(writing: Writing): boolean {
  const { schema, path, errors, wrong } = writing;
  let isWrong = writing.hasSchemaErrors(path);
  for (const [at, child] of writtenBelow(schema)) {
    isWrong = checkWriting({ ...writing, schema: child, path: `${path}.${at}` }) || isWrong;
  }
  isWrong = checkRuleFields(schema, path, errors) || isWrong;
  if (isWrong) wrong.add(path);
  return isWrong;
}

/** Also what only judges: rules can stand there, though they are compiled with the level that they belong to. */
function writtenBelow(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const below: (readonly [string, JsonSchema])[] = [...valuesBelow(schema)];
  if (schema.not !== undefined) below.push(['not', schema.not]);
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, nested] of (schema[name] ?? []).entries()) below.push([`${name}[${index}]`, nested]);
  }
  return below;
}

function valuesBelow(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
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
  readonly #wrong: ReadonlySet<string>;
  readonly #total: TotalCost;

  constructor(errors: FieldErrors, wrong: ReadonlySet<string>, total: TotalCost) {
    this.#errors = errors;
    this.#wrong = wrong;
    this.#total = total;
  }

  visit(level: Level): void {
    for (const child of childrenOf(level)) this.visit(child);
    if (!this.#wrong.has(level.path)) this.#compile(level);
  }

  #compile(level: Level): void {
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
      this.#judge(level, compiled, index);
  }

  #judge(level: Level, compiled: CompiledRule, index: number): void {
    const path = `${level.path}.x-kubernetes-validations[${index}]`;
    const { rule } = compiled;
    const cost = cappedSum(compiled.maxCost * (level.cardinality ?? compiled.maxCardinality));
    if (cost > ruleCostLimit) {
      this.#errors.forbidden(`${path}.rule`, costProblem('estimated rule cost', cost, ruleCostLimit));
    }
    this.#total.add(`${path}.rule`, cost);
    if (compiled.error !== undefined) this.#errors.invalid(`${path}.rule`, shownRule(rule), compiled.error);
    this.#judgeMessage(path, compiled);
    if (compiled.usesOldSelf && level.uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${level.uncorrelatable}`;
      this.#errors.invalid(`${path}.rule`, rule.rule, detail);
    }
    if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      this.#errors.invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail);
    }
  }

  #judgeMessage(path: string, { rule, message, messageError, messageMaxCost }: CompiledRule): void {
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

/** Levels below, in the order in which they are looked at. */
function childrenOf(level: Level): readonly Level[] {
  const { schema, path } = level;
  const below = {
    cardinality: cardinalityBelow(level),
    uncorrelatable: level.uncorrelatable ?? (isUncorrelatable(schema) ? path : undefined),
  };
  return valuesBelow(schema).map(([at, child]) => ({
    schema: child,
    path: `${path}.${at}`,
    isResourceRoot: isEmbedded(child),
    ...below,
  }));
}

/** Items of a list have an old self only where keys tell them apart. */
function isUncorrelatable(schema: JsonSchema): boolean {
  return schema.items !== undefined && schema['x-kubernetes-list-type'] !== 'map';
}

function cardinalityBelow({ schema, cardinality }: Level): bigint | undefined {
  if (cardinality === undefined) return undefined;
  const isMap = schema.type === 'object' && schema.additionalProperties !== undefined;
  if (!isMap && schema.type !== 'array') return cardinality;
  const max = isMap ? schema.maxProperties : schema.maxItems;
  return max === undefined ? undefined : cappedSum(cardinality * BigInt(Math.max(0, max)));
}

/** All rules of a definition together, and the four that cost most. */
class TotalCost {
  #total = 0n;
  #expensive: { readonly path: string; readonly cost: bigint }[] = [];

  add(path: string, cost: bigint): void {
    this.#total = cappedSum(this.#total + cost);
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

/** A rule as errors show it: with the names and the order of the internal type, which are those of no JSON. */
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
