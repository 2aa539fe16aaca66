import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { internalSchema } from './internal-json.ts';
import { itemSchemaOf } from './schema-walk.ts';

/** How lists and maps merge: `x-kubernetes-map-type`, `x-kubernetes-list-type`, `x-kubernetes-list-map-keys`. */
export function checkListRules(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  checkMapType(schema, path, errors);
  checkListType(schema, path, errors);
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const listType = schema['x-kubernetes-list-type'];
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    if (listType === undefined) errors.required(`${path}.x-kubernetes-list-type`, detail);
    else errors.invalid(`${path}.x-kubernetes-list-type`, listType, detail);
  }
  if (listType === 'map') checkMapList(schema, path, errors);
  checkElements(schema, path, errors);
}

function checkMapType(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return;
  checkTypeIs(schema, 'object', { path, extension: 'x-kubernetes-map-type', errors });
  const supported = ['atomic', 'granular'];
  if (!supported.includes(mapType)) errors.notSupported(`${path}.x-kubernetes-map-type`, mapType, supported);
}

function checkListType(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === undefined) return;
  const isArray = checkTypeIs(schema, 'array', { path, extension: 'x-kubernetes-list-type', errors });
  if (isArray && listType === 'set') checkSetItems(itemSchemaOf(schema), `${path}.items`, errors);
  const supported = ['atomic', 'set', 'map'];
  if (!supported.includes(listType))
    errors.notSupported(`${path}.x-kubernetes-list-type`, listType, supported);
}

interface Extension {
  readonly path: string;
  readonly extension: string;
  readonly errors: FieldErrors;
}

function checkTypeIs(
  { type = '' }: JSONSchemaProps,
  required: string,
  { path, extension, errors }: Extension,
): boolean {
  if (type === required) return true;
  const detail = `must be ${required} if ${extension} is specified`;
  if (type === '') errors.required(`${path}.type`, detail);
  else errors.invalid(`${path}.type`, type, detail);
  return false;
}

/** Elements of sets are compared as a whole. Kubernetes prints the list type in both cases. */
function checkSetItems(items: JSONSchemaProps | undefined, path: string, errors: FieldErrors): void {
  if (items === undefined) return;
  const listType = items['x-kubernetes-list-type'];
  const mapType = items['x-kubernetes-map-type'];
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.invalid(`${path}.x-kubernetes-list-type`, listType, detail);
  }
  if (items.type === 'object' && mapType !== 'atomic') {
    errors.invalid(`${path}.x-kubernetes-map-type`, listType ?? null, detail);
  }
}

function checkMapList(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (keys.length === 0) {
    const detail = 'must not be empty if x-kubernetes-list-type is map';
    errors.required(`${path}.x-kubernetes-list-map-keys`, detail);
  }
  const { items } = schema;
  if (items === undefined) {
    errors.required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map');
    return;
  }
  if (Array.isArray(items)) {
    const shown = { Schema: null, JSONSchemas: items.map(internalSchema) };
    errors.invalid(`${path}.items`, shown, 'must only have a single schema if x-kubernetes-list-type is map');
    return;
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.invalid(`${path}.items.type`, items.type ?? '', detail);
    return;
  }
  checkKeys(keys, items, path, errors);
}

function checkKeys(keys: readonly string[], items: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) {
      errors.invalid(
        `${path}.x-kubernetes-list-map-keys`,
        keys,
        'entries must all be names of item properties',
      );
    } else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.invalid(`${path}.items.properties[${key}].type`, items.type, detail);
    }
    if (seen.has(key)) {
      errors.invalid(`${path}.x-kubernetes-list-map-keys`, keys, 'must not contain duplicate entries');
    }
    seen.add(key);
  }
}

/** Elements that are identified by their value or their keys must have this value or these keys. */
function checkElements(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const items = itemSchemaOf(schema);
  const listType = schema['x-kubernetes-list-type'];
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return;
  if (items.nullable === true) {
    errors.forbidden(
      `${path}.items.nullable`,
      `cannot be nullable when x-kubernetes-list-type is ${listType}`,
    );
  }
  if (listType === 'set') return;
  const why = 'this property is in x-kubernetes-list-map-keys, so it';
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    if (!items.required?.includes(key) && property.default === undefined) {
      errors.required(`${field}.default`, `${why} must have a default or be a required property`);
    }
    if (property.nullable === true) errors.forbidden(`${field}.nullable`, `${why} cannot be nullable`);
  }
}

function propertyOf({ properties = {} }: JSONSchemaProps, name: string): JSONSchemaProps | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}
