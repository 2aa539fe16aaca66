import { isArray, isEqual, isObject, type Json, type JsonObject, own } from '../patch/json-value.ts';
import type { ListShape, MapShape, Shape, StructShape } from '../patch/shape.ts';
import { type FieldSet, leaf, union } from './field-set.ts';
import { compareElements, compareTexts, keyElement, type PathElement, valueElement } from './path-element.ts';

/** Which paths a change touches. No path is in two of them; undefined stands for none. */
export interface Comparison {
  readonly added?: FieldSet;
  readonly modified?: FieldSet;
  readonly removed?: FieldSet;
}

/** A list element that cannot be told apart from others; such objects have no field owners. */
export class UntypableError extends Error {}

/**
 * What differs between two objects, seen with the shape of their type: elements of lists are compared with the element of
 * the same key or value wherever it stands, atomic parts as a whole. Undefined where nothing differs.
 *
 * Both are in the normal form of their type; metadata.managedFields is not looked at. Made for the usual case that nearly
 * everything is the same: names and keys are spelled out only for what differs.
 */
export function compareTyped(old: JsonObject, next: JsonObject, shape: StructShape): Comparison | undefined {
  return compare(old, next, shape);
}

/** The paths of a value that nobody had before: itself and all below it. */
export function fieldsOf(value: Json, shape: Shape): FieldSet {
  switch (shape.kind) {
    case 'struct':
      return shape.isAtomic || !isObject(value) ? leaf : fieldsOfStruct(value, shape);
    case 'map':
      return shape.isAtomic || !isObject(value) ? leaf : fieldsOfMap(value, shape.value);
    case 'list':
      return shape.relation === 'atomic' || !isArray(value) ? leaf : fieldsOfList(value, shape);
    case 'any':
    case 'scalar':
      return leaf;
  }
}

function fieldsOfStruct(value: JsonObject, { sortedFields }: StructShape): FieldSet {
  if (isBare(value)) return leaf;
  const node: Record<PathElement, FieldSet> = { '.': leaf };
  for (let i = 0; i < sortedFields.length; i++) {
    const { name, element, shape } = sortedFields[i]!;
    const inner = value[name];
    if (inner !== undefined) node[element] = shape.kind === 'scalar' ? leaf : fieldsOf(inner, shape);
  }
  return node;
}

function fieldsOfMap(value: JsonObject, shape: Shape): FieldSet {
  const names = Object.keys(value).sort(compareTexts);
  if (names.length === 0) return leaf;
  const node: Record<PathElement, FieldSet> = { '.': leaf };
  for (const name of names) node[`f:${name}`] = fieldsOf(value[name]!, shape);
  return node;
}

function fieldsOfList(list: readonly Json[], shape: ListShape): FieldSet {
  if (list.length === 0) return leaf;
  const items = [...indexed(list, shape)];
  if (items.length > 1) items.sort((a, b) => compareIndexed(a, b, shape));
  const node: Record<PathElement, FieldSet> = { '.': leaf };
  for (const [element, same] of items) {
    node[element] = same.length > 1 ? leaf : fieldsOf(same[0]!, shape.element);
  }
  return node;
}

type Indexed = readonly [element: PathElement, same: readonly Json[]];

/** As `compareElements`, by what the elements were made from. */
function compareIndexed([a, [left]]: Indexed, [b, [right]]: Indexed, { keys }: ListShape): number {
  for (const { name, whenAbsent } of keys) {
    const x = (left as JsonObject)[name] ?? whenAbsent;
    const y = (right as JsonObject)[name] ?? whenAbsent;
    if (x === y) continue;
    if (typeof x === 'string' && typeof y === 'string') return compareTexts(x, y);
    if (typeof x === 'number' && typeof y === 'number') return x - y;
    break;
  }
  return compareElements(a, b);
}

const addedLeaf: Comparison = { added: leaf };
const modifiedLeaf: Comparison = { modified: leaf };
const removedLeaf: Comparison = { removed: leaf };

