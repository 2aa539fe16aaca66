import { failure, notFound } from '../../../kube/api-error.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { apiVersionOf, type ObjectKey, qualifiedPlural } from '../../../kube/resource.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Ids } from '../../../runtime/ids.ts';
import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { formOf } from '../../schema/object-form.ts';
import type { Store, StoreEntry } from '../../store/store.ts';
import type { ObjectSnapshot, WriteContext } from '../registry.ts';
import type { OperatorRules } from './operator-rules.ts';
import {
  decodeObject,
  encodeObject,
  encodeStored,
  type SnapshotCache,
  transientSnapshot,
} from './snapshot-cache.ts';

/** What all verbs share. */
export interface RegistryContext {
  readonly store: Store;
  readonly kinds: KindCatalog;
  readonly snapshots: SnapshotCache;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rules?: OperatorRules | undefined;
}

/** A stored object, with the entry that a write replaces. */
export interface FoundObject {
  readonly entry: StoreEntry;
  readonly snapshot: ObjectSnapshot;
}

/** The kind in whose form objects are stored: the kind itself, unless it shares the storage of another. */
export function storageKind({ kinds }: RegistryContext, kind: ServedKind): ServedKind {
  const { storedAs } = kind;
  return storedAs === undefined ? kind : (kinds.inGroup(storedAs.group, storedAs.kind) ?? kind);
}

export function bucketOf(context: RegistryContext, kind: ServedKind): string {
  return qualifiedPlural(storageKind(context, kind));
}

/** `namespace/name`, or only the name. Lists are sorted by this key. */
export function storeKey(kind: ServedKind, { namespace, name }: ObjectKey): string {
  return kind.namespaced ? `${namespace ?? ''}/${name}` : name;
}

export function findObject(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
): FoundObject | undefined {
  const entry = context.store.get(bucketOf(context, kind), storeKey(kind, key));
  return entry === undefined ? undefined : { entry, snapshot: snapshotOf(context, kind, entry) };
}

export function findOrThrow(context: RegistryContext, kind: ServedKind, key: ObjectKey): FoundObject {
  const found = findObject(context, kind, key);
  if (found === undefined) throw notFound(kind, key.name);
  return found;
}

/** An entry in the form of the served kind. */
export function snapshotOf(context: RegistryContext, kind: ServedKind, entry: StoreEntry): ObjectSnapshot {
  const stored = context.snapshots.get(storageKind(context, kind), entry);
  return kind.storedAs === undefined ? stored : transientSnapshot(kind.storedAs.fromStored(stored.object));
}

/**
 * Stores the result of a write; a dry run only returns what would be stored. Takes ownership of the object. Nothing has
 * awaited since `old` was read, so the swap cannot fail. Resolves when the write is durable.
 */
export async function storeObject(
  context: RegistryContext,
  kind: ServedKind,
  object: StoredObject,
  old: StoreEntry | undefined,
  write: Pick<WriteContext, 'dryRun'>,
): Promise<ObjectSnapshot> {
  if (write.dryRun === true) {
    formOf(kind).dropEmptyLists(object as unknown as Record<string, unknown>);
    return transientSnapshot(kind.definition?.fromStored(toStored(kind, object)) ?? object);
  }
  const owner = storageKind(context, kind);
  const stored = toStored(kind, object);
  const key = storeKey(kind, { namespace: object.metadata.namespace, name: object.metadata.name ?? '' });
  const entry = context.store.put(bucketOf(context, kind), key, old?.revision ?? 0, (revision) => {
    stored.metadata.resourceVersion = String(revision);
    return checkSize(encodeStored(stored, owner));
  });
  // Objects stored in another version are decoded again on the next read.
  if (stored === object || kind.storedAs !== undefined) context.snapshots.addWritten(owner, entry, stored);
  await context.store.whenDurable(entry.revision);
  return snapshotOf(context, kind, entry);
}

function toStored({ storedAs, definition }: ServedKind, object: StoredObject): StoredObject {
  if (storedAs !== undefined) return storedAs.toStored(object);
  return definition?.toStored?.(object) ?? object;
}

/** etcd accepts 1.5 MiB in protobuf, which is shorter than JSON. */
const objectMaxBytes = 2 * 1024 * 1024;

/** Objects and their history are kept in memory, so the limit of a request body would be too much. */
function checkSize(bytes: Uint8Array): Uint8Array {
  if (bytes.length > objectMaxBytes) throw failure(500, undefined, 'etcdserver: request is too large');
  return bytes;
}

/** Removes an object. Watchers see its last state with the revision of the removal, which is returned. */
export async function removeObject(
  context: RegistryContext,
  kind: ServedKind,
  last: StoredObject,
  old: StoreEntry,
  write: Pick<WriteContext, 'dryRun'>,
): Promise<number> {
  if (write.dryRun === true) return old.revision;
  // Includes fields that the version used for the removal does not show.
  const stored = kind.definition === undefined ? toStored(kind, last) : decodedEntry(kind, old);
  const entry = context.store.remove(bucketOf(context, kind), old.key, old.revision, (revision) =>
    encodeObject({ ...stored, metadata: { ...stored.metadata, resourceVersion: String(revision) } }),
  );
  await context.store.whenDurable(entry.revision);
  return entry.revision;
}

function decodedEntry(kind: ServedKind, { bytes }: StoreEntry): StoredObject {
  return decodeObject({ kind: kind.kind, apiVersion: apiVersionOf(kind), json: bytes });
}

/** The current time in the format of objects, in whole seconds. */
export function timestamp({ clock }: RegistryContext, laterSeconds = 0): string {
  return formatTimestamp(clock.nowMs() + laterSeconds * 1000);
}

/** All current objects of a kind. */
export function listAllObjects<T extends StoredObject>(
  context: RegistryContext,
  kind: ServedKind,
  namespace?: string,
): readonly T[] {
  const prefix = namespace === undefined ? undefined : `${namespace}/`;
  return context.store
    .list(bucketOf(context, kind), { prefix })
    .map((entry) => snapshotOf(context, kind, entry).object as T);
}
