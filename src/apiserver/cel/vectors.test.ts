import { describe, expect, test } from 'vitest';
import { FieldErrors } from '../validation/field-errors.ts';
import { checkRules } from './check-rules.ts';
import { compileRules, runtimeCostBudget } from './compile-rules.ts';
import { runExpression } from './testing/run-expression.ts';
import {
  definitionVectors,
  expressionVectors,
  objectVectors,
  partVectors,
  withoutTypeNumber,
} from './testing/vectors.ts';

const empty = { schema: { type: 'object', properties: {} }, value: {} } as const;

function formatErrors(errors: FieldErrors): readonly string[] {
  return errors.causes.map(({ field, message }) => withoutTypeNumber(`${field}: ${message}`));
}

describe('Expressions have the results of Kubernetes', () => {
  const { subject, vectors } = expressionVectors();

  test.each(vectors)('$expr', ({ expr, self, ...wanted }) => {
    expect(runExpression(expr, self === true ? subject : empty)).toEqual(wanted);
  });
});

describe('Expressions over parts of objects have the results of Kubernetes', () => {
  test.each(partVectors())('$expr of $subject.schema.type', ({ expr, subject, ...wanted }) => {
    expect(runExpression(expr, subject)).toEqual(wanted);
  });
});

describe('Rules validate objects as in Kubernetes', () => {
  test.each(objectVectors())('$name', ({ schema, value, old, budget, errors: wanted, remaining }) => {
    const errors = new FieldErrors();
    const program = compileRules(schema, { isResourceRoot: true });
    const costLimit = budget ?? runtimeCostBudget;
    const left = program === undefined ? costLimit : program.validate({ value, old, errors, costLimit });
    expect(formatErrors(errors)).toEqual(wanted);
    expect(left).toBe(remaining);
  });
});

describe('Rules of definitions are checked as in Kubernetes', () => {
  test.each(definitionVectors())('$name', ({ schema, errors: wanted }) => {
    const errors = new FieldErrors();
    checkRules(schema, 'spec.validation.openAPIV3Schema', errors);
    expect(formatErrors(errors)).toEqual(wanted);
  });
});
