import { expect, test } from 'vitest';
import { FieldErrors } from './field-errors.ts';

test('errors are kept up to a limit and counted beyond it', () => {
  const kept = [2_000, 20_000].map((count) => {
    const errors = new FieldErrors();
    const path = 'p'.repeat(10_000);
    for (let index = 0; index < count; index++) errors.invalid(`${path}[${index}]`, index, 'is wrong');
    expect([errors.count, errors.isEmpty]).toEqual([count, false]);
    return errors.causes.length;
  });
  expect(kept[1]).toBe(kept[0]);
});

test('a value is formatted only for errors that are kept', () => {
  let formatted = 0;
  const value = {
    toJSON() {
      formatted += 1;
      return 'x'.repeat(1_000_000);
    },
  };
  const errors = new FieldErrors();
  for (let index = 0; index < 1_000; index++) errors.invalid('f', value, 'is wrong');
  expect(formatted).toBe(errors.causes.length);
  expect(formatted).toBeLessThan(10);
});
