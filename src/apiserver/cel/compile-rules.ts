import type { Json } from '../../kube/go/json-value.ts';
import { Correlation } from '../structural/correlation.ts';
import type { JsonSchema } from '../structural/json-schema.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { type CompiledRule, compileRulesOf, selfTypeName } from './rules/compiled-rule.ts';
import type { RuleNode } from './rules/rule-node.ts';
import { walkRules } from './rules/walk-rules.ts';
import { isEmbedded, schemaType } from './schema/schema-types.ts';

/** What all rules of one object may cost together; roughly a second of a server's time. */
export const runtimeCostBudget = 10_000_000;

export interface RuleRequest {
  readonly value: unknown;
  /** The object as it was, on updates: rules over `oldSelf` need it, and what has not changed keeps passing. */
  readonly old?: unknown;
  readonly errors: FieldErrors;
  readonly costLimit?: number;
  /** Hears of rules that fail for values that did not change: such are let through. */
  readonly warn?: (message: string) => void;
}

/** The rules of a schema, ready to judge objects. */
export interface RuleProgram {
  /** What remains of the budget; below zero where it was not enough, or where an error has ended everything. */
  validate(request: RuleRequest): number;
}

/**
 * Compiles `x-kubernetes-validations` of all levels of a schema. Undefined where it has none. A rule that does not
 * compile complains about every object; definitions with such rules are refused, so none should be met.
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

/** Rules within `allOf` alone don't count. */
function hasRules(schema: JsonSchema): boolean {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true;
  const { items, additionalProperties, properties } = schema;
  if (items !== undefined && hasRules(items)) return true;
  if (typeof additionalProperties === 'object' && hasRules(additionalProperties)) return true;
  return Object.values(properties ?? {}).some(hasRules);
}

/** `rules` is the schema that has the rules; `node` says what the values are. They differ within `allOf`. */
function ruleNode(rules: JsonSchema, node: JsonSchema, isResourceRoot: boolean): RuleNode | undefined {
  const compiled = compileHere(rules, node, isResourceRoot);
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

/** Undefined where rules can't see such values. */
function compileHere(
  rules: JsonSchema,
  node: JsonSchema,
  isResourceRoot: boolean,
): readonly CompiledRule[] | undefined {
  const written = rules['x-kubernetes-validations'] ?? [];
  if (written.length === 0) return [];
  const type = schemaType(node, isResourceRoot, selfTypeName);
  return type === undefined
    ? undefined
    : compileRulesOf({ ...node, 'x-kubernetes-validations': written }, type);
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
