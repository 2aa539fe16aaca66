import { isEqualJson } from '../../kube/deep-equal.ts';
import {
  isEmptyObject,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  ownValue,
} from '../../kube/go/json-value.ts';
import { compareUtf8, sortedKeys } from '../../kube/sorted-keys.ts';
import {
  type DeducedShape,
  type ListShape,
  type MapShape,
  type MergeShape,
  type StructShape,
  shapeForValue,
  shapeOfField,
} from '../patch/merge-shape.ts';
import { type FieldSet, leaf, union, unionNodes } from './field-set.ts';
import { compareElements, keyElement, type PathElement, valueElement } from './path-element.ts';

/** The paths that a change touches. No path is in two of the sets; undefined means none. */
export interface Comparison {
  readonly added?: FieldSet;
  readonly modified?: FieldSet;
  readonly removed?: FieldSet;
}

/** A list element without an identity, or an object that does not fit its type; such objects have no field owners. */
export class UntypableError extends Error {}

/**
 * The differences between two objects, by the shape of their type: a list element is compared with the element of the
 * same key or value at any position, and atomic parts as a whole. Undefined if nothing differs.
 *
 * Both objects must be in the normal form of their type; metadata.managedFields is ignored. Optimized for the usual
 * case that nearly everything is equal: path elements are created only for differences.
 */
export function compareTyped(old: JsonObject, next: JsonObject, shape: StructShape): Comparison | undefined {
  return compare(withoutOwners(old), withoutOwners(next), shape);
}

