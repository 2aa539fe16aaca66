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

/** Types that JSON writes otherwise than Go declares them. */
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
 * The schemas that a document needs, gathered while its paths refer to them: each type once, with everything that it is made
 * of. They carry what clients merge by (list types, merge keys) and no descriptions.
 */
export class SchemaCollector {
  readonly #schemas = new Map<string, OpenApiSchema>();

  /** By name, as the real server orders them. */
  get schemas(): Readonly<Record<string, OpenApiSchema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A reference to a type of the API tables; the type is put into the document. */
  reference(type: string): OpenApiSchema {
    const name = openApiName(type);
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {}); // Types refer to themselves: JSONSchemaProps does.
      this.#schemas.set(name, this.#structSchema(tableOf(type)));
    }
    return reference(name);
  }

  /** A schema that is in no table. */
  define(name: string, schema: OpenApiSchema): OpenApiSchema {
    this.#schemas.set(name, schema);
    return reference(name);
  }

  /** A reference to a kind, be it of the API tables or one that somebody has defined. */
  ofKind({ type, definition }: ServedKind): OpenApiSchema {
    if (definition === undefined) return this.reference(type);
    this.reference('meta/v1.ObjectMeta');
    return this.define(definedName(type), definition.publishedSchema);
  }

  /** The list of a kind, which tables leave out because all are alike. */
  listOf(kind: ServedKind): OpenApiSchema {
    const { type, group, version, definition } = kind;
    const properties = {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: { default: {}, allOf: [this.ofKind(kind)] } },
      kind: { type: 'string' },
      metadata: { default: {}, allOf: [this.reference('meta/v1.ListMeta')] },
    };
    const listKind = definition?.listKind ?? `${kind.kind}List`;
    const gvk = gvkExtension(group, version, listKind);
    const name =
      definition === undefined ? `${openApiName(type)}List` : definedName(`${group}/${version}.${listKind}`);
    return this.define(name, { type: 'object', required: ['items'], properties, ...gvk });
  }

  #structSchema(table: TypeTable): OpenApiSchema {
    const fields = fieldsOf(table);
    const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    const properties = {
      ...(table.isKind ? { apiVersion: { type: 'string' }, kind: { type: 'string' } } : {}),
      ...Object.fromEntries(fields.map((field) => [field.name, this.#fieldSchema(field)])),
    };
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      // Of a struct without fields nothing is said, lest a list of none be taken for all that there may ever be.
      ...(Object.keys(properties).length === 0 ? {} : { properties: sorted(properties) }),
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

  /** Elements of lists and maps are never absent, so they have a default that says what an empty one is. */
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
    return this.define(leafNames[form], leafSchemas[form]);
  }
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
  // Options travel with any group, and belong to none.
  return group === 'meta' ? {} : gvkExtension(group === 'core' ? '' : group, version, kind);
}

/** Fields of an embedded struct stand among those of its owner. */
function fieldsOf(table: TypeTable): readonly FieldTable[] {
  return table.members.flatMap((member) =>
    member.kind === 'field' ? [member] : fieldsOf(tableOf(member.type)),
  );
}

function reference(name: string): OpenApiSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function sorted(record: Readonly<Record<string, unknown>>): OpenApiSchema {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return [text.slice(0, index), text.slice(index + separator.length)];
}
