import { withSortedKeys } from '../../../kube/sorted-keys.ts';
import { listDescriptions } from '../../custom/published-schema.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import { openApiName } from '../../schema/type-info.ts';
import {
  type FieldTable,
  type LeafForm,
  type SchemaForm,
  type TypeTable,
  tableOf,
  type ValueType,
} from '../../schema/type-table.ts';
import type { TypeDescription } from './descriptions.ts';

/** A schema of OpenAPI 3.0, as plain JSON. */
export type OpenApiSchema = Readonly<Record<string, unknown>>;

const leafNames = {
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  time: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  microTime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
  fieldsV1: 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  json: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
  schemaOrList: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool',
  schemaOrNames: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray',
} as const;

/** Types whose JSON form differs from their Go declaration. */
const leafSchemas: Readonly<Record<keyof typeof leafNames, OpenApiSchema>> = {
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  intOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  fieldsV1: { type: 'object' },
  rawExtension: { type: 'object' },
  json: {},
  schemaOrList: {},
  schemaOrBool: {},
  schemaOrNames: {},
};

/**
 * Collects the schemas that a document's paths refer to: each type once, with all types that it contains. Schemas carry
 * what clients need for merging (list types, merge keys), and Kubernetes' descriptions if `describe` provides them.
 */
export class SchemaCollector {
  readonly #schemas = new Map<string, OpenApiSchema>();
  readonly #describe: (schemaName: string) => TypeDescription;

  constructor(describe: (schemaName: string) => TypeDescription = () => ({})) {
    this.#describe = describe;
  }

