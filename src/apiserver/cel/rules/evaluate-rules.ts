import type { SchemaValidationRule } from '../../schema/json-schema.ts';
import { FieldErrors, omitValue } from '../../validation/field-errors.ts';
import type { RunnableExpression } from '../program.ts';
import { withObjectMeta } from '../schema/schema-types.ts';
import { schemaValue } from '../schema/schema-values.ts';
import { Optional, type Value } from '../values/values.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { RuleNode, RulePosition } from './rule-node.ts';

/** The cost limit of one evaluation; roughly a tenth of a second. */
const callCostLimit = 1_000_000;
const messageBytesMax = 5 * 1024;
const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run';

interface RuleEvaluationRequest {
  readonly errors: FieldErrors;
  readonly budget: number;
  readonly warn: ((message: string) => void) | undefined;
}

/** Evaluates the rules of one level for a value; returns the rest of the budget, negative to stop the validation. */
export function evaluateRules(
  node: RuleNode,
  position: RulePosition,
  request: RuleEvaluationRequest,
): number {
  const field = position.path === '' ? '<nil>' : position.path;
  const typeName = node.schema.type ?? '';
  if (node.rules === undefined) {
    request.errors.invalid(
      field,
      typeName,
      'rule compiler initialization error: failed to convert to declType for CEL validation rules',
    );
    return request.budget;
  }
  if (node.rules.length === 0) return request.budget;
  if (request.budget <= 0) {
    request.errors.invalid(field, typeName, outOfBudget);
    return -1;
  }
  return new RuleEvaluation(node, position, request).run(node.rules);
}

class RuleEvaluation {
  readonly #position: RulePosition;
  readonly #request: RuleEvaluationRequest;
  readonly #field: string;
  readonly #typeName: string;
  readonly #plain: ReadonlyMap<string, Value>;
  readonly #optional: ReadonlyMap<string, Value>;
  #remaining: number;

  constructor(node: RuleNode, position: RulePosition, request: RuleEvaluationRequest) {
    this.#position = position;
    this.#request = request;
    this.#field = position.path === '' ? '<nil>' : position.path;
    this.#typeName = node.schema.type ?? '';
    this.#remaining = request.budget;
    const { plain, optional } = variablesFor(node, position);
    this.#plain = plain;
    this.#optional = optional;
  }

  run(rules: readonly CompiledRule[]): number {
    for (const compiled of rules) {
      if (compiled.error !== undefined) this.#invalid(`rule compile error: ${compiled.error}`);
      else if (compiled.program !== undefined && this.#applies(compiled))
        this.#evaluate(compiled, compiled.program);
      if (this.#remaining < 0) break;
    }
    return this.#remaining;
  }

  /** A rule that uses the old value needs one, unless it accepts an absent one. */
  #applies({ usesOldSelf, rule }: CompiledRule): boolean {
    const hasOld = this.#position.old !== undefined && this.#position.old !== null;
    return !usesOldSelf || hasOld || rule.optionalOldSelf === true;
  }

  #evaluate(compiled: CompiledRule, program: RunnableExpression): void {
    const { rule } = compiled;
    const variables = rule.optionalOldSelf === true ? this.#optional : this.#plain;
    const outcome = program.evaluate(variables, callCostLimit);
    if (outcome.cost > this.#remaining) {
      this.#stop(outOfBudget);
      return;
    }
    this.#remaining -= outcome.cost;
    if (outcome.kind === 'error') {
      this.#addEvaluationError(outcome.message, rule);
      return;
    }
    if (outcome.value !== true) this.#addViolation(compiled, variables);
  }

