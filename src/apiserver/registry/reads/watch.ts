import { expired, failure } from '../../../kube/api-error.ts';
import { WorkSlices } from '../../../runtime/work-slices.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { StoreEntry } from '../../store/store.ts';
import { bucketOf, type RegistryContext, snapshotOf } from '../context/registry-context.ts';
import type { RegistryEvent, WatchHandle, WatchListener, WatchQuery } from '../registry.ts';
import { compileFilter, type ObjectFilter } from '../selection/object-filter.ts';
import { checkNotFuture, versionSyntaxError } from './list.ts';
import { OpenWatch } from './open-watch.ts';
import { warmUp } from './warm-up.ts';

/**
 * WATCH. Begins with the existing objects (no version, `0`, or initial events requested) or after a version, and
 * continues until it is closed. The initial state is the newest durable one and the changes follow right after it, so
 * nothing is missed or repeated.
 */
export async function watchObjects(
  context: RegistryContext,
  kind: ServedKind,
  query: WatchQuery,
  listener: WatchListener,
): Promise<WatchHandle> {
  const filter = compileFilter(kind, query);
  const asked = watchRevision(query.resourceVersion);
  const isState = query.sendInitialEvents ?? asked === 0;
  if (isState && kind.definition !== undefined)
    await warmUp(context, kind, { namespace: filter.namespace, limit: 0 });
  if (isState) checkNotFuture(context, asked, query.resourceVersion);
  const start = isState || asked === 0 ? context.store.durableRevision : startAfter(context, asked);
  if (isState) {
    const marksEnd = query.sendInitialEvents === true && query.bookmarks === true;
    await sendInitialState(context, kind, filter, { start, marksEnd, listener });
  }
  const watch = new OpenWatch({ context, kind, filter, start, listener });
  if (!watch.open()) throw tooOld(asked, context.store.compactedRevision);
  return watch;
}

interface InitialState {
  readonly start: number;
  /** Whether a bookmark marks the end of the initial state. */
  readonly marksEnd: boolean;
  readonly listener: WatchListener;
}

/** Other work gets turns while objects are selected; changes that are made meanwhile follow from the history. */
async function sendInitialState(
  context: RegistryContext,
  kind: ServedKind,
  filter: ObjectFilter,
  { start, marksEnd, listener }: InitialState,
): Promise<void> {
  const events: RegistryEvent[] = [];
  const slices = new WorkSlices();
  for (const entry of stateAt(context, kind, filter, start)) {
    const snapshot = snapshotOf(context, kind, entry);
    if (filter.matches !== undefined) {
      const turn = slices.add(entry.bytes.length);
      if (turn !== undefined) await turn;
      if (!filter.matches(snapshot.object)) continue;
    }
    events.push({ type: 'ADDED', snapshot });
  }
  if (marksEnd) events.push({ type: 'BOOKMARK', resourceVersion: String(start), isInitialEnd: true });
  if (events.length > 0) listener.events(events);
}

function stateAt(
  context: RegistryContext,
  kind: ServedKind,
  { namespace }: ObjectFilter,
  revision: number,
): readonly StoreEntry[] {
  const prefix = kind.namespaced && namespace !== undefined ? `${namespace}/` : undefined;
  const entries = context.store.listAt(bucketOf(context, kind), revision, { prefix });
  if (entries === undefined) throw tooOld(revision, context.store.compactedRevision);
  return entries;
}

function startAfter(context: RegistryContext, asked: number): number {
  if (asked < context.store.compactedRevision) throw tooOld(asked, context.store.compactedRevision);
  return asked;
}

function tooOld(asked: number, oldest: number) {
  return expired(`too old resource version: ${asked} (${oldest})`);
}

function watchRevision(resourceVersion: string | undefined): number {
  if (resourceVersion === undefined || resourceVersion === '') return 0;
  const problem = versionSyntaxError(resourceVersion);
  if (problem !== undefined) throw failure(500, undefined, problem);
  return Number(resourceVersion);
}
