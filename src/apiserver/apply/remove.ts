import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  setKey,
} from '../../kube/go/json-value.ts';
import { type FieldSet, hasChildren, isPathInSet, leaf } from '../managed-fields/field-set.ts';
import { listElement } from '../managed-fields/list-elements.ts';
import type { PathElement } from '../managed-fields/path-element.ts';
import {
  type ListShape,
  type MapShape,
  type MergeShape,
  type StructShape,
  shapeForValue,
  shapeOfField,
} from '../patch/merge-shape.ts';

/**
 * The object without the paths of the set. A part that becomes empty becomes null, which normalization reads as not
 * set.
 */
export function removeFields(object: JsonObject, set: FieldSet, shape: StructShape): JsonObject {
  if (!hasChildren(set)) return object;
  return (without(object, set, shape) as JsonObject | null) ?? {};
}

function without(value: Json, set: FieldSet, shape: MergeShape): Json {
  switch (shape.kind) {
    case 'scalar':
      return value;
    case 'list':
      if (!isJsonArray(value) || shape.relation === 'atomic') return null;
      return withoutElements(value, set, shape);
    case 'struct':
    case 'map':
      if (!isJsonObject(value) || shape.isAtomic) return null;
      return withoutFields(value, set, shape);
    case 'deduced':
      return without(value, set, shapeForValue(shape, value));
    case 'any':
      return isJsonObject(value) || isJsonArray(value) ? null : value;
  }
}

function withoutFields(value: JsonObject, set: FieldSet, shape: MapShape | StructShape): Json {
  const kept: JsonDraft = {};
  for (const name of Object.keys(value)) {
    const node = set[`f:${name}`];
    if (node !== undefined && isPathInSet(node)) continue;
    setKey(
      kept,
      name,
      node === undefined ? value[name]! : without(value[name]!, node, shapeOfField(shape, name) ?? shape),
    );
  }
  return Object.keys(kept).length === 0 ? null : kept;
}

function withoutElements(list: readonly Json[], set: FieldSet, shape: ListShape): Json {
  const kept: Json[] = [];
  for (const item of list) {
    const node = set[listElement(item, shape)];
    if (node !== undefined && isPathInSet(node)) continue;
    kept.push(node === undefined ? item : without(item, node, shape.element));
  }
  return kept.length === 0 ? null : kept;
}

/**
 * Adds every struct field that has a path below it to the set. Field sets do not include those fields for an applier;
 * they are needed to remove a struct whose last field is removed.
 */
export function withNamedFields(set: FieldSet, shape: MergeShape | undefined): FieldSet {
  const node: Record<PathElement, FieldSet> = {};
  for (const element in set) {
    const inner = set[element]!;
    if (element === '.' || !hasChildren(inner)) {
      node[element] = inner;
      continue;
    }
    const named = withNamedFields(inner, shapeBelow(shape, element));
    const isField = isFieldOf(shape, element);
    node[element] = isField && !('.' in named) ? { '.': leaf, ...named } : named;
  }
  return node;
}

function isFieldOf(shape: MergeShape | undefined, element: PathElement): boolean {
  const map = shape?.kind === 'deduced' ? shape.map : shape;
  return map?.kind === 'struct' && element.startsWith('f:') && map.fields.has(element.slice(2));
}

function shapeBelow(shape: MergeShape | undefined, element: PathElement): MergeShape | undefined {
  if (shape === undefined) return undefined;
  if (element.startsWith('k:')) {
    const list = shape.kind === 'deduced' ? shape.list : shape;
    return list.kind === 'list' ? list.element : undefined;
  }
  if (!element.startsWith('f:')) return undefined;
  const map = shape.kind === 'deduced' ? shape.map : shape;
  return map.kind === 'map' || map.kind === 'struct' ? shapeOfField(map, element.slice(2)) : undefined;
}
