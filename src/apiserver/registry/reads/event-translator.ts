import type { ServedKind } from '../../kinds/served-kind.ts';
import type { StoreChange } from '../../store/store.ts';
import { type RegistryContext, snapshotOf } from '../context/registry-context.ts';
import { transientSnapshot } from '../context/snapshot-cache.ts';
import type { ObjectSnapshot, RegistryEvent } from '../registry.ts';
import type { ObjectFilter } from '../selection/object-filter.ts';

/**
 * The events of a change for watchers of one kind, each created at most once for all watchers. Weak references let them
 * go once all watchers have sent them: the history keeps the change itself, and would otherwise keep the decoded
 * objects and encoded bytes as well.
 */
type ChangeEvents = { [type in 'ADDED' | 'MODIFIED' | 'DELETED']?: WeakRef<RegistryEvent> };

/** Translated events, by kind, because two kinds may share their storage. */
const made = new WeakMap<StoreChange, Map<ServedKind, ChangeEvents>>();

/** Translates changes of the store into the events of one watcher. */
export class EventTranslator {
  readonly #context: RegistryContext;
  readonly #kind: ServedKind;
  readonly #filter: ObjectFilter;
  readonly #prefix: string | undefined;

  constructor(context: RegistryContext, kind: ServedKind, filter: ObjectFilter) {
    this.#context = context;
    this.#kind = kind;
    this.#filter = filter;
    this.#prefix = kind.namespaced && filter.namespace !== undefined ? `${filter.namespace}/` : undefined;
  }

  /** Undefined if the watcher does not see the change. */
  translate(change: StoreChange): RegistryEvent | undefined {
    if (this.#prefix !== undefined && !change.entry.key.startsWith(this.#prefix)) return undefined;
    const { matches } = this.#filter;
    const was = change.previous !== undefined && (matches?.(this.#before(change).object) ?? true);
    const is = change.type === 'put' && (matches?.(this.#now(change).object) ?? true);
    if (!was && !is) return undefined;
    const events = eventsOf(change, this.#kind);
    const type = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
    const known = events[type]?.deref();
    if (known !== undefined) return known;
    const event = { type, snapshot: is ? this.#now(change) : this.#last(change) } as const;
    events[type] = new WeakRef(event);
    return event;
  }

  #now({ entry }: StoreChange): ObjectSnapshot {
    return snapshotOf(this.#context, this.#kind, entry);
  }

  #before({ previous, entry }: StoreChange): ObjectSnapshot {
    return snapshotOf(this.#context, this.#kind, previous ?? entry);
  }

  /** For a removal the last state. For an object that no longer matches, the last matching state with the new version. */
  #last(change: StoreChange): ObjectSnapshot {
    if (change.type === 'remove') return this.#now(change);
    const { object } = this.#before(change);
    const metadata = { ...object.metadata, resourceVersion: String(change.entry.revision) };
    return transientSnapshot({ ...object, metadata });
  }
}

function eventsOf(change: StoreChange, kind: ServedKind): ChangeEvents {
  const byKind = made.get(change) ?? new Map<ServedKind, ChangeEvents>();
  made.set(change, byKind);
  const events = byKind.get(kind) ?? {};
  byKind.set(kind, events);
  return events;
}
