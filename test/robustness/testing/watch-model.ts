import type { Change, Entry } from '../../../src/apiserver/store/store.ts';

/** What a watcher wants to see, in the words of the API and, for the model, as a function. */
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

/** What a watcher has to see of everything that happened after a version: no more, no less, in this order. */
export function expectedEvents(
  changes: readonly Change[],
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

/** Which objects there are in the end, and in which version. */
export function expectedState(changes: readonly Change[], interest: Interest): ReadonlyMap<string, number> {
  const state = new Map<string, number>();
  for (const { type, key, version } of expectedEvents(changes, interest, 0)) {
    if (type === 'DELETED') state.delete(key);
    else state.set(key, version);
  }
  return state;
}

function isInNamespace({ key }: Entry, { namespace }: Interest): boolean {
  return namespace === undefined || key.startsWith(`${namespace}/`);
}

/** Read once for each entry, however many watchers are judged by it. */
const read = new WeakMap<Entry, WatchedObject>();

function objectOf(entry: Entry): WatchedObject {
  const known = read.get(entry);
  if (known !== undefined) return known;
  const object = JSON.parse(Buffer.from(entry.bytes).toString('utf8')) as WatchedObject;
  read.set(entry, object);
  return object;
}
