import { type FieldSet, leaf } from '../managed-fields/field-set.ts';
import { compareElements, compareTexts, type PathElement } from '../managed-fields/path-element.ts';
import { isArray, isObject, type Json, type JsonObject, own } from '../patch/json-value.ts';
import type { ListShape, Shape, StructShape } from '../patch/shape.ts';
import { elementOf } from './list-elements.ts';

/**
 * What a configuration names, and its applier therefore owns: values, atomic parts, entries of maps and elements of lists.
 * A struct that has fields is not named by itself, and an empty list names nothing.
 */
export function appliedFields(value: JsonObject, shape: StructShape): FieldSet {
  return structNode(value, shape) ?? leaf;
}

type Node = Record<PathElement, FieldSet>;

/** The part of the set below a path, which itself belongs to it where the node is empty or holds a `.`. */
function nodeOf(value: Json, shape: Shape): FieldSet | undefined {
  if (value === null) return leaf;
  switch (shape.kind) {
    case 'scalar':
    case 'any':
      return leaf;
    case 'struct':
      return shape.isAtomic || !isObject(value) || isBare(value) ? leaf : structNode(value, shape);
    case 'map':
      return shape.isAtomic || !isObject(value) || isBare(value) ? leaf : mapNode(value, shape.value);
    case 'list':
      return shape.relation === 'atomic' || !isArray(value) ? leaf : listNode(value, shape);
  }
}

function structNode(value: JsonObject, { sortedFields }: StructShape): FieldSet | undefined {
  let node: Node | undefined;
  for (const { name, element, shape } of sortedFields) {
    const field = own(value, name);
    const inner = field === undefined ? undefined : nodeOf(field, shape);
    if (inner === undefined) continue;
    node ??= {};
    node[element] = inner;
  }
  return node;
}

function mapNode(value: JsonObject, shape: Shape): FieldSet {
  const node: Node = {};
  for (const name of Object.keys(value).sort(compareTexts)) {
    node[`f:${name}`] = asMember(nodeOf(value[name]!, shape));
  }
  return node;
}

function listNode(list: readonly Json[], shape: ListShape): FieldSet | undefined {
  if (list.length === 0) return undefined;
  const nodes = new Map<PathElement, FieldSet>();
  for (const item of list) {
    const element = elementOf(item, shape);
    // Of elements that share a key nobody owns the inside.
    nodes.set(element, nodes.has(element) ? leaf : asMember(nodeOf(item, shape.element)));
  }
  const node: Node = {};
  for (const element of [...nodes.keys()].sort(compareElements)) node[element] = nodes.get(element)!;
  return node;
}

function asMember(node: FieldSet | undefined): FieldSet {
  if (node === undefined || isBare(node)) return leaf;
  return '.' in node ? node : { '.': leaf, ...node };
}

function isBare(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
