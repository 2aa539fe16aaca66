import { isJsonObject, type Json } from '../../kube/go/json-value.ts';

/**
 * What merging and comparing must know about a type: which parts it has, and when two elements of a list are the same
 * element. Shapes refer to each other, so code that walks an object walks its shape in parallel, without lookups by
 * name.
 */
export type MergeShape = ScalarShape | AnyShape | DeducedShape | MapShape | ListShape | StructShape;

/** Texts, numbers, quantities, times: values without parts. */
export interface ScalarShape {
  readonly kind: 'scalar';
  /** The JSON type of the value; `untyped` if several types are valid, as for quantities. */
  readonly form: 'string' | 'numeric' | 'boolean' | 'untyped';
}

/** JSON of any type, owned and replaced as a whole, such as the data of a ControllerRevision. */
export interface AnyShape {
  readonly kind: 'any';
}

/**
 * JSON whose type only the value shows: a map has one shape, a list another, and any other value is a scalar. Null
 * counts as a map. Custom kinds use it for fields whose type the schema leaves open.
 */
export interface DeducedShape {
  readonly kind: 'deduced';
  readonly map: MapShape | StructShape;
  readonly list: ListShape;
}

export interface MapShape {
  readonly kind: 'map';
  /** Whether managers own it, and patches replace it, as a whole. */
  readonly isAtomic: boolean;
  readonly value: MergeShape;
}

export interface ListShape {
  readonly kind: 'list';
  /** What identifies an element: its position (`atomic`), its value (`set`) or some of its fields (`map`). */
  readonly relation: 'atomic' | 'set' | 'map';
  /** The key fields of a `map`, sorted by name. */
  readonly keys: readonly ListKey[];
  /** The names of the keys in the order of the declaration, which error messages use. */
  readonly keyOrder: readonly string[];
  readonly element: MergeShape;
}

export interface ListKey {
  readonly name: string;
  /** The value that counts for an element without this field; undefined if such an element does not have this key. */
  readonly whenAbsent: string | number | boolean | undefined;
}

export interface StructShape {
  readonly kind: 'struct';
  /** Kubernetes' name of the type, which error messages show: `PodSpec`. */
  readonly name: string;
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, FieldShape>;
  /** The same fields, sorted by name. */
  readonly sortedFields: readonly FieldShape[];
  /**
   * The shape of fields that `fields` does not list. Undefined if there may be none; only custom kinds that preserve
   * unknown fields have it.
   */
  readonly rest: MergeShape | undefined;
  /**
   * Whether the shape comes from the schema of a custom kind, which can change, so that stored objects need not fit it.
   */
  readonly isCustom: boolean;
}

export interface FieldShape {
  readonly name: string;
  /** The path element of the field in managedFields: `f:name`. Precomputed because it is used as a key very often. */
  readonly element: string;
  readonly shape: MergeShape;
  /** How a strategic merge patch merges the field if the patch itself has no directive. */
  readonly strategy: 'merge' | 'replace' | undefined;
  /** The field that identifies the elements of a merging list, for a strategic merge patch; may be empty. */
  readonly mergeKey: string;
  /**
   * The value that the field has in Kubernetes' Go types if JSON leaves it out: an empty struct, null, an empty text or
   * 0. Undefined for fields that are then absent.
   */
  readonly zero: Json | undefined;
}

/** The shape that applies to a value whose type the schema leaves open. */
export function shapeForValue(
  { map, list }: DeducedShape,
  value: Json,
): MapShape | StructShape | ListShape | ScalarShape {
  if (value === null || isJsonObject(value)) return map;
  return Array.isArray(value) ? list : untypedScalar;
}

const untypedScalar: ScalarShape = { kind: 'scalar', form: 'untyped' };

/** The shape of a field of a map or struct; undefined if its type has no such field. */
export function shapeOfField(shape: MapShape | StructShape, name: string): MergeShape | undefined {
  return shape.kind === 'map' ? shape.value : (shape.fields.get(name)?.shape ?? shape.rest);
}
