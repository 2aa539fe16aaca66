import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { checkEmbedded, coerceEmbedded } from './embedded-meta.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
};

describe('coerceEmbedded', () => {
  test('normalizes metadata and reports unknown fields', () => {
    const metadata = { name: 'a', labels: null, colour: 'red', creationTimestamp: null };
    const value: JsonObject = { metadata: { colour: 1 }, template: { kind: 'Pod', metadata } };
    expect(coerceEmbedded(value, schema)).toEqual(['template.metadata.colour']);
    expect(value).toEqual({ metadata: { colour: 1 }, template: { kind: 'Pod', metadata: { name: 'a' } } });
  });

  test('refuses invalid metadata', () => {
    const value: JsonObject = { template: { metadata: { name: 5 } } };
    const sentence =
      'template.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string';
    expect(() => coerceEmbedded(value, schema)).toThrow(sentence);
  });
});

describe('checkEmbedded', () => {
  test('requires apiVersion and kind, and validates metadata, without requiring a name', () => {
    const errors = new FieldErrors();
    checkEmbedded({ template: { kind: 'Pod?', metadata: { labels: { 'a b': '' } } } }, schema, errors);
    expect(errors.causes.map(({ field, reason }) => [field, reason])).toEqual([
      ['template.apiVersion', 'FieldValueRequired'],
      ['template.kind', 'FieldValueInvalid'],
      ['template.metadata.labels', 'FieldValueInvalid'],
    ]);
  });
});