  #addEvaluationError(message: string, rule: SchemaValidationRule): void {
    const shown = shownRule(rule);
    if (message.startsWith('no such overload')) {
      const what = 'call arguments did not match a supported operator, function or macro signature for rule';
      this.#invalid(`'${message}': ${what}: ${shown}`);
    } else if (message.startsWith('operation cancelled: actual cost limit exceeded')) {
      const what = 'no further validation rules will be run due to call cost exceeds limit for rule';
      this.#stop(`'${message}': ${what}: ${shown}`);
    } else {
      this.#invalid(`${message} evaluating rule: ${shown}`);
    }
  }

  /** The rule returned false. Its message may come from another expression. */
  #addViolation(compiled: CompiledRule, variables: ReadonlyMap<string, Value>): void {
    const { rule } = compiled;
    const root = this.#position.path === '' ? '' : `${this.#position.path}.`;
    const field = compiled.fieldPath === '' ? this.#field : `${root}${compiled.fieldPath}`;
    const message = this.#message(compiled, variables);
    this.#report(compiled, (errors) => {
      if (message.kind === 'stop') return errors.invalid(field, this.#typeName, message.problem);
      addFailure(errors, field, {
        value: this.#shownValue(),
        detail: message.text ?? defaultText(rule),
        rule,
      });
    });
  }

  #message(compiled: CompiledRule, variables: ReadonlyMap<string, Value>): RuleMessage {
    if (compiled.message === undefined) return { kind: 'text', text: undefined };
    const outcome = compiled.message.evaluate(variables, callCostLimit);
    if (outcome.cost > this.#remaining) {
      this.#remaining = -1;
      const problem = 'messageExpression evaluation failed due to running out of cost budget';
      return { kind: 'stop', problem: `${problem}, no further validation rules will be run` };
    }
    if (outcome.kind === 'error' && outcome.message.startsWith('operation cancelled')) {
      this.#remaining = -1;
      const expression = JSON.stringify(compiled.rule.messageExpression);
      const problem =
        'no further validation rules will be run due to call cost exceeds limit for messageExpression';
      return { kind: 'stop', problem: `${problem}: ${expression}` };
    }
    this.#remaining -= outcome.cost;
    return { kind: 'text', text: outcome.kind === 'value' ? usableText(outcome.value) : undefined };
  }

  /** Failures of unchanged values are only warnings. */
  #report({ usesOldSelf }: CompiledRule, addTo: (errors: FieldErrors) => void): void {
    const { current, nearest } = this.#position;
    const isAllowed = !usesOldSelf && (current ?? nearest)?.isUnchanged === true;
    if (!isAllowed) {
      addTo(this.#request.errors);
      return;
    }
    const ignored = new FieldErrors();
    addTo(ignored);
    for (const { field, message } of ignored.causes) this.#request.warn?.(`${field}: ${message}`);
  }

  #shownValue(): unknown {
    return this.#typeName === 'object' || this.#typeName === 'array' ? omitValue : this.#position.value;
  }

  #invalid(detail: string): void {
    this.#request.errors.invalid(this.#field, this.#typeName, detail);
  }

  #stop(detail: string): void {
    this.#invalid(detail);
    this.#remaining = -1;
  }
}

type RuleMessage =
  | { readonly kind: 'text'; readonly text: string | undefined }
  | { readonly kind: 'stop'; readonly problem: string };

function variablesFor(
  { schema, isResourceRoot }: RuleNode,
  { value, old }: RulePosition,
): { readonly plain: ReadonlyMap<string, Value>; readonly optional: ReadonlyMap<string, Value> } {
  const seen = isResourceRoot ? withObjectMeta(schema) : schema;
  const self = schemaValue(value, seen);
  const hasOld = old !== undefined && old !== null;
  const oldSelf = hasOld ? schemaValue(old, seen) : undefined;
  const plain = new Map<string, Value>([['self', self]]);
  if (oldSelf !== undefined) plain.set('oldSelf', oldSelf);
  return {
    plain,
    optional: new Map<string, Value>([
      ['self', self],
      ['oldSelf', oldSelf === undefined ? Optional.none : new Optional(oldSelf)],
    ]),
  };
}

function addFailure(
  errors: FieldErrors,
  field: string,
  {
    value,
    detail,
    rule,
  }: { readonly value: unknown; readonly detail: string; readonly rule: SchemaValidationRule },
): void {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      errors.forbidden(field, detail);
      return;
    case 'FieldValueRequired':
      errors.required(field, detail);
      return;
    case 'FieldValueDuplicate':
      errors.duplicate(field, value);
      return;
    default:
      errors.invalid(field, value, detail);
      return;
  }
}

/** An empty, too long or multi-line message is not used. */
function usableText(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const isUsable = text !== '' && Buffer.byteLength(text) <= messageBytesMax && !text.includes('\n');
  return isUsable ? text : undefined;
}

function defaultText(rule: SchemaValidationRule): string {
  const hasNoMessage = rule.message === undefined || rule.message === '';
  return hasNoMessage ? `failed rule: ${shownRule(rule)}` : shownRule(rule);
}

function shownRule({ rule, message }: SchemaValidationRule): string {
  return message !== undefined && message !== '' ? message.trim() : rule.trim();
}
