import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  leaf,
  recursiveDifference,
} from '../managed-fields/field-set.ts';
import {
  isSameManager,
  type ManagedFieldsEntry,
  type Manager,
  trustManagers,
  withFields,
  writeManagers,
} from '../managed-fields/managers.ts';
import { type Comparison, compareTyped, takenBy } from '../managed-fields/typed-compare.ts';
import { unowned, updateManagedFields } from '../managed-fields/update-managers.ts';
import { isEqual, isObject, type JsonObject } from '../patch/json-value.ts';
import type { StructShape } from '../patch/shape.ts';
import { appliedFields } from './applied-fields.ts';
import { applyConflict, type Conflict } from './conflicts.ts';
import { lastAppliedFields } from './last-applied.ts';
import { merge } from './merge.ts';
import { prune } from './prune.ts';

export interface Application {
  /** What is stored, in the normal form of its type; of an object that is still to be made, the zero object. */
  readonly live: JsonObject;
  /** Checked (`typed-check.ts`). */
  readonly config: JsonObject;
  readonly shape: StructShape;
  readonly manager: string;
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** As in the API: `2026-01-31T12:00:00Z`. */
  readonly time: string;
  readonly force: boolean;
  /** What this write does not change, whatever it says. */
  readonly resetFields?: FieldSet | undefined;
}

export interface Applied {
  /** Not typed yet: it may hold nulls. Undefined where the configuration changes nothing. */
  readonly object: JsonObject | undefined;
  readonly owners: readonly ManagedFieldsEntry[] | undefined;
}

/**
 * Server-side apply: lays a configuration over an object, takes away what its applier gave up, and works out who owns what.
 * The applier owns all that it names, changed or not. Where it would change what another owns, it is refused, unless forced;
 * then the other loses it. Throws an ApiError for conflicts.
 */
export function applyConfiguration(application: Application): Applied {
  const live = withoutOwners(application.live);
  const managers = managersOf(application, live);
  const applier = applierOf(application);
  const before = managers.find((manager) => isSameManager(manager, applier));
  const others = managers.filter((manager) => manager !== before && isServed(manager, application));
  const object = mergedObject(application, live, [applier, ...others], before);
  const changes = comparison(live, object, application);
  checkConflicts(application, live, others, changes);
  const isChanged = !isEqual(live, object);
  const time = isChanged ? application.time : (before?.time ?? '');
  const after = [
    withFields({ ...applier, time }, difference(applier.fields, unowned)),
    ...others.map((manager) => withoutTaken(manager, changes)),
  ].filter((manager) => manager !== undefined);
  return { object: isChanged ? object : undefined, owners: writeManagers(after) };
}

function withoutOwners(object: JsonObject): JsonObject {
  if (!isObject(object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** What an object without owners holds was set by somebody before the first apply, and that is the name it gets. */
function managersOf(application: Application, live: JsonObject): readonly Manager[] {
  const entries = entriesOf(application.live);
  if (entries !== undefined && entries.length > 0) return trustManagers(entries) ?? [];
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

function entriesOf({ metadata }: JsonObject): readonly ManagedFieldsEntry[] | undefined {
  return isObject(metadata)
    ? (metadata.managedFields as readonly ManagedFieldsEntry[] | undefined)
    : undefined;
}

function applierOf(application: Application): Manager {
  const { config, shape, manager, apiVersion, subresource, resetFields, time } = application;
  const named = appliedFields(config, shape);
  const fields = resetFields === undefined ? named : recursiveDifference(named, resetFields);
  return { name: manager, operation: 'Apply', apiVersion, subresource, time, fields, entry: undefined };
}

/** Versions that are not served any more, and with them their managers, are forgotten. */
function isServed({ apiVersion }: Manager, application: Application): boolean {
  return apiVersion === application.apiVersion;
}

function mergedObject(
  application: Application,
  live: JsonObject,
  managers: readonly Manager[],
  before: Manager | undefined,
): JsonObject {
  const { config, shape } = application;
  const merged = merge(live, config, shape);
  if (before === undefined || !isServed(before, application)) return merged;
  // Most configurations name again what they named before; working out what to take away is the larger part of the work.
  const [applier] = managers;
  if (applier !== undefined && isEmptySet(difference(before.fields, applier.fields))) return merged;
  return prune({ merged, shape, before: before.fields, owned: managers.map(({ fields }) => fields) });
}

function comparison(
  live: JsonObject,
  object: JsonObject,
  { shape, resetFields = leaf }: Application,
): Comparison {
  const { added = leaf, modified = leaf, removed = leaf } = compareTyped(live, object, shape) ?? {};
  return {
    added: recursiveDifference(added, resetFields),
    modified: recursiveDifference(modified, resetFields),
    removed: recursiveDifference(removed, resetFields),
  };
}

function checkConflicts(
  application: Application,
  live: JsonObject,
  others: readonly Manager[],
  changes: Comparison,
): void {
  if (application.force) return;
  const taken = takenBy(changes);
  const conflicts = others
    .map((manager): Conflict => ({ manager, fields: intersection(manager.fields, taken) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (conflicts.length === 0) return;
  const left = withoutAllowed(application, live, conflicts);
  if (left.length > 0) throw applyConflict(left);
}

/** kubectl may change what it set by itself, with client-side apply, and what nobody has changed since. */
function withoutAllowed(
  { manager, shape, apiVersion }: Application,
  live: JsonObject,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  const allowed = manager === 'kubectl' ? lastAppliedFields(live, shape, apiVersion) : undefined;
  if (allowed === undefined) return conflicts;
  return conflicts
    .map((conflict) => ({ ...conflict, fields: difference(conflict.fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
}

function withoutTaken(manager: Manager, changes: Comparison): Manager | undefined {
  const rest = difference(manager.fields, takenBy(changes));
  return withFields(manager, difference(rest, changes.removed ?? leaf));
}