function compare(old: Json | undefined, next: Json | undefined, shape: Shape): Comparison | undefined {
  if (old === next) return undefined;
  if (old === undefined) return { added: fieldsOf(next!, shape) };
  if (next === undefined) return { removed: fieldsOf(old, shape) };
  switch (shape.kind) {
    case 'scalar':
      return modifiedLeaf;
    case 'struct':
      return shape.isAtomic ? compareLeaves(old, next) : compareStructs(old, next, shape);
    case 'map':
      return shape.isAtomic ? compareLeaves(old, next) : compareMaps(old, next, shape);
    case 'list':
      return shape.relation === 'atomic' ? compareLeaves(old, next) : compareLists(old, next, shape);
    case 'any':
      return compareLeaves(old, next);
  }
}

function compareLeaves(old: Json, next: Json): Comparison | undefined {
  return isEqual(old, next) ? undefined : modifiedLeaf;
}

function compareStructs(old: Json, next: Json, { fields }: StructShape): Comparison | undefined {
  const [before, after] = [objectOrEmpty(old), objectOrEmpty(next)];
  if (isBare(before) && isBare(after)) return compareLeaves(old, next);
  let parts: Part[] | undefined;
  for (const name in after) {
    const field = name === 'managedFields' ? undefined : fields.get(name);
    if (field === undefined) continue;
    const was = before[name];
    const change = compare(was === undefined ? field.zero : was, after[name], field.shape);
    if (change !== undefined) parts = withPart(parts, field.element, change);
  }
  for (const name in before) {
    if (after[name] !== undefined || name === 'managedFields') continue;
    const field = fields.get(name);
    if (field === undefined) continue;
    const change = compare(before[name], field.zero, field.shape);
    if (change !== undefined) parts = withPart(parts, field.element, change);
  }
  return combined(parts, compareFields);
}

function compareMaps(old: Json, next: Json, { value: shape }: MapShape): Comparison | undefined {
  const [before, after] = [objectOrEmpty(old), objectOrEmpty(next)];
  if (isBare(before) && isBare(after)) return compareLeaves(old, next);
  let parts: Part[] | undefined;
  for (const name in after) {
    const change = compare(own(before, name), after[name], shape);
    if (change !== undefined) parts = withPart(parts, `f:${name}`, change);
  }
  for (const name in before) {
    if (Object.hasOwn(after, name)) continue;
    parts = withPart(parts, `f:${name}`, { removed: fieldsOf(before[name]!, shape) });
  }
  return combined(parts, compareParts);
}

function compareLists(old: Json, next: Json, shape: ListShape): Comparison | undefined {
  const before = isArray(old) ? old : [];
  const after = isArray(next) ? next : [];
  if (before.length === 0 && after.length === 0) return compareLeaves(old, next);
  if (isEqual(before, after)) return undefined;
  const olds = indexed(before, shape);
  const nexts = indexed(after, shape);
  let parts: Part[] | undefined;
  for (const [element, items] of nexts) {
    const change = compareItems(olds.get(element) ?? [], items, shape.element);
    if (change !== undefined) parts = withPart(parts, element, change);
  }
  for (const [element, items] of olds) {
    if (nexts.has(element)) continue;
    const removed = items.length > 1 ? leaf : fieldsOf(items[0]!, shape.element);
    parts = withPart(parts, element, { removed });
  }
  return combined(parts, compareParts);
}

/** Elements that share a key are compared as one; nobody owns what is inside of them. */
function compareItems(old: readonly Json[], next: readonly Json[], shape: Shape): Comparison | undefined {
  if (old.length < 2 && next.length < 2) return compare(old[0], next[0], shape);
  if (old.length > 1 && next.length > 1) return isEqual(old, next) ? undefined : modifiedLeaf;
  if (next.length > 1) {
    return old.length === 0 ? addedLeaf : { added: leaf, removed: fieldsOf(old[0]!, shape) };
  }
  return next.length === 0 ? removedLeaf : { added: fieldsOf(next[0]!, shape), removed: leaf };
}

function indexed(list: readonly Json[], shape: ListShape): ReadonlyMap<PathElement, readonly Json[]> {
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

/** Between fields of the API, whose names are ASCII. */
function compareFields(a: Part, b: Part): number {
  return a.element < b.element ? -1 : 1;
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
  return isObject(value) ? value : empty;
}

const empty: JsonObject = {};

function isBare(value: JsonObject): boolean {
  for (const _ in value) return false;
  return true;
}

/** Added and modified paths together: what the writer now owns. */
export function takenBy({ added, modified }: Comparison): FieldSet {
  return union(added ?? leaf, modified ?? leaf);
}
