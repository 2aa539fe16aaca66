import type { JsonObject } from '../../kube/go/json-value.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  union,
  unionAll,
} from '../managed-fields/field-set.ts';
import type { Manager } from '../managed-fields/managers.ts';
import type { StructShape } from '../patch/merge-shape.ts';
import { appliedFields } from './applied-fields.ts';
import { removeFields, withNamedFields } from './remove.ts';

export interface PruneRequest {
  readonly merged: JsonObject;
  /** The applier before this apply, with the fields that it named last time. */
  readonly before: Manager;
  /** All managers from now on: the applier and the others. */
  readonly managers: readonly Manager[];
  /** Throws an error that starts with `failure` if the object does not fit that version. */
  readonly shapeOf: (apiVersion: string, failure: string) => StructShape;
}

/**
 * Returns the merged object without the fields that its applier no longer applies: named last time, not named now, and
 * not owned by another manager. In three steps, as Kubernetes does it: remove all fields that were named, with everything below
 * them; restore the fields that a manager owns, by the version that it wrote through; and restore what was removed
 * along with them but never belonged to the applier.
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
  const byVersion = new Map<string, FieldSet[]>([[first, []]]);
  for (const { apiVersion, fields } of managers) {
    const sets = byVersion.get(apiVersion) ?? [];
    sets.push(fields);
    byVersion.set(apiVersion, sets);
  }
  return new Map([...byVersion].map(([apiVersion, sets]) => [apiVersion, unionAll(sets)]));
}

function withOwned(merged: JsonObject, pruned: JsonObject, owned: FieldSet, shape: StructShape): JsonObject {
  const kept = union(namedIn(pruned, shape), withNamedFields(owned, shape));
  return removeFields(merged, difference(namedIn(merged, shape), kept), shape);
}

function namedIn(object: JsonObject, shape: StructShape): FieldSet {
  return withNamedFields(appliedFields(object, shape), shape);
}