/** Only at the root of the object: elsewhere `managedFields` is an ordinary name. */
function withoutOwners(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The paths of a value that is new: itself and everything below it. */
export function fieldSetOf(value: Json, shape: MergeShape): FieldSet {
  switch (shape.kind) {
    case 'struct':
      return shape.isAtomic || !isJsonObject(value) ? leaf : fieldsOfStruct(value, shape);
    case 'map':
      return shape.isAtomic || !isJsonObject(value) ? leaf : fieldsOfMap(value, shape);
    case 'list':
      return shape.relation === 'atomic' || !isJsonArray(value) ? leaf : fieldsOfList(value, shape);
    case 'deduced':
      return fieldSetOf(value, shapeForValue(shape, value));
    case 'any':
    case 'scalar':
      return leaf;
  }
}

function fieldsOfStruct(value: JsonObject, { fields, rest }: StructShape): FieldSet {
  if (isEmptyObject(value)) return leaf;
  const node: Record<PathElement, FieldSet> = { '.': leaf };
  for (const name of sortedKeys(value)) {
    const field = fields.get(name);
    const shape = field?.shape ?? rest;
    const inner = value[name];
    // The server sets absent fields of metadata to undefined.
    if (shape === undefined || inner === undefined) continue;
    const element = field === undefined ? `f:${name}` : field.element;
    node[element] = shape.kind === 'scalar' ? leaf : fieldSetOf(inner, shape);
  }
  return node;
}

function fieldsOfMap(value: JsonObject, { value: shape }: MapShape): FieldSet {
  const names = sortedKeys(value);
  if (names.length === 0) return leaf;
  const node: Record<PathElement, FieldSet> = { '.': leaf };
  for (const name of names) node[`f:${name}`] = fieldSetOf(value[name]!, shape);
  return node;
}

function fieldsOfList(list: readonly Json[], shape: ListShape): FieldSet {
  if (list.length === 0) return leaf;
  const items = [...indexItems(list, shape)];
  if (items.length > 1) items.sort((a, b) => compareIndexedItems(a, b, shape));
  const node: Record<PathElement, FieldSet> = { '.': leaf };
  for (const [element, same] of items) {
    node[element] = same.length > 1 ? leaf : fieldSetOf(same[0]!, shape.element);
  }
  return node;
}

type IndexedItems = readonly [element: PathElement, same: readonly Json[]];

/** Like `compareElements`, but compares the values from which the elements were made. */
function compareIndexedItems(
  [a, [left]]: IndexedItems,
  [b, [right]]: IndexedItems,
  { keys }: ListShape,
): number {
  for (const { name, whenAbsent } of keys) {
    const x = (left as JsonObject)[name] ?? whenAbsent;
    const y = (right as JsonObject)[name] ?? whenAbsent;
    if (x === y) continue;
    if (typeof x === 'string' && typeof y === 'string') return compareUtf8(x, y);
    if (typeof x === 'number' && typeof y === 'number') return x - y;
    break;
  }
  return compareElements(a, b);
}

const addedLeaf: Comparison = { added: leaf };
const modifiedLeaf: Comparison = { modified: leaf };
const removedLeaf: Comparison = { removed: leaf };

function compare(old: Json | undefined, next: Json | undefined, shape: MergeShape): Comparison | undefined {
  if (old === next) return undefined;
  if (old === undefined) return { added: fieldSetOf(next!, shape) };
  if (next === undefined) return { removed: fieldSetOf(old, shape) };
  switch (shape.kind) {
    case 'scalar':
      return modifiedLeaf;
    case 'struct':
      if (shape.isAtomic) return compareLeaves(old, next);
      return shape.rest === undefined ? compareStructs(old, next, shape) : compareMaps(old, next, shape);
    case 'map':
      return shape.isAtomic ? compareLeaves(old, next) : compareMaps(old, next, shape);
    case 'deduced':
      return compareDeduced(old, next, shape);
    case 'list':
      return shape.relation === 'atomic' ? compareLeaves(old, next) : compareLists(old, next, shape);
    case 'any':
      return compareLeaves(old, next);
  }
}

function compareLeaves(old: Json, next: Json): Comparison | undefined {
  return isEqualJson(old, next) ? undefined : modifiedLeaf;
}

function compareStructs(old: Json, next: Json, { fields }: StructShape): Comparison | undefined {
  const [before, after] = [objectOrEmpty(old), objectOrEmpty(next)];
  if (isEmptyObject(before) && isEmptyObject(after)) return compareLeaves(old, next);
  let parts: Part[] | undefined;
  for (const name in after) {
    const field = fields.get(name);
    const is = after[name];
    if (field === undefined || is === undefined) continue;
    const was = ownValue(before, name);
    const change = compare(was === undefined ? field.zero : was, is, field.shape);
    if (change !== undefined) parts = withPart(parts, field.element, change);
  }
  for (const name in before) {
    if (ownValue(after, name) !== undefined) continue;
    const field = fields.get(name);
    if (field === undefined) continue;
    const change = compare(before[name], field.zero, field.shape);
    if (change !== undefined) parts = withPart(parts, field.element, change);
  }
  return combined(parts, compareFields);
}

/** Structs that preserve unknown fields are compared like maps. */
function compareMaps(old: Json, next: Json, shape: MapShape | StructShape): Comparison | undefined {
  const [before, after] = [objectOrEmpty(old), objectOrEmpty(next)];
  if (isEmptyObject(before) && isEmptyObject(after)) return compareLeaves(old, next);
  let parts: Part[] | undefined;
  for (const name in after) {
    const change = compare(ownValue(before, name), after[name], shapeOfField(shape, name)!);
    if (change !== undefined) parts = withPart(parts, `f:${name}`, change);
  }
  for (const name in before) {
    if (Object.hasOwn(after, name)) continue;
    parts = withPart(parts, `f:${name}`, { removed: fieldSetOf(before[name]!, shapeOfField(shape, name)!) });
  }
  return combined(parts, compareParts);
}

/** A value that changes its type is compared by the old type and by the new type. */
function compareDeduced(old: Json, next: Json, shape: DeducedShape): Comparison | undefined {
  const [was, is] = [shapeForValue(shape, old), shapeForValue(shape, next)];
  const change = compare(old, next, is);
  return was === is ? change : joined(compare(old, next, was), change);
}

function joined(a: Comparison | undefined, b: Comparison | undefined): Comparison | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const whole: { added?: FieldSet; modified?: FieldSet; removed?: FieldSet } = {};
  for (const key of ['added', 'modified', 'removed'] as const) {
    const [x, y] = [a[key], b[key]];
    const both = x === undefined || y === undefined ? (x ?? y) : unionNodes(x, y);
    if (both !== undefined) whole[key] = both;
  }
  return whole;
}

