import { isJsonObject } from '../../kube/go/json-value.ts';
import { canonicalElement, compareElements, type PathElement } from './path-element.ts';

/**
 * A set of paths, in exactly the form in which managedFields store it (`fieldsV1`): a tree whose path elements are in
 * Kubernetes' order.
 *
 *     {"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}}}}}
 *
 * An element without children is a path of the set; an element with children is one only if it also has a `.`.
 * Immutable: an operation returns new sets that share unchanged parts, or its argument if nothing changes.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

type FieldSetDraft = Record<PathElement, FieldSet>;

const self = '.';
/** Deeper than any API type; a deeper set can only be an attempt to overflow the stack. */
const depthMax = 256;

/** A path that ends here. As a whole set: no path. */
export const leaf: FieldSet = Object.freeze({});

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** The paths of either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  let changed: FieldSetDraft | undefined;
  let hasMore = false;
  for (const element in b) {
    if (element === self) continue;
    const mine = a[element];
    if (mine === undefined) hasMore = true;
    else {
      const both = unionNodes(mine, b[element]!);
      if (both !== mine) {
        changed ??= { ...a };
        changed[element] = both;
      }
    }
  }
  return hasMore ? interleave(changed ?? a, b) : (changed ?? a);
}

/** The paths of all sets. By halves, because one set after the other would copy everything once per set. */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  const [only, second] = sets;
  if (only === undefined || second === undefined) return only ?? leaf;
  const middle = sets.length >> 1;
  return union(unionAll(sets.slice(0, middle)), unionAll(sets.slice(middle)));
}

/** The same for two nodes below a path element. */
export function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(b)) return withSelf(a);
  if (isEmptySet(a)) return withSelf(b);
  const both = union(a, b);
  return self in b ? withSelf(both) : both;
}

function withSelf(node: FieldSet): FieldSet {
  return self in node || isEmptySet(node) ? node : { [self]: leaf, ...node };
}

/** The elements of `a`, and those of `b` that are not in `a`, in order. */
function interleave(a: FieldSet, b: FieldSet): FieldSet {
  const merged: FieldSetDraft = {};
  const more = Object.keys(b).filter((element) => element !== self && !(element in a));
  let i = 0;
  for (const element in a) {
    while (element !== self && i < more.length && compareElements(more[i]!, element) < 0) {
      merged[more[i]!] = b[more[i]!]!;
      i++;
    }
    merged[element] = a[element]!;
  }
  for (; i < more.length; i++) merged[more[i]!] = b[more[i]!]!;
  return merged;
}

/** The paths of `a` that are not in `b`. Paths below or above a path of `b` stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, differenceNodes);
}

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, (mine, theirs) => {
    if (isPathInSet(theirs)) return undefined;
    return isEmptySet(mine) ? mine : pruned(mine, recursiveDifference(mine, theirs), self in mine);
  });
}

type Subtract = (mine: FieldSet, theirs: FieldSet) => FieldSet | undefined;

function subtract(a: FieldSet, b: FieldSet, subtractNodes: Subtract): FieldSet {
  let changes: Map<PathElement, FieldSet | undefined> | undefined;
  for (const element in fewerElements(a, b)) {
    const mine = element === self ? undefined : a[element];
    const theirs = b[element];
    if (mine === undefined || theirs === undefined) continue;
    const rest = subtractNodes(mine, theirs);
    if (rest === mine) continue;
    changes ??= new Map();
    changes.set(element, rest);
  }
  return changes === undefined ? a : rebuilt(a, changes);
}

/**
 * The set to iterate in order to find common elements: `a` if it is small, otherwise `b`. A write is compared with the
 * sets of all managers: thousands of managers with one field each must not cost thousands of walks over a large change.
 */
function fewerElements(a: FieldSet, b: FieldSet): FieldSet {
  let count = 0;
  for (const _ in a) {
    count += 1;
    if (count > smallSetMax) return b;
  }
  return a;
}

const smallSetMax = 16;

/** A copy, because V8 treats an object as a dictionary after `delete`, which is slow. */
function rebuilt(a: FieldSet, changes: ReadonlyMap<PathElement, FieldSet | undefined>): FieldSet {
  const draft: FieldSetDraft = {};
  for (const element in a) {
    const node = changes.has(element) ? changes.get(element) : a[element];
    if (node !== undefined) draft[element] = node;
  }
  return draft;
}

function differenceNodes(mine: FieldSet, theirs: FieldSet): FieldSet | undefined {
  const stays = isPathInSet(mine) && !isPathInSet(theirs);
  return isEmptySet(mine) ? (stays ? mine : undefined) : pruned(mine, difference(mine, theirs), stays);
}

/** `rest` is the remainder of `mine` below it; `stays` says whether the path of `mine` itself remains. */
function pruned(mine: FieldSet, rest: FieldSet, stays: boolean): FieldSet | undefined {
  if (rest === mine && stays === self in mine) return mine;
  if (!hasChildren(rest)) return stays ? leaf : undefined;
  if (stays || !(self in rest)) return rest;
  const { [self]: _, ...children } = rest;
  return children;
}

/** The paths that are in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const common: FieldSetDraft = {};
  for (const element in fewerElements(a, b)) {
    const mine = element === self ? undefined : a[element];
    const theirs = b[element];
    if (mine === undefined || theirs === undefined) continue;
    const below = intersection(mine, theirs);
    const isCommon = isPathInSet(mine) && isPathInSet(theirs);
    if (!isEmptySet(below)) common[element] = isCommon ? withSelf(below) : below;
    else if (isCommon) common[element] = leaf;
  }
  return common;
}

export function isPathInSet(node: FieldSet): boolean {
  return self in node || isEmptySet(node);
}

export function hasChildren(node: FieldSet): boolean {
  for (const element in node) if (element !== self) return true;
  return false;
}

/** Every path, as its path elements. */
export function pathsOf(set: FieldSet): readonly (readonly PathElement[])[] {
  return Object.keys(set).flatMap((element) => {
    if (element === self) return [];
    const node = set[element]!;
    const below = pathsOf(node).map((path) => [element, ...path]);
    return isPathInSet(node) ? [[element], ...below] : below;
  });
}

/**
 * Parses the `fieldsV1` of a client, in any order and notation. Undefined if it is not valid; unknown kinds of path
 * elements are dropped.
 */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  try {
    return value === null || value === undefined ? leaf : parseNode(value, depthMax).children;
  } catch {
    return undefined;
  }
}

function parseNode(value: unknown, depthLeft: number): { children: FieldSet; isMember: boolean } {
  if (value === null) return { children: leaf, isMember: true };
  if (!isJsonObject(value) || depthLeft === 0) throw new Error('not a set of fields');
  const parts = new Map<PathElement, FieldSet>();
  for (const text of Object.keys(value)) {
    const element = text === self ? undefined : canonicalElement(text);
    if (element === undefined) continue;
    const node = parseNode(value[text], depthLeft - 1);
    parts.set(element, node.isMember ? withSelf(node.children) : node.children);
  }
  const children: FieldSetDraft = {};
  for (const element of [...parts.keys()].sort(compareElements)) children[element] = parts.get(element)!;
  return { children, isMember: parts.size === 0 || Object.hasOwn(value, self) };
}
