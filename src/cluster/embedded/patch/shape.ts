import type { Json } from './json-value.ts';

/**
 * What merging and comparing must know about a type: how its parts hang together, and which parts of a list are the same
 * element. Shapes point to each other, so whoever walks an object walks its shape along, without a look-up by name.
 */
export type Shape = ScalarShape | AnyShape | MapShape | ListShape | StructShape;

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

export interface MapShape {
  readonly kind: 'map';
  /** Owned and replaced as a whole. */
  readonly isAtomic: boolean;
  readonly value: Shape;
}

export interface ListShape {
  readonly kind: 'list';
  /** Whether elements are themselves by place (`atomic`), by value (`set`) or by some of their fields (`map`). */
  readonly relation: 'atomic' | 'set' | 'map';
  /** For `map`, by name. */
  readonly keys: readonly ListKey[];
  readonly element: Shape;
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
}

export interface FieldShape {
  readonly name: string;
  /** The step to it, as managedFields spell it: `f:name`. Made once, because it is used as a key over and over. */
  readonly element: string;
  readonly shape: Shape;
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
