import { type MergeShape, shapeOfField } from '../patch/merge-shape.ts';
import { type FieldSet, isEmptySet, leaf } from './field-set.ts';
import type { PathElement } from './path-element.ts';

/**
 * Adapts a field set of unknown origin to the type: a manager that claims parts of an atomic value owns all of it. Sets
 * that this server wrote fit already, unless the type has changed since.
 */
export function reconcileFieldSet(fields: FieldSet, shape: MergeShape): FieldSet {
  if (isFree(shape)) return fields;
  let changed: Record<PathElement, FieldSet> | undefined;
  for (const element in fields) {
    const node = fields[element]!;
    const inner = shapeBelow(shape, element);
    if (inner === undefined || isEmptySet(node)) continue;
    const fitting = isAtomic(inner) ? leaf : reconcileFieldSet(node, inner);
    if (fitting === node) continue;
    changed ??= { ...fields };
    changed[element] = fitting;
  }
  return changed ?? fields;
}

/** A value of any type counts as a map here. */
function shapeBelow(shape: MergeShape, element: PathElement): MergeShape | undefined {
  const inner = rawShapeBelow(shape, element);
  return inner?.kind === 'deduced' ? inner.map : inner;
}

function rawShapeBelow(shape: MergeShape, element: PathElement): MergeShape | undefined {
  if (shape.kind === 'list') return shape.element;
  if (shape.kind === 'map') return shape.value;
  if (shape.kind !== 'struct') return undefined;
  return element.startsWith('f:') ? shapeOfField(shape, element.slice(2)) : shape.rest;
}

/** Kubernetes does not adapt maps whose values may have any type, even if they are atomic. */
function isFree(shape: MergeShape): boolean {
  if (shape.kind !== 'map') return false;
  return shape.value.kind === 'deduced' || (shape.value.kind === 'scalar' && shape.value.form === 'untyped');
}

function isAtomic(shape: MergeShape): boolean {
  if (shape.kind === 'any') return true;
  if (shape.kind === 'list') return shape.relation === 'atomic';
  return (shape.kind === 'struct' || shape.kind === 'map') && shape.isAtomic && !isFree(shape);
}
