import type { Json } from '../../kube/go/json-value.ts';
import { type FieldTable, shortName, tableOf, type ValueType } from '../schema/type-table.ts';
import { deducedShape } from './deduced-shape.ts';
import type { FieldShape, ListKey, ListShape, MergeShape, StructShape } from './merge-shape.ts';

/** The shape of a type of the API tables, such as `core/v1.Pod`. It is created once, and its fields only on access. */
export function shapeOfType(typeId: string): StructShape {
  let shape = shapes.get(typeId);
  if (shape === undefined) {
    shape = new TableStruct(typeId, tableOf(typeId).isAtomic);
    shapes.set(typeId, shape);
  }
  return shape;
}

const shapes = new Map<string, StructShape>();
const text: MergeShape = { kind: 'scalar', form: 'string' };
const number: MergeShape = { kind: 'scalar', form: 'numeric' };
const boolean: MergeShape = { kind: 'scalar', form: 'boolean' };
const untyped: MergeShape = { kind: 'scalar', form: 'untyped' };
const any: MergeShape = { kind: 'any' };

class TableStruct implements StructShape {
  readonly kind = 'struct';
  readonly name: string;
  readonly isAtomic: boolean;
  readonly rest = undefined;
  readonly isCustom = false;
  readonly #typeId: string;
  #sortedFields: readonly FieldShape[] | undefined;
  #fields: ReadonlyMap<string, FieldShape> | undefined;

  constructor(typeId: string, isAtomic: boolean) {
    this.name = shortName(typeId);
    this.isAtomic = isAtomic;
    this.#typeId = typeId;
  }

  /** Created on access, because types contain each other. */
  get sortedFields(): readonly FieldShape[] {
    this.#sortedFields ??= fieldsOf(this.#typeId).map(fieldShape).sort(byName);
    return this.#sortedFields;
  }

  get fields(): ReadonlyMap<string, FieldShape> {
    this.#fields ??= new Map(this.sortedFields.map((field) => [field.name, field]));
    return this.#fields;
  }
}

/** API field names are ASCII, so this is also the order of Go. */
function byName(a: FieldShape, b: FieldShape): number {
  return a.name < b.name ? -1 : 1;
}

function fieldsOf(typeId: string): readonly FieldTable[] {
  return tableOf(typeId).members.flatMap((member) =>
    member.kind === 'field' ? [member] : fieldsOf(member.type),
  );
}

function fieldShape(field: FieldTable): FieldShape {
  const strategy = field.patchStrategies.find((name) => name === 'merge' || name === 'replace');
  return {
    name: field.name,
    element: `f:${field.name}`,
    shape: shapeOfField(field),
    strategy: strategy as FieldShape['strategy'],
    mergeKey: field.mergeKey ?? '',
    zero: zeroOf(field),
  };
}

function shapeOfField(field: FieldTable): MergeShape {
  const { type, mapType } = field;
  if (type.form === 'list') return listShape(field, type.element);
  if (type.form === 'map')
    return { kind: 'map', isAtomic: mapType === 'atomic', value: shapeOfValue(type.element) };
  if (type.form === 'struct' && mapType !== undefined) return new TableStruct(type.id, mapType === 'atomic');
  return shapeOfValue(type);
}

function listShape({ listType, listKeys }: FieldTable, element: ValueType): ListShape {
  const names = element.form === 'struct' ? listKeys : [];
  const keys = names.toSorted().map((name) => listKey(name, (element as { readonly id: string }).id));
  return {
    kind: 'list',
    relation: listType ?? 'atomic',
    keys,
    keyOrder: names,
    element: shapeOfValue(element),
  };
}

function listKey(name: string, elementId: string): ListKey {
  const json = fieldsOf(elementId).find((field) => field.name === name)?.defaultJson;
  return { name, whenAbsent: json === undefined ? undefined : JSON.parse(json) };
}

function shapeOfValue(type: ValueType): MergeShape {
  switch (type.form) {
    case 'struct':
      return shapeOfType(type.id);
    case 'list':
      return {
        kind: 'list',
        relation: 'atomic',
        keys: [],
        keyOrder: [],
        element: shapeOfValue(type.element),
      };
    case 'map':
      return { kind: 'map', isAtomic: false, value: shapeOfValue(type.element) };
    case 'rawExtension':
    case 'fieldsV1':
      return any;
    case 'string':
    case 'bytes':
      return text;
    case 'int32':
    case 'int64':
    case 'float64':
      return number;
    // JSON of any type, and schemas in several forms.
    case 'json':
    case 'schemaOrBool':
    case 'schemaOrList':
    case 'schemaOrNames':
      return deducedShape;
    case 'bool':
      return boolean;
    default:
      return untyped;
  }
}

function zeroOf({ type, isPointer, omitsEmpty, omitsZero }: FieldTable): Json | undefined {
  if (omitsZero) return undefined;
  const isNullable = isPointer || type.form === 'list' || type.form === 'map' || type.form === 'bytes';
  if (isNullable) return omitsEmpty ? undefined : null;
  if (type.form in structZeros) return structZeros[type.form];
  return omitsEmpty ? undefined : plainZeros[type.form];
}

/** Structs in Go, which `omitempty` does not omit. */
const structZeros: Readonly<Record<string, Json>> = {
  struct: {},
  quantity: '0',
  time: null,
  microTime: null,
  intOrString: 0,
  rawExtension: null,
};

const plainZeros: Readonly<Record<string, Json>> = { string: '', bool: false, int32: 0, int64: 0 };