function compareLists(old: Json, next: Json, shape: ListShape): Comparison | undefined {
  const before = isJsonArray(old) ? old : [];
  const after = isJsonArray(next) ? next : [];
  if (before.length === 0 && after.length === 0) return compareLeaves(old, next);
  if (isEqualJson(before, after)) return undefined;
  const olds = indexItems(before, shape);
  const nexts = indexItems(after, shape);
  let parts: Part[] | undefined;
  for (const [element, items] of nexts) {
    const change = compareItems(olds.get(element) ?? [], items, shape.element);
    if (change !== undefined) parts = withPart(parts, element, change);
  }
  for (const [element, items] of olds) {
    if (nexts.has(element)) continue;
    const removed = items.length > 1 ? leaf : fieldSetOf(items[0]!, shape.element);
    parts = withPart(parts, element, { removed });
  }
  return combined(parts, compareParts);
}

/** Elements that share a key are compared as one; no manager owns the fields within them. */
function compareItems(
  old: readonly Json[],
  next: readonly Json[],
  shape: MergeShape,
): Comparison | undefined {
  if (old.length < 2 && next.length < 2) return compare(old[0], next[0], shape);
  if (old.length > 1 && next.length > 1) return isEqualJson(old, next) ? undefined : modifiedLeaf;
  if (next.length > 1) {
    return old.length === 0 ? addedLeaf : { added: leaf, removed: fieldSetOf(old[0]!, shape) };
  }
  return next.length === 0 ? removedLeaf : { added: fieldSetOf(next[0]!, shape), removed: leaf };
}

function indexItems(list: readonly Json[], shape: ListShape): ReadonlyMap<PathElement, readonly Json[]> {
  const items = new Map<PathElement, Json[]>();
  for (const item of list) {
    const element = shape.relation === 'set' ? valueElement(item) : keyElement(item, shape.keys);
    if (element === undefined) throw new UntypableError('a list element has no key');
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  }
  return items;
}

interface Part {
  readonly element: PathElement;
  readonly change: Comparison;
}

function withPart(parts: Part[] | undefined, element: PathElement, change: Comparison): Part[] {
  if (parts === undefined) return [{ element, change }];
  parts.push({ element, change });
  return parts;
}

/** Between fields, the kind of the path element need not be compared. */
function compareFields(a: Part, b: Part): number {
  return compareUtf8(a.element, b.element);
}

function compareParts(a: Part, b: Part): number {
  return compareElements(a.element, b.element);
}

function combined(parts: Part[] | undefined, order: typeof compareParts): Comparison | undefined {
  if (parts === undefined) return undefined;
  if (parts.length > 1) parts.sort(order);
  const whole: { added?: FieldSet; modified?: FieldSet; removed?: FieldSet } = {};
  for (const key of ['added', 'modified', 'removed'] as const) {
    let node: Record<PathElement, FieldSet> | undefined;
    for (const { element, change } of parts) {
      const inner = change[key];
      if (inner === undefined) continue;
      node ??= {};
      node[element] = inner;
    }
    if (node !== undefined) whole[key] = node;
  }
  return whole;
}

function objectOrEmpty(value: Json): JsonObject {
  return isJsonObject(value) ? value : empty;
}

const empty: JsonObject = {};

/** Added and modified paths: the ones that the writer now owns. */
export function takenFields({ added, modified }: Comparison): FieldSet {
  return union(added ?? leaf, modified ?? leaf);
}
