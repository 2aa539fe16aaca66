import { isEqualJson } from '../../kube/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../kube/go/json-value.ts';
import { difference, intersection, isEmptySet, recursiveDifference } from '../managed-fields/field-set.ts';
import {
  isSameManager,
  type ManagedFieldsEntry,
  type Manager,
  trustManagers,
  withFields,
  writeManagers,
} from '../managed-fields/managers.ts';
import { unowned, updateManagedFields, withoutChange } from '../managed-fields/update-managers.ts';
import {
  changesByVersion,
  type OwnershipChange,
  requireFit,
  servedManagers,
  type Versioned,
  versionViewOf,
} from '../managed-fields/versions.ts';
import { appliedFields } from './applied-fields.ts';
import { applyConflict, type Conflict } from './conflicts.ts';
import { lastAppliedFields } from './last-applied.ts';
import { merge } from './merge.ts';
import { type PruneRequest, pruneUnownedFields } from './prune.ts';

export interface ApplyRequest extends Versioned {
  /** What is stored, in the normal form of its type; of an object that is still to be made, the zero object. */
  readonly live: JsonObject;
  /** Checked (`typed-check.ts`). */
  readonly config: JsonObject;
  readonly manager: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** As in the API: `2026-01-31T12:00:00Z`. */
  readonly time: string;
  readonly force: boolean;
}

export interface ApplyResult {
  /** Not typed yet: it may hold nulls. Undefined where the configuration changes nothing. */
  readonly object: JsonObject | undefined;
  readonly owners: readonly ManagedFieldsEntry[] | undefined;
}

/**
 * Server-side apply: lays a configuration over an object, takes away what its applier gave up, and works out who owns what.
 * The applier owns all that it names, changed or not. Where it would change what another owns, it is refused, unless forced;
 * then the other loses it. Throws an ApiError for conflicts.
 */
export function applyConfiguration(application: ApplyRequest): ApplyResult {
  const live = withoutOwners(application.live);
  const managers = servedManagers(application, managersOf(application, live), live);
  const applier = applierOf(application);
  const before = managers.find((manager) => isSameManager(manager, applier));
  const others = managers.filter((manager) => manager !== before);
  const object = mergedObject(application, live, [applier, ...others], before);
  const changes = changesByVersion(application, live, object);
  checkConflicts(application, live, others, changes);
  const isChanged = !isEqualJson(live, object);
  const time = isChanged ? application.time : (before?.time ?? '');
  const after = [
    withFields({ ...applier, time }, difference(applier.fields, unowned)),
    ...others.map((manager) => withoutChange(manager, changes(manager.apiVersion))),
  ].filter((manager) => manager !== undefined);
  return { object: isChanged ? object : undefined, owners: writeManagers(after) };
}

function withoutOwners(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** What an object without owners holds was set by somebody before the first apply, and that is the name it gets. */
function managersOf(application: ApplyRequest, live: JsonObject): readonly Manager[] {
  const entries = entriesOf(application.live);
  if (entries !== undefined && entries.length > 0) return trustManagers(entries) ?? [];
  // What is still to be made holds nothing that somebody set.
  if (!isStored(live)) return [];
  const { shape, apiVersion, subresource, time, resetFields } = application;
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

/** Only what is stored has a uid. */
function isStored({ metadata }: JsonObject): boolean {
  return isJsonObject(metadata) && metadata.uid !== undefined;
}

function entriesOf({ metadata }: JsonObject): readonly ManagedFieldsEntry[] | undefined {
  return isJsonObject(metadata)
    ? (metadata.managedFields as readonly ManagedFieldsEntry[] | undefined)
    : undefined;
}

function applierOf(application: ApplyRequest): Manager {
  const { config, shape, manager, apiVersion, subresource, resetFields, time } = application;
  const named = appliedFields(config, shape);
  const fields = resetFields === undefined ? named : recursiveDifference(named, resetFields);
  return { name: manager, operation: 'Apply', apiVersion, subresource, time, fields, entry: undefined };
}

function mergedObject(
  application: ApplyRequest,
  live: JsonObject,
  managers: readonly Manager[],
  before: Manager | undefined,
): JsonObject {
  const { config, shape } = application;
  const merged = merge(live, config, shape);
  if (before === undefined) return merged;
  // Most configurations name again what they named before; working out what to take away is the larger part of the work.
  const [applier] = managers;
  if (applier !== undefined && isEmptySet(difference(before.fields, applier.fields))) return merged;
  const shapeOf: PruneRequest['shapeOf'] = (apiVersion, failure) => {
    const view = versionViewOf(application, apiVersion)!;
    if (view !== application) requireFit(merged, view.shape, `failed to prune fields: ${failure}`);
    return view.shape;
  };
  return pruneUnownedFields({ merged, before, managers, shapeOf });
}

function checkConflicts(
  application: ApplyRequest,
  live: JsonObject,
  others: readonly Manager[],
  changes: (apiVersion: string) => OwnershipChange,
): void {
  if (application.force) return;
  const conflicts = others
    .map((manager): Conflict => {
      const { taken } = changes(manager.apiVersion);
      return { manager, fields: intersection(manager.fields, taken) };
    })
    .filter(({ fields }) => !isEmptySet(fields));
  if (conflicts.length === 0) return;
  const left = withoutAllowed(application, live, conflicts);
  if (left.length > 0) throw applyConflict(left);
}

/** kubectl may change what it set by itself, with client-side apply, and what nobody has changed since. */
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
