import type { ManagedFieldsEntry } from '../../kube/api/stored/meta.ts';
import { isEqualJson } from '../../kube/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../kube/go/json-value.ts';
import { difference, intersection, isEmptySet, recursiveDifference } from '../managed-fields/field-set.ts';
import {
  isSameManager,
  type Manager,
  trustManagers,
  withFields,
  writeManagers,
} from '../managed-fields/managers.ts';
import { fieldsWithoutOwner, updateManagedFields, withoutChange } from '../managed-fields/update-managers.ts';
import {
  changesByVersion,
  type OwnershipChange,
  requireFit,
  servedManagers,
  type VersionedWrite,
  versionViewOf,
} from '../managed-fields/versions.ts';
import { appliedFields } from './applied-fields.ts';
import { applyConflict, type Conflict } from './conflicts.ts';
import { lastAppliedFields } from './last-applied.ts';
import { mergeConfiguration } from './merge.ts';
import { type PruneRequest, pruneUnownedFields } from './prune.ts';

export interface ApplyRequest extends VersionedWrite {
  /** The stored object, in the normal form of its type; the zero object if it is still to be created. */
  readonly live: JsonObject;
  /** Already checked by `typed-check.ts`. */
  readonly config: JsonObject;
  readonly manager: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** The time of the write, in the API's format: `2026-01-31T12:00:00Z`. */
  readonly time: string;
  readonly force: boolean;
}

export interface ApplyResult {
  /** Not normalized yet: it may have nulls. Undefined if the configuration changes nothing. */
  readonly object: JsonObject | undefined;
  readonly owners: readonly ManagedFieldsEntry[] | undefined;
}

/**
 * Server-side apply: merges a configuration into an object, removes the fields that its applier no longer names, and
 * computes the new owners. The applier owns all fields that it names, changed or not. If it would change a field of
 * another manager, the apply fails unless it is forced; then the other manager loses the field. Throws an ApiError for
 * conflicts.
 */
export function applyConfiguration(request: ApplyRequest): ApplyResult {
  const live = withoutOwners(request.live);
  const managers = servedManagers(request, managersOf(request, live), live);
  const applier = applierOf(request);
  const before = managers.find((manager) => isSameManager(manager, applier));
  const others = managers.filter((manager) => manager !== before);
  const object = mergedObject(request, live, [applier, ...others], before);
  const changes = changesByVersion(request, live, object);
  checkConflicts(request, live, others, changes);
  const isChanged = !isEqualJson(live, object);
  const time = isChanged ? request.time : (before?.time ?? '');
  const after = [
    withFields({ ...applier, time }, difference(applier.fields, fieldsWithoutOwner)),
    ...others.map((manager) => withoutChange(manager, changes(manager.apiVersion))),
  ].filter((manager) => manager !== undefined);
  return { object: isChanged ? object : undefined, owners: writeManagers(after) };
}

function withoutOwners(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * The fields of an object without owners were set before the first apply, by unknown writers; Kubernetes attributes
 * them to a manager of this name.
 */
function managersOf(request: ApplyRequest, live: JsonObject): readonly Manager[] {
  const entries = entriesOf(request.live);
  if (entries !== undefined && entries.length > 0) return trustManagers(entries) ?? [];
  // An object that is still to be created has no fields that a client set.
  if (!isStored(live)) return [];
  const { shape, apiVersion, subresource, time, resetFields } = request;
  const first = updateManagedFields({
    old: undefined,
    next: live,
    shape,
    manager: 'before-first-apply',
    apiVersion,
    subresource,
    time,
    resetFields,
  });
  return trustManagers(first ?? []) ?? [];
}

/** Only stored objects have a uid. */
function isStored({ metadata }: JsonObject): boolean {
  return isJsonObject(metadata) && metadata.uid !== undefined;
}

function entriesOf({ metadata }: JsonObject): readonly ManagedFieldsEntry[] | undefined {
  return isJsonObject(metadata)
    ? (metadata.managedFields as readonly ManagedFieldsEntry[] | undefined)
    : undefined;
}

function applierOf(request: ApplyRequest): Manager {
  const { config, shape, manager, apiVersion, subresource, resetFields, time } = request;
  const named = appliedFields(config, shape);
  const fields = resetFields === undefined ? named : recursiveDifference(named, resetFields);
  return { name: manager, operation: 'Apply', apiVersion, subresource, time, fields, entry: undefined };
}

function mergedObject(
  request: ApplyRequest,
  live: JsonObject,
  managers: readonly Manager[],
  before: Manager | undefined,
): JsonObject {
  const { config, shape } = request;
  const merged = mergeConfiguration(live, config, shape);
  if (before === undefined) return merged;
  // Most configurations name the same fields again, and pruning is the larger part of the work.
  const [applier] = managers;
  if (applier !== undefined && isEmptySet(difference(before.fields, applier.fields))) return merged;
  const shapeOf: PruneRequest['shapeOf'] = (apiVersion, failure) => {
    const view = versionViewOf(request, apiVersion)!;
    if (view !== request) requireFit(merged, view.shape, `failed to prune fields: ${failure}`);
    return view.shape;
  };
  return pruneUnownedFields({ merged, before, managers, shapeOf });
}

function checkConflicts(
  request: ApplyRequest,
  live: JsonObject,
  others: readonly Manager[],
  changes: (apiVersion: string) => OwnershipChange,
): void {
  if (request.force) return;
  const conflicts = others
    .map((manager): Conflict => {
      const { taken } = changes(manager.apiVersion);
      return { manager, fields: intersection(manager.fields, taken) };
    })
    .filter(({ fields }) => !isEmptySet(fields));
  if (conflicts.length === 0) return;
  const left = withoutAllowed(request, live, conflicts);
  if (left.length > 0) throw applyConflict(left);
}

/** kubectl may change the fields that it set itself by client-side apply and that did not change since. */
function withoutAllowed(
  { manager, shape, apiVersion }: ApplyRequest,
  live: JsonObject,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  const allowed = manager === 'kubectl' ? lastAppliedFields(live, shape, apiVersion) : undefined;
  if (allowed === undefined) return conflicts;
  return conflicts
    .map((conflict) => ({ ...conflict, fields: difference(conflict.fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
}
