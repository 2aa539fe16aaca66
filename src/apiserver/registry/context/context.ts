import { failure, notFound } from '../../../kube/api-error.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { apiVersionOf, type ObjectKey, qualifiedPlural } from '../../../kube/resource.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Ids } from '../../../runtime/ids.ts';
import type { KindCatalogue } from '../../kinds/kind-catalog.ts';
import type { Kind, StoredObject } from '../../kinds/served-kind.ts';
import { formOf } from '../../schema/object-form.ts';
import type { Entry, Store } from '../../store/store.ts';
import type { Snapshot, WriteContext } from '../registry.ts';
import type { OperatorRules } from './operator-rules.ts';
import { decodeObject, encodeObject, encodeStored, type Snapshots, transientSnapshot } from './snapshot.ts';

/** What every verb works with. */
export interface RegistryContext {
  readonly store: Store;
  readonly kinds: KindCatalogue;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rules?: OperatorRules | undefined;
}

/** An object in the store, with the entry that a write has to replace. */
export interface Found {
  readonly entry: Entry;
  readonly snapshot: Snapshot;
}

/** The kind in whose form an object is stored: itself, but for kinds that share the storage of another. */
export function storageKind({ kinds }: RegistryContext, kind: Kind): Kind {
  const { storedAs } = kind;
  return storedAs === undefined ? kind : (kinds.inGroup(storedAs.group, storedAs.kind) ?? kind);
}

export function bucketOf(context: RegistryContext, kind: Kind): string {
  return qualifiedPlural(storageKind(context, kind));
}

/** `namespace/name`, or the name alone: lists come in this order. */
export function storeKey(kind: Kind, { namespace, name }: ObjectKey): string {
  return kind.namespaced ? `${namespace ?? ''}/${name}` : name;
}

export function find(context: RegistryContext, kind: Kind, key: ObjectKey): Found | undefined {
  const entry = context.store.get(bucketOf(context, kind), storeKey(kind, key));
  return entry === undefined ? undefined : { entry, snapshot: snapshotOf(context, kind, entry) };
}

export function findOrRefuse(context: RegistryContext, kind: Kind, key: ObjectKey): Found {
  const found = find(context, kind, key);
  if (found === undefined) throw notFound(kind, key.name);
  return found;
}

/** An entry in the form that this kind serves. */
export function snapshotOf(context: RegistryContext, kind: Kind, entry: Entry): Snapshot {
  const stored = context.snapshots.of(storageKind(context, kind), entry);
  return kind.storedAs === undefined ? stored : transientSnapshot(kind.storedAs.fromStored(stored.object));
}

/**
 * Stores what a write has made, or only says what it would have stored. The object belongs to the registry from here on. Nothing
 * has awaited since `old` was read, so the swap cannot fail; the answer waits until the write is durable.
 */
export async function store(
  context: RegistryContext,
  kind: Kind,
  object: StoredObject,
  old: Entry | undefined,
  write: Pick<WriteContext, 'dryRun'>,
): Promise<Snapshot> {
  if (write.dryRun === true) {
    formOf(kind).dropEmptyLists(object as unknown as Record<string, unknown>);
    return transientSnapshot(kind.definition?.revive(toStored(kind, object)) ?? object);
  }
  const owner = storageKind(context, kind);
  const stored = toStored(kind, object);
  const key = storeKey(kind, { namespace: object.metadata.namespace, name: object.metadata.name ?? '' });
  const entry = context.store.put(bucketOf(context, kind), key, old?.revision ?? 0, (revision) => {
    stored.metadata.resourceVersion = String(revision);
    return checkedSize(encodeStored(stored, owner));
  });
  // What another version stores is read again as that version shows it.
  if (stored === object || kind.storedAs !== undefined) context.snapshots.written(owner, entry, stored);
  await context.store.whenDurable(entry.revision);
  return snapshotOf(context, kind, entry);
}

function toStored({ storedAs, definition }: Kind, object: StoredObject): StoredObject {
  if (storedAs !== undefined) return storedAs.toStored(object);
  return definition?.toStored?.(object) ?? object;
}

/** A real server's storage takes 1.5 MiB, in a form that is shorter than JSON. */
const objectMaxBytes = 2 * 1024 * 1024;

/** Objects are kept in memory, and so is their past: whatever fits into a request would be too much. */
function checkedSize(bytes: Uint8Array): Uint8Array {
  if (bytes.length > objectMaxBytes) throw failure(500, undefined, 'etcdserver: request is too large');
  return bytes;
}

/** Removes an object. Watchers see its last state under the revision of the removal, which is returned. */
export async function remove(
  context: RegistryContext,
  kind: Kind,
  last: StoredObject,
  old: Entry,
  write: Pick<WriteContext, 'dryRun'>,
): Promise<number> {
  if (write.dryRun === true) return old.revision;
  // Also what the version does not show that it is removed through.
  const stored = kind.definition === undefined ? toStored(kind, last) : decodedEntry(kind, old);
  const entry = context.store.remove(bucketOf(context, kind), old.key, old.revision, (revision) =>
    encodeObject({ ...stored, metadata: { ...stored.metadata, resourceVersion: String(revision) } }),
  );
  await context.store.whenDurable(entry.revision);
  return entry.revision;
}

function decodedEntry(kind: Kind, { bytes }: Entry): StoredObject {
  return decodeObject({ kind: kind.kind, apiVersion: apiVersionOf(kind), json: bytes });
}

/** The time as objects carry it, in whole seconds. */
export function timestamp({ clock }: RegistryContext, laterSeconds = 0): string {
  return formatTimestamp(clock.nowMs() + laterSeconds * 1000);
}

/** All objects of a kind, as they are now. */
export function everything<T extends StoredObject>(
  context: RegistryContext,
  kind: Kind,
  namespace?: string,
): readonly T[] {
  const prefix = namespace === undefined ? undefined : `${namespace}/`;
  return context.store
    .list(bucketOf(context, kind), { prefix })
    .map((entry) => snapshotOf(context, kind, entry).object as T);
}
