import { expect, test } from 'vitest';
import { isLabelKey } from './selectors/label-syntax.ts';
import { annotations, finalizers, labels } from './well-known.ts';

const names = [annotations, labels, finalizers].flatMap((group) => Object.values(group));

test.each(names)('%s is a name that Kubernetes accepts', (name) => {
  expect(isLabelKey(name)).toBe(true);
});

test('no name is spelled twice', () => {
  expect(new Set(names).size).toBe(names.length);
});
