import { assert } from '../../../runtime/assert.ts';
import { apiVersionOf } from '../../resource.ts';
import type { Kind, StoredObject } from '../kinds/kind.ts';
import { dropEmptyLists } from '../schema/stored-form.ts';
import type { Entry } from '../store/store.ts';
import type { Snapshot } from './api.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** How many decoded objects are kept beside their bytes; a decoded object takes several times the room of its JSON. */
const decodedMax = 2_048;

/**
 * Snapshots of stored entries: one for each entry, made when somebody asks. The bytes live in the store; decoded objects are
 * remembered for the newest few thousand, and decoded again for the others.
 */
export class Snapshots {
  readonly #byEntry = new WeakMap<Entry, EntrySnapshot>();
  readonly #decoded: (EntrySnapshot | undefined)[] = new Array(decodedMax);
  #next = 0;

  of(kind: Kind, entry: Entry): Snapshot {
    const known = this.#byEntry.get(entry);
    if (known !== undefined) return known;
    const snapshot = new EntrySnapshot(kind, entry, (decoded) => this.#remember(decoded));
    this.#byEntry.set(entry, snapshot);
    return snapshot;
  }

  /** As `of`, where the object is at hand anyway because it was just written. */
  written(kind: Kind, entry: Entry, object: StoredObject): Snapshot {
    const snapshot = new EntrySnapshot(kind, entry, (decoded) => this.#remember(decoded), object);
    this.#byEntry.set(entry, snapshot);
    this.#remember(snapshot);
    return snapshot;
  }

  #remember(snapshot: EntrySnapshot): void {
    this.#decoded[this.#next]?.forget();
    this.#decoded[this.#next] = snapshot;
    this.#next = (this.#next + 1) % decodedMax;
  }
}

class EntrySnapshot implements Snapshot {
  readonly kind: string;
  readonly apiVersion: string;
  readonly json: Uint8Array;
  readonly revision: number;
  readonly #onDecode: (snapshot: EntrySnapshot) => void;
  #object: StoredObject | undefined;

  constructor(kind: Kind, entry: Entry, onDecode: (snapshot: EntrySnapshot) => void, object?: StoredObject) {
    this.kind = kind.kind;
    this.apiVersion = apiVersionOf(kind);
    this.json = entry.bytes;
    this.revision = entry.revision;
    this.#onDecode = onDecode;
    this.#object = object;
  }

  get object(): StoredObject {
    if (this.#object !== undefined) return this.#object;
    this.#object = decodeObject(this);
    this.#onDecode(this);
    return this.#object;
  }

  forget(): void {
    this.#object = undefined;
  }
}

/** A snapshot of something that is not stored as such: the answer to a dry run, a scale, an Event of the other group. */
export function transientSnapshot(object: StoredObject): Snapshot {
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
export function encodeStored(object: StoredObject, type: string): Uint8Array {
  const json = jsonOf(object);
  // Few objects have an empty list; the others need no second look.
  if (!json.includes(':[]')) return encoder.encode(json);
  dropEmptyLists(type, object as unknown as Record<string, unknown>);
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
}: Pick<Snapshot, 'kind' | 'apiVersion' | 'json'>): StoredObject {
  const text = decoder.decode(json);
  assert(text.startsWith('{"'), 'stored objects are JSON objects with at least metadata');
  return JSON.parse(`{"kind":"${kind}","apiVersion":"${apiVersion}",${text.slice(1)}`) as StoredObject;
}
