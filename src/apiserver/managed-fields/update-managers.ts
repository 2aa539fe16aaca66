import type { ManagedFieldsEntry } from '../../kube/api/stored/meta.ts';
import { isEqualJson } from '../../kube/deep-equal.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../kube/go/json-value.ts';
import { capManagers } from './cap-managers.ts';
import { difference, type FieldSet, isEmptySet, leaf, union } from './field-set.ts';
import {
  isReset,
  isSameManager,
  type Manager,
  readManagers,
  trustManagers,
  withFields,
  writeManagers,
} from './managers.ts';
import { reconcileFieldSet } from './reconcile-field-set.ts';
import { UntypableError } from './typed-compare.ts';
import {
  changesByVersion,
  type OwnershipChange,
  requireFit,
  servedManagers,
  type VersionedWrite,
} from './versions.ts';

/** A write by create, update, or a patch other than server-side apply. */
export interface ManagedWrite extends VersionedWrite {
  /** The stored object; undefined for a create. */
  readonly old: JsonObject | undefined;
  /** The object of the request: decoded and defaulted, before admission and before the kind prepares it. */
  readonly next: JsonObject;
  readonly manager: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** The time of the write, in the API's format: `2026-01-31T12:00:00Z`. */
  readonly time: string;
}

/**
 * The value of metadata.managedFields after the write; undefined for none.
 *
 * The writer owns the fields that it added or changed, removed fields have no owner, and previous owners lose the
 * changed fields. A request may contain a list of its own; an unreadable one is ignored, and an empty one stops the
 * tracking of owners for this object. An object that never had owners gets none.
 */
export function updateManagedFields(write: ManagedWrite): readonly ManagedFieldsEntry[] | undefined {
  const live = entriesOf(write.old);
  const managers = managersBefore(write, live);
  if (managers.length === 0 && isStored(write.old)) return undefined;
  try {
    const updated = capManagers(managersAfter(write, managers));
    return isUnchanged(updated, live) ? live : writeManagers(updated);
  } catch (error) {
    if (error instanceof UntypableError) return undefined;
    throw error;
  }
}

function entriesOf(object: JsonObject | undefined): readonly ManagedFieldsEntry[] | undefined {
  const metadata = object?.metadata;
  const entries = isJsonObject(metadata) ? metadata.managedFields : undefined;
  return isJsonArray(entries) ? (entries as readonly ManagedFieldsEntry[]) : undefined;
}

function isStored(object: JsonObject | undefined): boolean {
  const metadata = object?.metadata;
  return isJsonObject(metadata) && typeof metadata.uid === 'string' && metadata.uid !== '';
}

/** The managers of the request if it has some, so that clients can correct them; never through a subresource. */
function managersBefore(
  write: ManagedWrite,
  live: readonly ManagedFieldsEntry[] | undefined,
): readonly Manager[] {
  const stored = (): readonly Manager[] => trustManagers(live ?? []) ?? [];
  const given = write.subresource === '' ? entriesOf(write.next) : undefined;
  if (given === undefined) return stored();
  if (isReset(given)) return [];
  if (given === live || (live !== undefined && isEqualJson(given as Json, live as Json))) return stored();
  const read = readManagers(given);
  if (read === undefined || read.length === 0) return stored();
  return read.map((manager) => ({ ...manager, fields: reconcileFieldSet(manager.fields, write.shape) }));
}

function managersAfter(write: ManagedWrite, managers: readonly Manager[]): readonly Manager[] {
  const { old = {}, next, shape, apiVersion } = write;
  requireFit(next, shape, '', true);
  requireFit(old, shape, '', true);
  const served = servedManagers(write, managers, old);
  const changes = changesByVersion(write, old, next);
  const left: Manager[] = [];
  for (const manager of served) {
    const rest = withoutChange(manager, changes(manager.apiVersion));
    if (rest !== undefined) left.push(rest);
  }
  const owned = difference(changes(apiVersion).taken, fieldsWithoutOwner);
  return isEmptySet(owned) ? left : withWriter(write, left, owned);
}

/** The manager with the fields that it keeps; undefined if none are left. */
export function withoutChange(manager: Manager, { taken, removed }: OwnershipChange): Manager | undefined {
  return withFields(manager, difference(difference(manager.fields, taken), removed));
}

/** Fields of the object that its writers do not decide. */
export const fieldsWithoutOwner: FieldSet = {
  'f:apiVersion': leaf,
  'f:kind': leaf,
  'f:metadata': {
    '.': leaf,
    'f:clusterName': leaf,
    'f:creationTimestamp': leaf,
    'f:generation': leaf,
    'f:managedFields': leaf,
    'f:name': leaf,
    'f:namespace': leaf,
    'f:resourceVersion': leaf,
    'f:selfLink': leaf,
    'f:uid': leaf,
  },
};

function withWriter(write: ManagedWrite, managers: readonly Manager[], owned: FieldSet): readonly Manager[] {
  const { manager, apiVersion, subresource, time } = write;
  const name = manager === '' ? 'unknown' : manager;
  const writer: Manager = {
    name,
    operation: 'Update',
    apiVersion,
    subresource,
    time,
    fields: owned,
    entry: undefined,
  };
  const before = managers.find((other) => isSameManager(other, writer));
  if (before === undefined) return [...managers, writer];
  const fields = union(owned, before.fields);
  return managers.map((other) => (other === before ? { ...writer, fields } : other));
}

function isUnchanged(
  managers: readonly Manager[],
  live: readonly ManagedFieldsEntry[] | undefined,
): live is readonly ManagedFieldsEntry[] {
  return managers.length === live?.length && managers.every(({ entry }, i) => entry === live[i]);
}
