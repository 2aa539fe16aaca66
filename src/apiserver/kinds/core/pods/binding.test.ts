import { expect, test } from 'vitest';
import type { Binding } from '../../../../kube/api/stored/core.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { checkPodBinding } from './binding.ts';

test.each([
  { target: { kind: 'Node', name: 'n1' }, causes: [] },
  { target: { name: 'n1' }, causes: [] },
  {
    target: { kind: 'Pod' },
    causes: [
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      'target.name: Required value',
    ],
  },
])('the target $target of a binding is validated', ({ target, causes }) => {
  const errors = new FieldErrors();
  const binding: Binding = { apiVersion: 'v1', kind: 'Binding', metadata: {}, target };
  checkPodBinding(binding, errors);
  expect(errors.causes.map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
});
