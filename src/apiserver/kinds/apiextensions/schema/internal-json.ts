import type {
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
} from '../../../../kube/api/stored/apiextensions.ts';

/**
 * A version or a schema as kube-apiserver prints it in errors: with Go field names, in the order of the internal types,
 * with all fields.
 */
export function internalVersions(versions: readonly CustomResourceDefinitionVersion[] | null): unknown {
  return versions === null ? null : versions.map(internalVersion);
}

function internalVersion(version: CustomResourceDefinitionVersion): unknown {
  return {
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: internalValidation(version.schema),
    Subresources: internalSubresources(version.subresources),
    AdditionalPrinterColumns:
      version.additionalPrinterColumns?.map((column) => ({
        Name: column.name,
        Type: column.type,
        Format: column.format ?? '',
        Description: column.description ?? '',
        Priority: column.priority ?? 0,
        JSONPath: column.jsonPath,
      })) ?? null,
    SelectableFields: version.selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  };
}

function internalValidation(validation: CustomResourceValidation | undefined): unknown {
  if (validation === undefined) return null;
  const { openAPIV3Schema } = validation;
  return { OpenAPIV3Schema: openAPIV3Schema === undefined ? null : internalSchema(openAPIV3Schema) };
}

function internalSubresources(subresources: CustomResourceSubresources | undefined): unknown {
  if (subresources === undefined) return null;
  const { status, scale } = subresources;
  const shownScale = scale && {
    SpecReplicasPath: scale.specReplicasPath,
    StatusReplicasPath: scale.statusReplicasPath,
    LabelSelectorPath: scale.labelSelectorPath ?? null,
  };
  return { Status: status ?? null, Scale: shownScale ?? null };
}

export function internalSchema(schema: JSONSchemaProps): unknown {
  const shown: Record<string, unknown> = {};
  for (const { goName, field, absent, show } of schemaFields) {
    const value = schema[field];
    shown[goName] = value === undefined ? absent : show === undefined ? value : show(value);
  }
  return shown;
}

interface SchemaField {
  readonly goName: string;
  readonly field: keyof JSONSchemaProps;
  readonly absent: '' | false | null;
  readonly show?: (value: unknown) => unknown;
}

const one = (value: unknown): unknown => internalSchema(value as JSONSchemaProps);
const list = (value: unknown): unknown => (value as readonly unknown[]).map(one);
const map = (value: unknown): unknown =>
  Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, one(each)]));
const orBool = (value: unknown): unknown =>
  typeof value === 'boolean' ? { Allows: value, Schema: null } : { Allows: true, Schema: one(value) };
const orList = (value: unknown): unknown =>
  Array.isArray(value)
    ? { Schema: null, JSONSchemas: list(value) }
    : { Schema: one(value), JSONSchemas: null };
/** A value that is neither a schema nor a list of names becomes null. */
const orNames = (value: unknown): unknown => {
  const isSchema = !Array.isArray(value) && value !== null;
  return { Schema: isSchema ? one(value) : null, Property: isSchema ? null : value };
};
const dependencies = (value: unknown): unknown =>
  Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, orNames(each)]));
const docs = (value: unknown): unknown => {
  const { description = '', url = '' } = value as { description?: string; url?: string };
  return { Description: description, URL: url };
};
const rules = (value: unknown): unknown =>
  (value as NonNullable<JSONSchemaProps['x-kubernetes-validations']>).map((rule) => ({
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }));

/** Schema fields in the order of the Go fields. The fields of a root schema are checked in this order, too. */
export const schemaFields: readonly SchemaField[] = [
  { goName: 'ID', field: 'id', absent: '' },
  { goName: 'Schema', field: '$schema', absent: '' },
  { goName: 'Ref', field: '$ref', absent: null },
  { goName: 'Description', field: 'description', absent: '' },
  { goName: 'Type', field: 'type', absent: '' },
  { goName: 'Nullable', field: 'nullable', absent: false },
  { goName: 'Format', field: 'format', absent: '' },
  { goName: 'Title', field: 'title', absent: '' },
  { goName: 'Default', field: 'default', absent: null },
  { goName: 'Maximum', field: 'maximum', absent: null },
  { goName: 'ExclusiveMaximum', field: 'exclusiveMaximum', absent: false },
  { goName: 'Minimum', field: 'minimum', absent: null },
  { goName: 'ExclusiveMinimum', field: 'exclusiveMinimum', absent: false },
  { goName: 'MaxLength', field: 'maxLength', absent: null },
  { goName: 'MinLength', field: 'minLength', absent: null },
  { goName: 'Pattern', field: 'pattern', absent: '' },
  { goName: 'MaxItems', field: 'maxItems', absent: null },
  { goName: 'MinItems', field: 'minItems', absent: null },
  { goName: 'UniqueItems', field: 'uniqueItems', absent: false },
  { goName: 'MultipleOf', field: 'multipleOf', absent: null },
  { goName: 'Enum', field: 'enum', absent: null },
  { goName: 'MaxProperties', field: 'maxProperties', absent: null },
  { goName: 'MinProperties', field: 'minProperties', absent: null },
  { goName: 'Required', field: 'required', absent: null },
  { goName: 'Items', field: 'items', absent: null, show: orList },
  { goName: 'AllOf', field: 'allOf', absent: null, show: list },
  { goName: 'OneOf', field: 'oneOf', absent: null, show: list },
  { goName: 'AnyOf', field: 'anyOf', absent: null, show: list },
  { goName: 'Not', field: 'not', absent: null, show: one },
  { goName: 'Properties', field: 'properties', absent: null, show: map },
  { goName: 'AdditionalProperties', field: 'additionalProperties', absent: null, show: orBool },
  { goName: 'PatternProperties', field: 'patternProperties', absent: null, show: map },
  { goName: 'Dependencies', field: 'dependencies', absent: null, show: dependencies },
  { goName: 'AdditionalItems', field: 'additionalItems', absent: null, show: orBool },
  { goName: 'Definitions', field: 'definitions', absent: null, show: map },
  { goName: 'ExternalDocs', field: 'externalDocs', absent: null, show: docs },
  { goName: 'Example', field: 'example', absent: null },
  { goName: 'XPreserveUnknownFields', field: 'x-kubernetes-preserve-unknown-fields', absent: null },
  { goName: 'XEmbeddedResource', field: 'x-kubernetes-embedded-resource', absent: false },
  { goName: 'XIntOrString', field: 'x-kubernetes-int-or-string', absent: false },
  { goName: 'XListMapKeys', field: 'x-kubernetes-list-map-keys', absent: null },
  { goName: 'XListType', field: 'x-kubernetes-list-type', absent: null },
  { goName: 'XMapType', field: 'x-kubernetes-map-type', absent: null },
  { goName: 'XValidations', field: 'x-kubernetes-validations', absent: null, show: rules },
];
