import { jsonText } from '../../../kube/go/json-text.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { assert } from '../../../runtime/assert.ts';
import { nextTurn } from '../../../runtime/next-turn.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { parseServerJson } from '../../schema/json-reader.ts';
import { formOf, type Typed } from '../../schema/object-form.ts';
import type { StoreEntry } from '../../store/store.ts';
import type { ObjectSnapshot } from '../registry.ts';
import { decodedObjectBytes } from './decoded-size.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface SnapshotCacheLimits {
  /** How many decoded objects are cached. */
  readonly objectsMax: number;
  /** The estimated memory of the decoded objects and their JSON, in bytes. The newest object is cached whatever its size. */
  readonly bytesMax: number;
}

const defaultLimits: SnapshotCacheLimits = { objectsMax: 2_048, bytesMax: 64 * 2 ** 20 };

/** How many entries are converted before other work gets a turn; a few milliseconds. */
const sliceLength = 200;

/**
 * Creates snapshots of stored entries on demand. The store holds the bytes; the most recently written or decoded
 * objects are cached, others are decoded again.
 */
export class SnapshotCache {
  readonly #limits: SnapshotCacheLimits;
  /** Oldest first. Keyed by entry, or by snapshot for custom kinds, since several kinds may show one entry. */
  readonly #decoded = new Map<StoreEntry | ObjectSnapshot, EntrySnapshot>();
  #bytes = 0;
  /** Entries converted for custom kinds, as far as they have been read. */
  readonly #conversions = new WeakMap<ServedKind, WeakMap<StoreEntry, ObjectSnapshot>>();
  readonly #warm = new WeakSet<ServedKind>();

  constructor(limits: Partial<SnapshotCacheLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** The estimated memory of the cached objects. */
  get bytes(): number {
    return this.#bytes;
  }

  get(kind: ServedKind, entry: StoreEntry): ObjectSnapshot {
    if (kind.definition !== undefined) return this.#convert(kind, entry);
    return this.#decoded.get(entry) ?? new EntrySnapshot(kind, entry, this);
  }

  /** As `get`, for an object that was just written and need not be decoded. */
  addWritten(kind: ServedKind, entry: StoreEntry, object: StoredObject): ObjectSnapshot {
    const snapshot = new EntrySnapshot(kind, entry, this, object);
    if (kind.definition !== undefined) this.#conversionsOf(kind).set(entry, snapshot);
    this.keepDecoded(entry, snapshot);
    return snapshot;
  }

  /** Converts entries of a custom kind in slices, so that other work gets turns in between. */
  async warmUp(kind: ServedKind, entries: readonly StoreEntry[]): Promise<void> {
    const conversions = this.#conversionsOf(kind);
    let made = 0;
    for (const entry of entries) {
      if (conversions.has(entry)) continue;
      this.#convert(kind, entry);
      made += 1;
      if (made % sliceLength === 0) await nextTurn();
    }
  }

  /** Whether all entries of a kind were converted once; later writes are converted when read. */
  isWarm(kind: ServedKind): boolean {
    return this.#warm.has(kind);
  }

  markWarm(kind: ServedKind): void {
    this.#warm.add(kind);
  }

  /** Converts an entry to the kind's current schema, once. An entry that needs no change is shown as stored. */
  #convert(kind: ServedKind, entry: StoreEntry): ObjectSnapshot {
    const known = this.#conversionsOf(kind).get(entry);
    if (known !== undefined) return known;
    const plain = new EntrySnapshot(kind, entry, this);
    const object = kind.definition?.fromStored(plain.object) ?? plain.object;
    const isSame = object === plain.object;
    const snapshot = isSame
      ? plain
      : new EntrySnapshot(kind, { ...entry, bytes: encodeObject(object) }, this);
    this.#conversionsOf(kind).set(entry, snapshot);
    return snapshot;
  }

  #conversionsOf(kind: ServedKind): WeakMap<StoreEntry, ObjectSnapshot> {
    let conversions = this.#conversions.get(kind);
    if (conversions === undefined) {
      conversions = new WeakMap();
      this.#conversions.set(kind, conversions);
    }
    return conversions;
  }

  keepDecoded(entry: StoreEntry, snapshot: EntrySnapshot): void {
    const key = snapshot.isCustom ? snapshot : entry;
    const replaced = this.#decoded.get(key);
    if (replaced !== undefined) this.#drop(key, replaced);
    this.#decoded.set(key, snapshot);
    this.#bytes += snapshot.cachedBytes;
    const { objectsMax, bytesMax } = this.#limits;
    for (const [oldest, dropped] of this.#decoded) {
      if (this.#decoded.size <= objectsMax && this.#bytes <= bytesMax) return;
      if (dropped === snapshot) return;
      this.#drop(oldest, dropped);
      dropped.dropDecoded();
    }
  }

  #drop(key: StoreEntry | ObjectSnapshot, snapshot: EntrySnapshot): void {
    this.#decoded.delete(key);
    this.#bytes -= snapshot.cachedBytes;
  }
}

class EntrySnapshot implements ObjectSnapshot {
  readonly #kind: ServedKind;
  readonly #entry: StoreEntry;
  readonly #owner: SnapshotCache;
  #object: StoredObject | undefined;
  #cachedBytes: number | undefined;

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

  /** The memory that it takes while it is decoded. */
  get cachedBytes(): number {
    this.#cachedBytes ??= decodedObjectBytes(this.#entry.bytes);
    return this.#cachedBytes;
  }

  dropDecoded(): void {
    this.#object = undefined;
  }
}

/** A snapshot of an object that is not stored in this form: the result of a dry run, a Scale, an Event of the other group. */
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

/** JSON without `kind` and `apiVersion`, as items of a list have it. */
export function encodeObject(object: StoredObject): Uint8Array {
  return encoder.encode(jsonOf(object));
}

/** As `encodeObject`, for an object about to be stored, which is changed to its stored form. */
export function encodeStored(object: StoredObject, typed: Typed): Uint8Array {
  const json = jsonOf(object);
  // Few objects contain an empty list; the others need no second pass.
  if (!json.includes(':[]')) return encoder.encode(json);
  formOf(typed).dropEmptyLists(object as unknown as Record<string, unknown>);
  return encoder.encode(jsonOf(object));
}

function jsonOf(object: StoredObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return jsonText(rest);
}

/** Decodes a copy that the caller may change. */
export function decodeObject({
  kind,
  apiVersion,
  json,
}: Pick<ObjectSnapshot, 'kind' | 'apiVersion' | 'json'>): StoredObject {
  const text = decoder.decode(json);
  assert(text.startsWith('{"'), 'stored objects are JSON objects with at least metadata');
  return parseServerJson(`{"kind":"${kind}","apiVersion":"${apiVersion}",${text.slice(1)}`) as StoredObject;
}
