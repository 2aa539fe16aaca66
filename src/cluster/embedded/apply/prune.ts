import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  leaf,
  union,
} from '../managed-fields/field-set.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { StructShape } from '../patch/shape.ts';
import { appliedFields } from './applied-fields.ts';
import { removeFields, withNamedFields } from './remove.ts';

export interface Pruning {
  readonly merged: JsonObject;
  readonly shape: StructShape;
  /** What the applier named the last time. */
  readonly before: FieldSet;
  /** What is owned from now on, by the applier and by all others. */
  readonly owned: readonly FieldSet[];
}

/**
 * The merged object without what its applier gave up: named the last time, not named now, and owned by nobody else. In three
 * steps, as Kubernetes does it: all that was named goes, with everything below it; what somebody owns comes back; and so does
 * what went along with it but was never the applier's.
 */
export function prune({ merged, shape, before, owned }: Pruning): JsonObject {
  if (isEmptySet(before)) return merged;
  const named = (set: FieldSet): FieldSet => withNamedFields(set, shape);
  const fieldsOf = (object: JsonObject): FieldSet => named(appliedFields(object, shape));
  const last = named(before);
  const all = fieldsOf(merged);
  const stripped = removeFields(merged, last, shape);
  const kept = union(fieldsOf(stripped), named(owned.reduce(union, leaf)));
  const restored = removeFields(merged, difference(all, kept), shape);
  return removeFields(merged, intersection(difference(all, fieldsOf(restored)), last), shape);
}
