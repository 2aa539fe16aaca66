import {
  isEmptyObject,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../kube/go/json-value.ts';
import { sortedKeys } from '../../kube/sorted-keys.ts';
import { type FieldSet, leaf } from '../managed-fields/field-set.ts';
import { listElement } from '../managed-fields/list-elements.ts';
import { compareElements, type PathElement } from '../managed-fields/path-element.ts';
import { type ListShape, type MergeShape, type StructShape, shapeForValue } from '../patch/merge-shape.ts';

/**
 * The fields that a configuration names, which its applier therefore owns: values, atomic parts, entries of maps and
 * elements of lists. A struct that has fields is not named itself, and an empty list names nothing.
 */
export function appliedFields(value: JsonObject, shape: StructShape): FieldSet {
  return (shape.isAtomic ? undefined : structNode(value, shape)) ?? leaf;
}

type Node = Record<PathElement, FieldSet>;

/** The part of the set below a path. The path itself belongs to the set if the node is empty or has a `.`. */
function nodeOf(value: Json, shape: MergeShape): FieldSet | undefined {
  if (value === null) return leaf;
  switch (shape.kind) {
    case 'scalar':
    case 'any':
      return leaf;
    case 'struct':
      return shape.isAtomic || !isJsonObject(value) || isEmptyObject(value) ? leaf : structNode(value, shape);
    case 'map':
      return shape.isAtomic || !isJsonObject(value) || isEmptyObject(value)
        ? leaf
        : mapNode(value, shape.value);
    case 'deduced':
      return nodeOf(value, shapeForValue(shape, value));
    case 'list':
      return shape.relation === 'atomic' || !isJsonArray(value) ? leaf : listNode(value, shape);
  }
}

/** A field that the type does not name, if the type allows such fields, is owned like an entry of a map. */
function structNode(value: JsonObject, { fields, rest }: StructShape): FieldSet | undefined {
  let node: Node | undefined;
  for (const name of sortedKeys(value)) {
    const field = fields.get(name);
    const shape = field?.shape ?? rest;
    const part = value[name];
    if (shape === undefined || part === undefined) continue;
    const inner = shape.kind === 'scalar' ? leaf : nodeOf(part, shape);
    if (field !== undefined && inner === undefined) continue;
    node ??= {};
    if (field === undefined) node[`f:${name}`] = asMember(inner);
    else node[field.element] = inner!;
  }
  return node;
}

function mapNode(value: JsonObject, shape: MergeShape): FieldSet {
  const node: Node = {};
  for (const name of sortedKeys(value)) {
    node[`f:${name}`] = asMember(nodeOf(value[name]!, shape));
  }
  return node;
}

function listNode(list: readonly Json[], shape: ListShape): FieldSet | undefined {
  if (list.length === 0) return undefined;
  const nodes = new Map<PathElement, FieldSet>();
  for (const item of list) {
    const element = listElement(item, shape);
    // If elements share a key, no manager owns the fields within them.
    nodes.set(element, nodes.has(element) ? leaf : asMember(nodeOf(item, shape.element)));
  }
  const node: Node = {};
  for (const element of [...nodes.keys()].sort(compareElements)) node[element] = nodes.get(element)!;
  return node;
}

function asMember(node: FieldSet | undefined): FieldSet {
  if (node === undefined || isEmptyObject(node)) return leaf;
  return '.' in node ? node : { '.': leaf, ...node };
}
