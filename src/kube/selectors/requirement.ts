import { unreachable } from '../../runtime/assert.ts';
import { isRecord, lookUp } from '../wire.ts';
import { parseInt64 } from './int64.ts';
import { isLabelKey, isLabelValue } from './label-syntax.ts';

/** A compiled test of one label. All selectors of Kubernetes compile to lists of these. */
export interface Requirement {
  readonly key: string;
  readonly operator: RequirementOperator;
  /** For In and NotIn; empty otherwise. */
  readonly values: ReadonlySet<string>;
  /** For Gt and Lt; undefined otherwise. */
  readonly bound: bigint | undefined;
}

export type RequirementOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/**
 * In: the label is present with a listed value. NotIn: it is absent or has another value. Gt and Lt: it is present, a
 * 64-bit integer, and strictly greater or less than the bound.
 */
export function matchesRequirement(requirement: Requirement, labels: LabelsInput): boolean {
  const value = lookUp(labels, requirement.key);
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.has(value);
    case 'NotIn':
      return value === undefined || !requirement.values.has(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return isBeyond(value, requirement.bound, 1n);
    case 'Lt':
      return isBeyond(value, requirement.bound, -1n);
    default:
      return unreachable(requirement.operator);
  }
}

export type LabelsInput = Readonly<Record<string, string>> | null | undefined;

export const labelSelectorOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
export const nodeSelectorOperators = [...labelSelectorOperators, 'Gt', 'Lt'] as const;

/**
 * Checks an expression with the rules of Kubernetes and compiles it, or adds errors to `problems` and returns
 * undefined. `field` is the path of the expression, such as `spec.selector.matchExpressions[0]`.
 */
export function compileRequirement(
  expression: unknown,
  operators: readonly RequirementOperator[],
  field: string,
  problems: string[],
): Requirement | undefined {
  if (!isRecord(expression)) {
    problems.push(`${field}: is not an expression; write one with key and operator`);
    return undefined;
  }
  const found = problems.length;
  const key = readKey(expression.key, field, problems);
  const operator = operators.find((known) => known === expression.operator);
  if (operator === undefined) {
    problems.push(`${field}.operator: ${quote(expression.operator)} is unknown; use ${operators.join(', ')}`);
  }
  const values = readValues(expression.values, `${field}.values`, problems);
  if (operator !== undefined && values !== undefined) {
    checkValueCount(operator, values, `${field}.values`, problems);
  }
  if (problems.length > found || operator === undefined || values === undefined) return undefined;
  const isComparison = operator === 'Gt' || operator === 'Lt';
  const bound = isComparison ? parseInt64(values[0] ?? '') : undefined;
  return { key, operator, values: isComparison ? noValues : new Set(values), bound };
}

/** The requirement of one `matchLabels` pair. */
export function compileEquality(
  key: string,
  value: unknown,
  field: string,
  problems: string[],
): Requirement | undefined {
  return compileRequirement(
    { key, operator: 'In', values: [value] },
    labelSelectorOperators,
    field,
    problems,
  );
}

const noValues: ReadonlySet<string> = new Set();

const keyRemedy =
  'use letters, digits, -, _ and . in up to 63 characters, optionally after a domain and a slash';
const valueRemedy =
  'use letters, digits, -, _ and . in up to 63 characters, with a letter or digit at both ends';

function readKey(key: unknown, field: string, problems: string[]): string {
  if (isLabelKey(key)) return key;
  problems.push(`${field}.key: ${quote(key)} is not a label key; ${keyRemedy}`);
  return '';
}

/** Undefined if a value is invalid. */
function readValues(values: unknown, field: string, problems: string[]): readonly string[] | undefined {
  if (values === undefined || values === null) return [];
  if (!Array.isArray(values)) {
    problems.push(`${field}: is not a list; write the values as a list`);
    return undefined;
  }
  const found = problems.length;
  for (const value of values) {
    if (!isLabelValue(value)) problems.push(`${field}: ${quote(value)} is not a label value; ${valueRemedy}`);
  }
  return problems.length > found ? undefined : values;
}

function checkValueCount(
  operator: RequirementOperator,
  values: readonly string[],
  field: string,
  problems: string[],
): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      problems.push(`${field}: ${operator} compares with nothing; list at least one value`);
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) problems.push(`${field}: ${operator} takes no values; remove them or use In`);
  } else if (values.length !== 1 || parseInt64(values[0] ?? '') === undefined) {
    problems.push(`${field}: ${operator} compares with one whole number; list exactly one`);
  }
}

function isBeyond(value: string | undefined, bound: bigint | undefined, direction: 1n | -1n): boolean {
  if (value === undefined || bound === undefined) return false;
  const number = parseInt64(value);
  return number !== undefined && (number - bound) * direction > 0n;
}

function quote(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(typeof value);
}
