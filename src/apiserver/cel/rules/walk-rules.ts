import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  ownValue,
} from '../../../kube/go/json-value.ts';
import { type Correlation, counterpartsAmong } from '../../structural/correlation.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { evaluateRules } from './evaluate-rules.ts';
import type { RuleNode, RulePosition } from './rule-node.ts';

interface WalkRequest {
  readonly value: Json;
  readonly old: Json | undefined;
  readonly errors: FieldErrors;
  readonly correlation: Correlation | undefined;
  readonly budget: number;
  readonly warn: ((message: string) => void) | undefined;
}

/** Evaluates all rules of an object and its parts; returns the rest of the budget. */
export function walkRules(root: RuleNode, request: WalkRequest): number {
  const walk = new RuleWalk(request.errors, request.budget, request.warn);
  walk.visit(root, {
    path: '',
    value: request.value,
    old: request.old,
    current: request.correlation,
    nearest: undefined,
  });
  return walk.remaining;
}

class RuleWalk {
  readonly #errors: FieldErrors;
  readonly #warn: ((message: string) => void) | undefined;
  #remaining: number;

  constructor(errors: FieldErrors, budget: number, warn: ((message: string) => void) | undefined) {
    this.#errors = errors;
    this.#remaining = budget;
    this.#warn = warn;
  }

  get remaining(): number {
    return this.#remaining;
  }

  /** Returns false if the budget is used up and the walk must stop. */
  visit(node: RuleNode, position: RulePosition): boolean {
    const { value, old } = position;
    if (value === null) return true;
    this.#remaining = evaluateRules(node, position, {
      errors: this.#errors,
      budget: this.#remaining,
      warn: this.#warn,
    });
    if (this.#remaining < 0) return false;
    // A failure within `allOf` is not allowed just because the value itself has not changed.
    const nested = { ...position, current: undefined };
    if (!node.allOf.every((inner) => this.visit(inner, nested))) return false;
    if (isJsonArray(value)) return this.#visitItems(node, position, value, isJsonArray(old) ? old : []);
    return isJsonObject(value)
      ? this.#visitFields(node, position, value, isJsonObject(old) ? old : {})
      : true;
  }

  #visitItems(node: RuleNode, position: RulePosition, value: readonly Json[], old: readonly Json[]): boolean {
    const { items } = node;
    if (items === undefined) return true;
    const counterpartOf = counterpartsAmong(old, node.schema);
    return value.every((item, index) =>
      this.visit(items, {
        ...below(position, (current) => current.element(index)),
        path: `${position.path}[${index}]`,
        value: item,
        old: counterpartOf(item),
      }),
    );
  }

  #visitFields(node: RuleNode, position: RulePosition, value: JsonObject, old: JsonObject): boolean {
    const child = (name: string, path: string): RulePosition => ({
      ...(isRootIdentity(position, name) ? uncorrelated : below(position, (current) => current.field(name))),
      path,
      value: value[name]!,
      old: ownValue(old, name),
    });
    for (const name of Object.keys(value)) {
      if (node.entries === undefined) break;
      if (!this.visit(node.entries, child(name, `${position.path}[${name}]`))) return false;
    }
    for (const name of Object.keys(value)) {
      const property = node.properties.get(name);
      const path = position.path === '' ? name : `${position.path}.${name}`;
      if (property !== undefined && !this.visit(property, child(name, path))) return false;
    }
    return true;
  }
}

type Correlated = Pick<RulePosition, 'current' | 'nearest'>;

const uncorrelated: Correlated = { current: undefined, nearest: undefined };

/** apiVersion and kind are converted before the comparison, so they do not count as unchanged. */
function isRootIdentity({ current, nearest }: RulePosition, name: string): boolean {
  return current !== undefined && nearest === undefined && (name === 'apiVersion' || name === 'kind');
}

function below(
  { current, nearest }: RulePosition,
  step: (current: Correlation) => Correlation | undefined,
): Correlated {
  return current === undefined ? { current, nearest } : { current: step(current), nearest: current };
}