  /** Sorted by name, as in kube-apiserver. */
  get schemas(): Readonly<Record<string, OpenApiSchema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Adds a type of the API tables to the document and returns a reference to it. */
  reference(type: string): OpenApiSchema {
    const name = openApiName(type);
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {}); // Set first, because types such as JSONSchemaProps refer to themselves.
      this.#schemas.set(name, this.#structSchema(tableOf(type), this.#describe(name)));
    }
    return reference(name);
  }

  /** Adds a schema that is not in the API tables. */
  define(name: string, schema: OpenApiSchema): OpenApiSchema {
    this.#schemas.set(name, schema);
    return reference(name);
  }

  /** Returns a reference to a kind, built in or custom. */
  ofKind({ type, definition }: ServedKind): OpenApiSchema {
    if (definition === undefined) return this.reference(type);
    this.reference('meta/v1.ObjectMeta');
    return this.define(definedName(type), definition.publishedSchema);
  }

  /** The list type of a kind. The API tables leave list types out, since they are all alike. */
  listOf(kind: ServedKind): OpenApiSchema {
    const { type, group, version, definition } = kind;
    const listKind = definition?.listKind ?? `${kind.kind}List`;
    const gvk = gvkExtension(group, version, listKind);
    const name =
      definition === undefined ? `${openApiName(type)}List` : definedName(`${group}/${version}.${listKind}`);
    const { description, fields: texts = {} } =
      definition === undefined ? this.#describe(name) : listDescriptions(kind, listKind);
    const properties = {
      apiVersion: described(texts.apiVersion, { type: 'string' }),
      items: described(texts.items, {
        type: 'array',
        items: { default: {}, allOf: [this.ofKind(kind)] },
      }),
      kind: described(texts.kind, { type: 'string' }),
      metadata: described(texts.metadata, { default: {}, allOf: [this.reference('meta/v1.ListMeta')] }),
    };
    const schema = { type: 'object', required: ['items'], properties, ...gvk };
    return this.define(name, described(description, schema));
  }

  #structSchema(table: TypeTable, { description, fields: texts = {} }: TypeDescription): OpenApiSchema {
    const fields = fieldsOf(table);
    const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    const properties = {
      ...(table.isKind
        ? {
            apiVersion: described(texts.apiVersion, { type: 'string' }),
            kind: described(texts.kind, { type: 'string' }),
          }
        : {}),
      ...Object.fromEntries(
        fields.map((field) => [field.name, described(texts[field.name], this.#fieldSchema(field))]),
      ),
    };
    return {
      ...described(description, {}),
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      // Omitted for a struct without fields: clients would read an empty list as "no properties allowed".
      ...(Object.keys(properties).length === 0 ? {} : { properties: withSortedKeys(properties) }),
      ...(table.isKind ? gvkOfType(table.id) : {}),
      ...(table.isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    };
  }

  #fieldSchema(field: FieldTable): OpenApiSchema {
    const { type, defaultJson, listType, listKeys, mapType, mergeKey, patchStrategies } = field;
    const isPlainStruct = type.form === 'struct' && !field.isPointer;
    const fallback = defaultJson === undefined ? (isPlainStruct ? {} : undefined) : JSON.parse(defaultJson);
    const value = this.#valueSchema(type, fallback);
    return {
      ...value,
      ...(listKeys.length === 0 ? {} : { 'x-kubernetes-list-map-keys': listKeys }),
      ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
      ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
      ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
      ...(patchStrategies.length === 0 ? {} : { 'x-kubernetes-patch-strategy': patchStrategies.join(',') }),
    };
  }

  #valueSchema(type: ValueType, fallback: unknown): OpenApiSchema {
    const withDefault = fallback === undefined ? {} : { default: fallback };
    switch (type.form) {
      case 'struct':
        return { ...withDefault, allOf: [this.reference(type.id)] };
      case 'list':
        return { type: 'array', items: this.#elementSchema(type.element), ...withDefault };
      case 'map':
        return { type: 'object', additionalProperties: this.#elementSchema(type.element), ...withDefault };
      default:
        return this.#leafSchema(type.form, withDefault);
    }
  }

  /** Elements of lists and maps are never absent, so their default is the empty value. */
  #elementSchema(element: ValueType): OpenApiSchema {
    if (element.form === 'struct') return { default: {}, allOf: [this.reference(element.id)] };
    if (element.form in leafNames) return this.#namedLeaf(element.form as keyof typeof leafNames);
    return this.#valueSchema(element, emptyElements[element.form]);
  }

  #leafSchema(form: LeafForm | SchemaForm, withDefault: OpenApiSchema): OpenApiSchema {
    switch (form) {
      case 'string':
        return { type: 'string', ...withDefault };
      case 'bool':
        return { type: 'boolean', ...withDefault };
      case 'int32':
      case 'int64':
        return { type: 'integer', format: form, ...withDefault };
      case 'float64':
        return { type: 'number', format: 'double', ...withDefault };
      case 'bytes':
        return { type: 'string', format: 'byte', ...withDefault };
      default:
        return { ...withDefault, allOf: [this.#namedLeaf(form)] };
    }
  }

  #namedLeaf(form: keyof typeof leafNames): OpenApiSchema {
    const name = leafNames[form];
    return this.define(name, described(this.#describe(name).description, leafSchemas[form]));
  }
}

function described(description: string | undefined, schema: OpenApiSchema): OpenApiSchema {
  return description === undefined ? schema : { description, ...schema };
}

const emptyElements: Readonly<Record<string, unknown>> = { string: '', bool: false, int32: 0, int64: 0 };

/** `example.com/v1.Widget` is `com.example.v1.Widget`. */
function definedName(type: string): string {
  const [group = '', rest = ''] = splitOnce(type, '/');
  return `${group.split('.').reverse().join('.')}.${rest}`;
}

function gvkExtension(group: string, version: string, kind: string): OpenApiSchema {
  return { 'x-kubernetes-group-version-kind': [{ group, kind, version }] };
}

function gvkOfType(type: string): OpenApiSchema {
  const [group = '', rest = ''] = splitOnce(type, '/');
  const [version = '', kind = ''] = splitOnce(rest, '.');
  // Options types are used with every group and belong to none.
  return group === 'meta' ? {} : gvkExtension(group === 'core' ? '' : group, version, kind);
}

/** Lists the fields of embedded structs among those of the struct itself. */
function fieldsOf(table: TypeTable): readonly FieldTable[] {
  return table.members.flatMap((member) =>
    member.kind === 'field' ? [member] : fieldsOf(tableOf(member.type)),
  );
}

function reference(name: string): OpenApiSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return [text.slice(0, index), text.slice(index + separator.length)];
}
