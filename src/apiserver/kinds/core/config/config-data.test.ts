import { expect, test } from 'vitest';
import type { ConfigMap, Secret } from '../../../../kube/api/stored/core.ts';
import { normalize } from '../../../schema/normalize.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { configMapKind } from './config-map.ts';
import { secretKind } from './secret.ts';

const mebi = 1024 * 1024;
const tooLong = { reason: 'FieldValueTooLong', message: 'Too long: may not be more than 1048576 bytes' };

function configMap(fields: object): ConfigMap {
  return normalize('core/v1.ConfigMap', { metadata: { name: 'c' }, ...fields })
    .object as unknown as ConfigMap;
}

function secret(fields: object): Secret {
  const object = normalize('core/v1.Secret', { metadata: { name: 's' }, ...fields }).object;
  secretKind.defaults?.(object as unknown as Secret);
  return object as unknown as Secret;
}

test('the size limit of a ConfigMap counts data and binaryData together', () => {
  const bytes = Buffer.alloc(mebi / 2).toString('base64');
  const errors = new FieldErrors();
  configMapKind.validate(configMap({ data: { a: 'x'.repeat(mebi / 2) }, binaryData: { b: bytes } }), errors);
  expect(errors.causes).toEqual([]);
  configMapKind.validate(
    configMap({ data: { a: 'x'.repeat(mebi / 2 + 1) }, binaryData: { b: bytes } }),
    errors,
  );
  expect(errors.causes).toEqual([{ ...tooLong, field: '[]' }]);
});

test('sizes count bytes, not characters', () => {
  const errors = new FieldErrors();
  configMapKind.validate(configMap({ data: { a: 'ü'.repeat(mebi / 2 + 1) } }), errors);
  expect(errors.causes).toHaveLength(1);
});

test('the size limit of a Secret counts decoded bytes', () => {
  const errors = new FieldErrors();
  secretKind.validate(secret({ data: { a: Buffer.alloc(mebi).toString('base64') } }), errors);
  expect(errors.causes).toEqual([]);
  secretKind.validate(secret({ stringData: { a: 'x'.repeat(mebi + 1) } }), errors);
  expect(errors.causes).toEqual([{ ...tooLong, field: 'data' }]);
});

test('stringData overrides data, and is not stored', () => {
  const object = secret({ data: { a: 'eA==', b: 'eQ==' }, stringData: { a: 'z' } });
  expect(object.data).toEqual({ a: 'eg==', b: 'eQ==' });
  expect(object).not.toHaveProperty('stringData');
});
