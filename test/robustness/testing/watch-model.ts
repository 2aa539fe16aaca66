import type { StoreChange, StoreEntry } from '../../../src/apiserver/store/store.ts';

/** What a watcher selects, as API parameters and, for the model, as a function. */
export interface Interest {
  readonly plural: 'configmaps' | 'pods';
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  matches(object: WatchedObject): boolean;
}

export interface WatchedObject {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly phase?: string };
}

export interface SeenEvent {
  readonly type: string;
  readonly key: string;
  readonly version: number;
}

/** Exactly the events, in order, that a watcher must see after a version. */
export function expectedEvents(
  changes: readonly StoreChange[],
  interest: Interest,
  after: number,
): readonly SeenEvent[] {
  const events: SeenEvent[] = [];
  for (const { bucket, entry, previous, type } of changes) {
    if (bucket !== interest.plural || entry.revision <= after || !isInNamespace(entry, interest)) continue;
    const was = previous !== undefined && interest.matches(objectOf(previous));
    const is = type === 'put' && interest.matches(objectOf(entry));
    const seen = is ? (was ? 'MODIFIED' : 'ADDED') : was ? 'DELETED' : undefined;
    if (seen !== undefined) events.push({ type: seen, key: entry.key, version: entry.revision });
  }
  return events;
}

/** The objects that exist at the end, with their versions. */
export function expectedState(
  changes: readonly StoreChange[],
  interest: Interest,
): ReadonlyMap<string, number> {
  const state = new Map<string, number>();
  for (const { type, key, version } of expectedEvents(changes, interest, 0)) {
    if (type === 'DELETED') state.delete(key);
    else state.set(key, version);
  }
  return state;
}

function isInNamespace({ key }: StoreEntry, { namespace }: Interest): boolean {
  return namespace === undefined || key.startsWith(`${namespace}/`);
}

/** Parses each entry once, because many watchers are checked against it. */
const read = new WeakMap<StoreEntry, WatchedObject>();

function objectOf(entry: StoreEntry): WatchedObject {
  const known = read.get(entry);
  if (known !== undefined) return known;
  const object = JSON.parse(Buffer.from(entry.bytes).toString('utf8')) as WatchedObject;
  read.set(entry, object);
  return object;
}
