import { describe, expect, test } from 'vitest';
import { applyDefaults } from './defaults.ts';
import { checkEmbedded, coerceEmbedded } from './embedded-meta.ts';
import { formatRule } from './formats/formats.ts';
import { checkLists } from './list-types.ts';
import { pruneUnknownFields } from './prune.ts';
import { readVectors, sortedErrors } from './testing/vectors.ts';
import { compileSchema } from './validate.ts';

const { values, formats } = readVectors();

describe('values have the same results as in Kubernetes', () => {
  test('there are vectors', () => {
    expect(values.length).toBeGreaterThan(200);
    expect(formats.length).toBeGreaterThan(20);
  });

  test('unknown fields are pruned and reported', () => {
    for (const { schema, value, pruned = value, dropped = [] } of values) {
      const copy = structuredClone(value);
      const reported = pruneUnknownFields(copy, schema, { isResourceRoot: true });
      expect({ value, pruned: copy, dropped: reported }).toEqual({ value, pruned, dropped });
    }
  });

  test('defaults are filled in', () => {
    for (const { schema, value, defaulted = value } of values) {
      const copy = structuredClone(value);
      applyDefaults(copy, schema);
      expect({ schema, value, defaulted: copy }).toEqual({ schema, value, defaulted });
    }
  });

  test('metadata of embedded resources is normalized', () => {
    for (const { schema, value, coerced = value, coerceUnknown = [], coerceError } of values) {
      const copy = structuredClone(value);
      if (coerceError !== undefined) expect(() => coerceEmbedded(copy, schema)).toThrow(coerceError);
      else
        expect({ unknown: coerceEmbedded(copy, schema), coerced: copy }).toEqual({
          unknown: coerceUnknown,
          coerced,
        });
    }
  });

  test('new values are validated', () => {
    for (const { schema, value, created = [] } of values) {
      const found = sortedErrors((errors) => compileSchema(schema).validate(value, errors));
      expect({ schema, value, found }).toEqual({ schema, value, found: created });
    }
  });

  test('changed values are validated, and unchanged parts may stay invalid', () => {
    for (const { schema, value, old, updated = [] } of values) {
      if (old === undefined) continue;
      const found = sortedErrors((errors) => compileSchema(schema).validate(value, errors, { old }));
      expect({ schema, value, old, found }).toEqual({ schema, value, old, found: updated });
    }
  });

  test('lists are validated by their type', () => {
    for (const { schema, value, lists = [] } of values) {
      const found = sortedErrors((errors) => checkLists(value, schema, errors));
      expect({ schema, value, found }).toEqual({ schema, value, found: lists });
    }
  });

  test('embedded resources are validated', () => {
    for (const { schema, value, meta = [] } of values) {
      const found = sortedErrors((errors) => checkEmbedded(value, schema, errors));
      expect({ schema, value, found }).toEqual({ schema, value, found: meta });
    }
  });

  test.each(formats)('the format $format accepts the same texts', ({ format, texts, ok }) => {
    const rule = formatRule(format);
    expect(texts.map((text) => [text, rule?.(text)])).toEqual(texts.map((text, index) => [text, ok[index]]));
  });
});
