import type { Int64 } from '../../kube/api/stored/meta.ts';
import type { Json } from '../../kube/go/json-value.ts';

/**
 * A schema of a CustomResourceDefinition: OpenAPI 3.0 with Kubernetes' extensions. The server checked that it is
 * structural when it stored the definition, so code that walks values by it may rely on that: `items` is one schema,
 * every level has its type, and `allOf`, `anyOf`, `oneOf` and `not` only restrict values.
 */
export interface JsonSchema {
  readonly description?: string;
  readonly title?: string;
  readonly type?: JsonSchemaType | '';
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly example?: Json;

  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;

  readonly required?: readonly string[];
  readonly enum?: readonly Json[];
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: Int64;
  readonly minLength?: Int64;
  readonly pattern?: string;
  readonly maxItems?: Int64;
  readonly minItems?: Int64;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: Int64;
  readonly minProperties?: Int64;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;

  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly SchemaValidationRule[];
}

export type JsonSchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** A validation rule in CEL. */
export interface SchemaValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}
