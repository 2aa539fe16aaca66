import type { Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { Correlation } from '../structural/correlation.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { type CompiledRule, compileRulesOf, selfTypeName } from './rules/compiled-rule.ts';
import type { RuleNode } from './rules/rule-node.ts';
import { walkRules } from './rules/walk-rules.ts';
import { isEmbedded, schemaType } from './schema/schema-types.ts';

/** The cost limit for all rules of one object; roughly a second of a server's time. */
export const runtimeCostBudget = 10_000_000;

export interface RuleRequest {
  readonly value: unknown;
  /** The object before an update: rules that use `oldSelf` need it, and unchanged values keep passing. */
  readonly old?: unknown;
  readonly errors: FieldErrors;
  readonly costLimit?: number;
  /** Called for rules that fail for unchanged values: such failures are allowed. */
  readonly warn?: (message: string) => void;
}

/** The compiled rules of a schema. */
export interface RuleProgram {
  /** Returns the rest of the budget; negative if it was not enough, or if an error stopped the validation. */
  validate(request: RuleRequest): number;
}

/**
 * Compiles `x-kubernetes-validations` of all levels of a schema. Undefined if there are none. A rule that does not
 * compile fails for every object; definitions with such rules are refused, so there should be none.
 */
export function compileRules(
  schema: JsonSchema,
  { isResourceRoot }: { readonly isResourceRoot: boolean },
): RuleProgram | undefined {
  if (!hasRules(schema)) return undefined;
  const root = ruleNode(schema, schema, isResourceRoot);
  if (root === undefined) return undefined;
  return {
    validate({ costLimit = runtimeCostBudget, errors, warn, ...request }) {
      const value = request.value as Json;
      const old = request.old as Json | undefined;
      const isUpdate = old !== undefined && old !== null;
      const correlation = isUpdate ? new Correlation(value, old, schema) : undefined;
      return walkRules(root, { value, old, errors, correlation, budget: costLimit, warn });
    },
  };
}

/** Rules that are only within `allOf` do not count. */
function hasRules(schema: JsonSchema): boolean {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true;
  const { items, additionalProperties, properties } = schema;
  if (items !== undefined && hasRules(items)) return true;
  if (typeof additionalProperties === 'object' && hasRules(additionalProperties)) return true;
  return Object.values(properties ?? {}).some(hasRules);
}

/** `rules` is the schema that has the rules; `node` describes the values. They differ within `allOf`. */
function ruleNode(rules: JsonSchema, node: JsonSchema, isResourceRoot: boolean): RuleNode | undefined {
  const compiled = compileLevel(rules, node, isResourceRoot);
  const items = itemsNode(rules, node);
  const entries = entriesNode(rules, node);
  const properties = propertyNodes(rules, node);
  const allOf = (rules.allOf ?? [])
    .map((nested) => ruleNode(nested, node, isResourceRoot))
    .filter((nested) => nested !== undefined);
  const isNeeded =
    (compiled !== undefined && compiled.length > 0) ||
    items !== undefined ||
    entries !== undefined ||
    properties.size > 0 ||
    allOf.length > 0;
  if (!isNeeded) return undefined;
  return { schema: node, isResourceRoot, rules: compiled, items, entries, properties, allOf };
}

/** Undefined if rules cannot access such values. */
function compileLevel(
  rules: JsonSchema,
  node: JsonSchema,
  isResourceRoot: boolean,
): readonly CompiledRule[] | undefined {
  const declared = rules['x-kubernetes-validations'] ?? [];
  if (declared.length === 0) return [];
  const type = schemaType(node, isResourceRoot, selfTypeName);
  return type === undefined
    ? undefined
    : compileRulesOf({ ...node, 'x-kubernetes-validations': declared }, type);
}

function itemsNode(rules: JsonSchema, node: JsonSchema): RuleNode | undefined {
  if (rules.items === undefined || node.items === undefined) return undefined;
  return ruleNode(rules.items, node.items, isEmbedded(node.items));
}

function entriesNode(rules: JsonSchema, node: JsonSchema): RuleNode | undefined {
  const nested = rules.additionalProperties;
  const values = node.additionalProperties;
  if (typeof nested !== 'object' || typeof values !== 'object') return undefined;
  return ruleNode(nested, values, isEmbedded(values));
}

function propertyNodes(rules: JsonSchema, node: JsonSchema): ReadonlyMap<string, RuleNode> {
  const nodes = new Map<string, RuleNode>();
  for (const [name, nested] of Object.entries(rules.properties ?? {})) {
    const property = node.properties?.[name];
    if (property === undefined || !Object.hasOwn(node.properties ?? {}, name)) continue;
    if (schemaType(property, isEmbedded(property), selfTypeName) === undefined) continue;
    const child = ruleNode(nested, property, isEmbedded(property));
    if (child !== undefined) nodes.set(name, child);
  }
  return nodes;
}
