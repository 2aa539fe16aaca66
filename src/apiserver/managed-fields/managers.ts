import type { ManagedFieldsEntry } from '../../kube/api/stored/meta.ts';
import { isEqualJson } from '../../kube/deep-equal.ts';
import { isJsonObject, type Json } from '../../kube/go/json-value.ts';
import { compareUtf8 } from '../../kube/sorted-keys.ts';
import { type FieldSet, isEmptySet, parseFieldSet } from './field-set.ts';

/** A manager and the fields that it owns. All properties except the fields and the time identify it. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** The time of the write, in the API's format `2026-01-31T12:00:00Z`; empty if it is unknown. */
  readonly time: string;
  readonly fields: FieldSet;
  /** The entry from which it was read, if the manager has not changed since. */
  readonly entry: ManagedFieldsEntry | undefined;
}

/** Undefined if an entry is not valid. If several entries have the same manager, the last one applies. */
export function readManagers(entries: readonly ManagedFieldsEntry[]): readonly Manager[] | undefined {
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const fields = isJsonObject(entry) ? parseFieldSet(entry.fieldsV1) : undefined;
    if (fields === undefined || !isValidEntry(entry)) return undefined;
    const manager = managerOf(entry, fields);
    managers.set(identityOf(manager), manager);
  }
  return [...managers.values()];
}

/** For entries that this server wrote: their sets are already in order. */
export function trustManagers(entries: readonly ManagedFieldsEntry[]): readonly Manager[] | undefined {
  if (!entries.every(isValidEntry)) return undefined;
  return entries.map((entry) => managerOf(entry, (entry.fieldsV1 ?? {}) as FieldSet, entry));
}

function isValidEntry({ operation, apiVersion, fieldsType }: ManagedFieldsEntry): boolean {
  const isKnown = operation === 'Apply' || operation === 'Update';
  return isKnown && typeof apiVersion === 'string' && apiVersion !== '' && fieldsType === 'FieldsV1';
}

function managerOf(read: ManagedFieldsEntry, fields: FieldSet, entry?: ManagedFieldsEntry): Manager {
  return {
    name: read.manager ?? '',
    operation: read.operation as Manager['operation'],
    apiVersion: read.apiVersion!,
    subresource: read.subresource ?? '',
    time: read.time ?? '',
    fields,
    entry,
  };
}

/** The entries in the order of the API: Apply before Update, then the oldest first. */
export function writeManagers(managers: readonly Manager[]): readonly ManagedFieldsEntry[] | undefined {
  if (managers.length === 0) return undefined;
  return managers.toSorted(compareManagers).map((manager) => manager.entry ?? entryOf(manager));
}

/** The keys are in the order of Kubernetes' JSON. */
function entryOf({ name, operation, apiVersion, time, fields, subresource }: Manager): ManagedFieldsEntry {
  const entry: { -readonly [Name in keyof ManagedFieldsEntry]: ManagedFieldsEntry[Name] } = {};
  if (name !== '') entry.manager = name;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time !== '') entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = fields;
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    compareUtf8(a.operation, b.operation) ||
    compareTimes(a, b) ||
    compareUtf8(a.name, b.name) ||
    compareUtf8(a.apiVersion, b.apiVersion) ||
    compareUtf8(a.subresource, b.subresource)
  );
}

/** To the second. An absent time counts as 1970. */
export function compareTimes(a: Manager, b: Manager): number {
  return compareUtf8(a.time || epoch, b.time || epoch);
}

const epoch = '1970-01-01T00:00:00Z';

export function isSameManager(a: Manager, b: Manager): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** A text that identifies the manager, in Kubernetes' notation; it orders managers of equal age. */
export function identityOf({
  name,
  operation,
  apiVersion,
  subresource,
}: Omit<Manager, 'fields' | 'entry'>): string {
  return JSON.stringify({
    ...(name === '' ? {} : { manager: name }),
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource === '' ? {} : { subresource }),
  });
}

/** The manager with other fields; undefined if there are none. */
export function withFields(manager: Manager, fields: FieldSet): Manager | undefined {
  if (isEmptySet(fields)) return undefined;
  if (fields === manager.fields) return manager;
  return { ...manager, fields, entry: undefined };
}

/** Whether a client requests that no field has an owner: by an empty list, or one with an empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [first, ...others] = entries;
  return first === undefined || (others.length === 0 && isEqualJson(first as Json, {}));
}
