import { expect, test } from 'vitest';
import { FieldErrors } from './field-errors.ts';
import { checkLabelSelector, checkNodeSelector, hasInvalidValue } from './selectors.ts';

/** The recorded answers of kube-apiserver cover the rest (`../kinds/testing/README.md`); this tests the options. */

test('values that no label can have are allowed by an option', () => {
  const selector = { matchExpressions: [{ key: 'a', operator: 'In', values: ['b c'] }] };
  expect(hasInvalidValue(selector)).toBe(true);
  expect(fieldsOf((errors) => checkLabelSelector(errors, 's', selector))).toEqual([
    's.matchExpressions[0].values[0]',
  ]);
  expect(fieldsOf((errors) => checkLabelSelector(errors, 's', selector, { allowsAnyValue: true }))).toEqual(
    [],
  );
  const node = { nodeSelectorTerms: [selector] };
  expect(fieldsOf((errors) => checkNodeSelector(errors, 's', node, { allowsAnyValue: true }))).toEqual([]);
});

test('keys are validated nevertheless', () => {
  const selector = { matchExpressions: [{ key: 'a b', operator: 'Exists' }] };
  expect(hasInvalidValue(selector)).toBe(false);
  const fields = fieldsOf((errors) => checkLabelSelector(errors, 's', selector, { allowsAnyValue: true }));
  expect(fields).toEqual(['s.matchExpressions[0].key']);
});

test('an absent selector is valid', () => {
  expect(fieldsOf((errors) => checkLabelSelector(errors, 's', undefined))).toEqual([]);
  expect(hasInvalidValue(undefined)).toBe(false);
});

function fieldsOf(check: (errors: FieldErrors) => void): readonly (string | undefined)[] {
  const errors = new FieldErrors();
  check(errors);
  return errors.causes.map(({ field }) => field);
}
