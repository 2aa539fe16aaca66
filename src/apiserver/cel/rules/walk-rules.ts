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

/** Judges an object by all rules that concern it or a part of it; returns what remains of the budget. */
export function walkRules(root: RuleNode, request: WalkRequest): number {
  const walk = new Walk(request.errors, request.budget, request.warn);
  walk.visit(root, {
    path: '',
    value: request.value,
    old: request.old,
    current: request.correlation,
    nearest: undefined,
  });
  return walk.remaining;
}

class Walk {
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

  /** False: the budget is used up, nothing more is judged. */
  visit(node: RuleNode, place: RulePosition): boolean {
    const { value, old } = place;
    if (value === null) return true;
    this.#remaining = evaluateRules(node, place, {
      errors: this.#errors,
      budget: this.#remaining,
      warn: this.#warn,
    });
    if (this.#remaining < 0) return false;
    // What only `allOf` says is not let through because the value itself has not changed.
    const nested = { ...place, current: undefined };
    if (!node.allOf.every((inner) => this.visit(inner, nested))) return false;
    if (isJsonArray(value)) return this.#visitItems(node, place, value, isJsonArray(old) ? old : []);
    return isJsonObject(value) ? this.#visitFields(node, place, value, isJsonObject(old) ? old : {}) : true;
  }

  #visitItems(node: RuleNode, place: RulePosition, value: readonly Json[], old: readonly Json[]): boolean {
    const { items } = node;
    if (items === undefined) return true;
    const partnerOf = counterpartsAmong(old, node.schema);
    return value.every((item, index) =>
      this.visit(items, {
        ...below(place, (current) => current.element(index)),
        path: `${place.path}[${index}]`,
        value: item,
        old: partnerOf(item),
      }),
    );
  }

  #visitFields(node: RuleNode, place: RulePosition, value: JsonObject, old: JsonObject): boolean {
    const child = (name: string, path: string): RulePosition => ({
      ...(isRootIdentity(place, name) ? uncorrelated : below(place, (current) => current.field(name))),
      path,
      value: value[name]!,
      old: ownValue(old, name),
    });
    for (const name of Object.keys(value)) {
      if (node.entries === undefined) break;
      if (!this.visit(node.entries, child(name, `${place.path}[${name}]`))) return false;
    }
    for (const name of Object.keys(value)) {
      const property = node.properties.get(name);
      const path = place.path === '' ? name : `${place.path}.${name}`;
      if (property !== undefined && !this.visit(property, child(name, path))) return false;
    }
    return true;
  }
}

type Correlated = Pick<RulePosition, 'current' | 'nearest'>;

const uncorrelated: Correlated = { current: undefined, nearest: undefined };

/** Version and kind are converted before they are compared, so they say nothing. */
function isRootIdentity({ current, nearest }: RulePosition, name: string): boolean {
  return current !== undefined && nearest === undefined && (name === 'apiVersion' || name === 'kind');
}

function below(
  { current, nearest }: RulePosition,
  step: (current: Correlation) => Correlation | undefined,
): Correlated {
  return current === undefined ? { current, nearest } : { current: step(current), nearest: current };
}
