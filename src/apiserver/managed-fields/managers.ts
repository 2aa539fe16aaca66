import { isEqualJson } from '../../kube/deep-equal.ts';
import { isJsonObject, type Json } from '../../kube/go/json-value.ts';
import { compareUtf8 } from '../../kube/sorted-keys.ts';
import { type FieldSet, isEmptySet, parseFieldSet } from './field-set.ts';

/** An entry of metadata.managedFields. */
export interface ManagedFieldsEntry {
  readonly manager?: string | undefined;
  readonly operation?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly time?: string | undefined;
  readonly fieldsType?: string | undefined;
  readonly fieldsV1?: Readonly<Record<string, unknown>> | undefined;
  readonly subresource?: string | undefined;
}

/** Who owns which fields, and since when. Everything but the set and the time says who. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** As in the API, `2026-01-31T12:00:00Z`; empty where it is unknown. */
  readonly time: string;
  readonly fields: FieldSet;
  /** What it was read from, if it is still that. */
  readonly entry: ManagedFieldsEntry | undefined;
}

/** Undefined for a list that is no proper one. Of entries for the same manager, the last one counts. */
export function readManagers(entries: readonly ManagedFieldsEntry[]): readonly Manager[] | undefined {
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const fields = isJsonObject(entry) ? parseFieldSet(entry.fieldsV1) : undefined;
    if (fields === undefined || !isProper(entry)) return undefined;
    const manager = managerOf(entry, fields);
    managers.set(identityOf(manager), manager);
  }
  return [...managers.values()];
}

/** For entries that we wrote ourselves: their sets are in order already. */
export function trustManagers(entries: readonly ManagedFieldsEntry[]): readonly Manager[] | undefined {
  if (!entries.every(isProper)) return undefined;
  return entries.map((entry) => managerOf(entry, (entry.fieldsV1 ?? {}) as FieldSet, entry));
}

function isProper({ operation, apiVersion, fieldsType }: ManagedFieldsEntry): boolean {
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

/** The entries as the API shows them: Apply before Update, then the oldest first. */
export function writeManagers(managers: readonly Manager[]): readonly ManagedFieldsEntry[] | undefined {
  if (managers.length === 0) return undefined;
  return managers.toSorted(compareManagers).map((manager) => manager.entry ?? entryOf(manager));
}

/** Fields in the order of Kubernetes' JSON. */
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

/** To the second. No time is the beginning of Unix time. */
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

/** A text for it, as Kubernetes has them; ties between equally old managers are decided by it. */
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

/** With other fields; undefined where none are left. */
export function withFields(manager: Manager, fields: FieldSet): Manager | undefined {
  if (isEmptySet(fields)) return undefined;
  if (fields === manager.fields) return manager;
  return { ...manager, fields, entry: undefined };
}

/** Whether a client asks that nobody shall own anything: an empty list, or one with a blank entry. */
export function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [first, ...others] = entries;
  return first === undefined || (others.length === 0 && isEqualJson(first as Json, {}));
}
