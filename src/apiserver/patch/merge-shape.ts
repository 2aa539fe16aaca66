import { JsonNumber } from '../../kube/go/json-number.ts';
import type { Json } from '../../kube/go/json-value.ts';

/**
 * What merging and comparing must know about a type: how its parts hang together, and which parts of a list are the same
 * element. Shapes point to each other, so whoever walks an object walks its shape along, without a look-up by name.
 */
export type MergeShape = ScalarShape | AnyShape | DeducedShape | MapShape | ListShape | StructShape;

/** Texts, numbers, quantities, times: nothing to look into. */
export interface ScalarShape {
  readonly kind: 'scalar';
  /** What JSON has for it; `untyped` where several forms will do, as for quantities. */
  readonly form: 'string' | 'numeric' | 'boolean' | 'untyped';
}

/** JSON of any form, owned and replaced as a whole, such as the data of a ControllerRevision. */
export interface AnyShape {
  readonly kind: 'any';
}

/**
 * JSON whose form shows only in the value: a map goes by one shape, a list by another, anything else is a scalar. Null is taken
 * for a map. Custom kinds have it where their schema leaves the type open.
 */
export interface DeducedShape {
  readonly kind: 'deduced';
  readonly map: MapShape | StructShape;
  readonly list: ListShape;
}

export interface MapShape {
  readonly kind: 'map';
  /** Owned and replaced as a whole. */
  readonly isAtomic: boolean;
  readonly value: MergeShape;
}

export interface ListShape {
  readonly kind: 'list';
  /** Whether elements are themselves by place (`atomic`), by value (`set`) or by some of their fields (`map`). */
  readonly relation: 'atomic' | 'set' | 'map';
  /** For `map`, by name. */
  readonly keys: readonly ListKey[];
  /** The same names in the order of the declaration, for messages. */
  readonly keyOrder: readonly string[];
  readonly element: MergeShape;
}

export interface ListKey {
  readonly name: string;
  /** What an element without this field is taken to have; undefined where it then has no such key. */
  readonly whenAbsent: string | number | boolean | undefined;
}

export interface StructShape {
  readonly kind: 'struct';
  /** Kubernetes' name of the type, as messages show it: `PodSpec`. */
  readonly name: string;
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, FieldShape>;
  /** The same, by name. */
  readonly sortedFields: readonly FieldShape[];
  /** What fields are that have no name here, where there may be such: custom kinds that keep what they do not know. */
  readonly rest: MergeShape | undefined;
  /** Made from a schema that somebody may change, so that what is stored need not fit. */
  readonly isCustom: boolean;
}

export interface FieldShape {
  readonly name: string;
  /** The step to it, as managedFields spell it: `f:name`. Made once, because it is used as a key over and over. */
  readonly element: string;
  readonly shape: MergeShape;
  /** How a strategic merge patch treats it where it does not say so itself. */
  readonly strategy: 'merge' | 'replace' | undefined;
  /** Which field tells the elements of a merging list apart, for a strategic merge patch; may be empty. */
  readonly mergeKey: string;
  /**
   * What Kubernetes' servers have where the JSON leaves the field out: an empty struct, null, an empty text or 0.
   * Undefined for the many fields that are then simply not there.
   */
  readonly zero: Json | undefined;
}

/** The shape by which a value of unknown form goes. */
export function shapeForValue(
  { map, list }: DeducedShape,
  value: Json,
): MapShape | StructShape | ListShape | ScalarShape {
  if (value === null || isMapForm(value)) return map;
  return Array.isArray(value) ? list : untypedScalar;
}

const untypedScalar: ScalarShape = { kind: 'scalar', form: 'untyped' };

/** Numbers that JavaScript would round come as objects of a class. */
function isMapForm(value: Json): boolean {
  return typeof value === 'object' && !Array.isArray(value) && !((value as unknown) instanceof JsonNumber);
}

/** What is below a name in a map or struct; undefined where its type has no such field. */
export function shapeOfField(shape: MapShape | StructShape, name: string): MergeShape | undefined {
  return shape.kind === 'map' ? shape.value : (shape.fields.get(name)?.shape ?? shape.rest);
}
