import type { FieldShape, Shape } from '../patch/shape.ts';
import { type FieldSet, isEmptySet, leaf } from './field-set.ts';
import type { PathElement } from './path-element.ts';

/**
 * Fits a set of unknown origin to the type: who claims to own parts of something atomic owns the whole of it. What we wrote
 * ourselves fits already.
 */
export function reconcile(fields: FieldSet, shape: Shape): FieldSet {
  let changed: Record<PathElement, FieldSet> | undefined;
  for (const element in fields) {
    const node = fields[element]!;
    const inner = shapeBelow(shape, element);
    if (inner === undefined || isEmptySet(node)) continue;
    const fitting = isAtomic(inner) ? leaf : reconcile(node, inner);
    if (fitting === node) continue;
    changed ??= { ...fields };
    changed[element] = fitting;
  }
  return changed ?? fields;
}

function shapeBelow(shape: Shape, element: PathElement): Shape | undefined {
  if (shape.kind === 'list') return element.startsWith('f:') ? undefined : shape.element;
  if (!element.startsWith('f:')) return undefined;
  if (shape.kind === 'map') return shape.value;
  if (shape.kind !== 'struct') return undefined;
  const field: FieldShape | undefined = shape.fields.get(element.slice(2));
  return field?.shape;
}

function isAtomic(shape: Shape): boolean {
  if (shape.kind === 'list') return shape.relation === 'atomic';
  return (shape.kind === 'struct' || shape.kind === 'map') && shape.isAtomic;
}
