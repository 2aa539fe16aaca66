import type { JsonObject } from '../../kube/go/json-value.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  leaf,
  union,
} from '../managed-fields/field-set.ts';
import type { Manager } from '../managed-fields/managers.ts';
import type { StructShape } from '../patch/merge-shape.ts';
import { appliedFields } from './applied-fields.ts';
import { removeFields, withNamedFields } from './remove.ts';

export interface PruneRequest {
  readonly merged: JsonObject;
  /** The applier as it was, with what it named the last time. */
  readonly before: Manager;
  /** Who owns something from now on: the applier and all others. */
  readonly managers: readonly Manager[];
  /** Throws with `failure` where the object does not fit that version. */
  readonly shapeOf: (apiVersion: string, failure: string) => StructShape;
}

/**
 * The merged object without what its applier gave up: named the last time, not named now, and owned by nobody else. In three
 * steps, as Kubernetes does it: all that was named goes, with everything below it; what somebody owns comes back, by the
 * version that they wrote through; and so does what went along with it but was never the applier's.
 */
export function pruneUnownedFields({ merged, before, managers, shapeOf }: PruneRequest): JsonObject {
  if (isEmptySet(before.fields)) return merged;
  const shape = shapeOf(before.apiVersion, 'failed to convert merged object to last applied version: ');
  const last = withNamedFields(before.fields, shape);
  let pruned = removeFields(merged, last, shape);
  for (const [apiVersion, owned] of ownedByVersion(before.apiVersion, managers)) {
    const failure = `failed add back owned items: failed to convert merged object at version ${apiVersion}: `;
    pruned = withOwned(merged, pruned, owned, shapeOf(apiVersion, failure));
  }
  const gone = difference(namedIn(merged, shape), namedIn(pruned, shape));
  return removeFields(merged, intersection(gone, last), shape);
}

/** The version of the applier comes first. */
function ownedByVersion(first: string, managers: readonly Manager[]): ReadonlyMap<string, FieldSet> {
  const byVersion = new Map<string, FieldSet>([[first, leaf]]);
  for (const { apiVersion, fields } of managers) {
    byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? leaf, fields));
  }
  return byVersion;
}

function withOwned(merged: JsonObject, pruned: JsonObject, owned: FieldSet, shape: StructShape): JsonObject {
  const kept = union(namedIn(pruned, shape), withNamedFields(owned, shape));
  return removeFields(merged, difference(namedIn(merged, shape), kept), shape);
}

function namedIn(object: JsonObject, shape: StructShape): FieldSet {
  return withNamedFields(appliedFields(object, shape), shape);
}
