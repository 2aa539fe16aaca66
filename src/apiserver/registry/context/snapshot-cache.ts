import { apiVersionOf } from '../../../kube/resource.ts';
import { assert } from '../../../runtime/assert.ts';
import { nextTurn } from '../../../runtime/next-turn.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { formOf, type Typed } from '../../schema/object-form.ts';
import type { StoreEntry } from '../../store/store.ts';
import type { ObjectSnapshot } from '../registry.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** How many decoded objects are kept beside their bytes; a decoded object takes several times the room of its JSON. */
const decodedMax = 2_048;

/** How many entries are looked at in one go; some milliseconds. */
const sliceLength = 200;

/**
 * Snapshots of stored entries, made when somebody asks. The bytes live in the store; the objects that were written or decoded
 * last are remembered, the others are decoded again.
 */
export class SnapshotCache {
  /** Oldest first. By entry, but for kinds that were defined: several of them may show one entry. */
  readonly #decoded = new Map<StoreEntry | ObjectSnapshot, EntrySnapshot>();
  /** What entries are to kinds that were defined, as far as somebody has looked. */
  readonly #revived = new WeakMap<ServedKind, WeakMap<StoreEntry, ObjectSnapshot>>();
  readonly #warm = new WeakSet<ServedKind>();

  get(kind: ServedKind, entry: StoreEntry): ObjectSnapshot {
    if (kind.definition !== undefined) return this.#revivedOf(kind, entry);
    return this.#decoded.get(entry) ?? new EntrySnapshot(kind, entry, this);
  }

  /** As `of`, where the object is at hand anyway because it was just written. */
  addWritten(kind: ServedKind, entry: StoreEntry, object: StoredObject): ObjectSnapshot {
    const snapshot = new EntrySnapshot(kind, entry, this, object);
    if (kind.definition !== undefined) this.#revivedBy(kind).set(entry, snapshot);
    this.keepDecoded(entry, snapshot);
    return snapshot;
  }

  /** Of a kind that was defined: looks at these now, some at a time, and lets everything else go on in between. */
  async warmUp(kind: ServedKind, entries: readonly StoreEntry[]): Promise<void> {
    const revived = this.#revivedBy(kind);
    let made = 0;
    for (const entry of entries) {
      if (revived.has(entry)) continue;
      this.#revivedOf(kind, entry);
      made += 1;
      if (made % sliceLength === 0) await nextTurn();
    }
  }

  /** Whether all there was of a kind has been looked at once; what is written later is looked at when it is read. */
  isWarm(kind: ServedKind): boolean {
    return this.#warm.has(kind);
  }

  markWarm(kind: ServedKind): void {
    this.#warm.add(kind);
  }

  /** An entry that a definition of today would have stored just so is shown as it is; that is found out once. */
  #revivedOf(kind: ServedKind, entry: StoreEntry): ObjectSnapshot {
    const known = this.#revivedBy(kind).get(entry);
    if (known !== undefined) return known;
    const plain = new EntrySnapshot(kind, entry, this);
    const object = kind.definition?.fromStored(plain.object) ?? plain.object;
    const isSame = object === plain.object;
    const snapshot = isSame
      ? plain
      : new EntrySnapshot(kind, { ...entry, bytes: encodeObject(object) }, this);
    this.#revivedBy(kind).set(entry, snapshot);
    return snapshot;
  }

  #revivedBy(kind: ServedKind): WeakMap<StoreEntry, ObjectSnapshot> {
    let revived = this.#revived.get(kind);
    if (revived === undefined) {
      revived = new WeakMap();
      this.#revived.set(kind, revived);
    }
    return revived;
  }

  keepDecoded(entry: StoreEntry, snapshot: EntrySnapshot): void {
    this.#decoded.set(snapshot.isCustom ? snapshot : entry, snapshot);
    if (this.#decoded.size <= decodedMax) return;
    const [oldest] = this.#decoded.entries();
    if (oldest === undefined) return;
    oldest[1].dropDecoded();
    this.#decoded.delete(oldest[0]);
  }
}

class EntrySnapshot implements ObjectSnapshot {
  readonly #kind: ServedKind;
  readonly #entry: StoreEntry;
  readonly #owner: SnapshotCache;
  #object: StoredObject | undefined;

  constructor(kind: ServedKind, entry: StoreEntry, owner: SnapshotCache, object?: StoredObject) {
    this.#kind = kind;
    this.#entry = entry;
    this.#owner = owner;
    this.#object = object;
  }

  get kind(): string {
    return this.#kind.kind;
  }

  get apiVersion(): string {
    return apiVersionOf(this.#kind);
  }

  get json(): Uint8Array {
    return this.#entry.bytes;
  }

  get isCustom(): boolean {
    return this.#kind.definition !== undefined;
  }

  get revision(): number {
    return this.#entry.revision;
  }

  get object(): StoredObject {
    if (this.#object !== undefined) return this.#object;
    const object = decodeObject(this);
    this.#object = object;
    this.#owner.keepDecoded(this.#entry, this);
    return object;
  }

  dropDecoded(): void {
    this.#object = undefined;
  }
}

/** A snapshot of something that is not stored as such: the answer to a dry run, a scale, an Event of the other group. */
export function transientSnapshot(object: StoredObject): ObjectSnapshot {
  let json: Uint8Array | undefined;
  return {
    kind: object.kind,
    apiVersion: object.apiVersion,
    object,
    get json() {
      json ??= encodeObject(object);
      return json;
    },
    revision: Number(object.metadata.resourceVersion ?? 0),
  };
}

/** JSON without `kind` and `apiVersion`, as in the items of a list. */
export function encodeObject(object: StoredObject): Uint8Array {
  return encoder.encode(jsonOf(object));
}

/** As `encodeObject`, of an object that is going to be stored; it gets the form that it has from then on. */
export function encodeStored(object: StoredObject, typed: Typed): Uint8Array {
  const json = jsonOf(object);
  // Few objects have an empty list; the others need no second look.
  if (!json.includes(':[]')) return encoder.encode(json);
  formOf(typed).dropEmptyLists(object as unknown as Record<string, unknown>);
  return encoder.encode(jsonOf(object));
}

function jsonOf(object: StoredObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return JSON.stringify(rest);
}

/** A copy that is the caller's to change. */
export function decodeObject({
  kind,
  apiVersion,
  json,
}: Pick<ObjectSnapshot, 'kind' | 'apiVersion' | 'json'>): StoredObject {
  const text = decoder.decode(json);
  assert(text.startsWith('{"'), 'stored objects are JSON objects with at least metadata');
  return JSON.parse(`{"kind":"${kind}","apiVersion":"${apiVersion}",${text.slice(1)}`) as StoredObject;
}
