import {
  describeEvent,
  describeOperation,
  type History,
  type Item,
  type WatchEvent,
  type WatchStream,
} from './history.ts';

type Change = Exclude<WatchEvent, { readonly type: 'BOOKMARK' }>;

/**
 * Whether every watcher received every change after its list, once and in order, across reconnections. The changes are
 * those that were acknowledged, and those that any watcher received; a watcher must have all of them up to the newest
 * version that it knows of, by an event or a bookmark. Its objects must be those of every list at the same version.
 */
export function checkWatches(history: History): string[] {
  const changes = allChanges(history);
  return history.watches.flatMap((stream) => [
    ...checkOrder(stream),
    ...checkCompleteness(stream, changes),
    ...checkLists(stream, history),
  ]);
}

interface KnownChange {
  readonly version: number;
  readonly description: string;
}

/** All effective changes of which the version is known, oldest first. */
function allChanges({ operations, watches }: History): KnownChange[] {
  const byVersion = new Map<number, KnownChange>();
  for (const { watcher, events } of watches) {
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue;
      const description = `${describeEvent(event)}, which ${watcher} received`;
      byVersion.set(event.version, { version: event.version, description });
    }
  }
  for (const operation of operations) {
    const { outcome } = operation;
    if (outcome.type !== 'written' || outcome.version === undefined) continue;
    byVersion.set(outcome.version, { version: outcome.version, description: describeOperation(operation) });
  }
  return [...byVersion.values()].sort((a, b) => a.version - b.version);
}

/** Versions increase, and each event fits to the objects that the watcher knows. */
function checkOrder({ watcher, startVersion, startItems, events }: WatchStream): string[] {
  const problems: string[] = [];
  const items = new Map(startItems.map((item) => [item.name, item]));
  let last = `its list at version ${startVersion}`;
  let version = startVersion;
  for (const event of events) {
    const isOld = event.type === 'BOOKMARK' ? event.version < version : event.version <= version;
    if (isOld) problems.push(`${watcher} received ${describeEvent(event)} after ${last}`);
    if (event.type !== 'BOOKMARK') {
      const problem = misfit(event, items.get(event.name));
      if (problem !== undefined) problems.push(`${watcher} received ${describeEvent(event)}, but ${problem}`);
      apply(items, event);
    }
    last = describeEvent(event);
    version = Math.max(version, event.version);
  }
  return problems;
}

function misfit({ type, value }: Change, known: Item | undefined): string | undefined {
  if (type === 'ADDED') return known && `the object existed with ${known.value}`;
  if (known === undefined) return 'the object did not exist';
  return type === 'DELETED' && known.value !== value ? `the object had ${known.value}` : undefined;
}

function apply(items: Map<string, Item>, event: Change): void {
  if (event.type === 'DELETED') items.delete(event.name);
  else items.set(event.name, event);
}

function checkCompleteness(stream: WatchStream, changes: readonly KnownChange[]): string[] {
  const { watcher, startVersion, events } = stream;
  const through = newestVersion(stream);
  const received = new Set(events.flatMap((event) => (event.type === 'BOOKMARK' ? [] : [event.version])));
  return changes
    .filter(({ version }) => version > startVersion && version <= through && !received.has(version))
    .map(({ description }) => `${watcher} knows of version ${through}, but did not receive: ${description}`);
}

function newestVersion({ startVersion, events }: WatchStream): number {
  return events.reduce((newest, { version }) => Math.max(newest, version), startVersion);
}

/** Lists at a version that the watcher has passed. */
function checkLists(stream: WatchStream, { operations }: History): string[] {
  const { watcher, startVersion, startItems, events } = stream;
  const through = newestVersion(stream);
  const lists = operations
    .flatMap((operation) =>
      operation.outcome.type === 'listed' ? [{ operation, ...operation.outcome }] : [],
    )
    .filter(({ version }) => version >= startVersion && version <= through)
    .sort((a, b) => a.version - b.version);
  const state = new Map(startItems.map((item) => [item.name, item]));
  let index = 0;
  return lists.flatMap(({ operation, version, items }) => {
    for (; index < events.length && events[index]!.version <= version; index += 1) {
      const event = events[index]!;
      if (event.type !== 'BOOKMARK') apply(state, event);
    }
    const [listed, watched] = [describeItems(items), describeItems([...state.values()])];
    if (listed === watched) return [];
    return [`${describeOperation(operation)} has ${listed}, but ${watcher} then had ${watched}`];
  });
}

function describeItems(items: readonly Item[]): string {
  const texts = items.map(({ name, value }) => `${name}=${value}`).sort();
  return texts.join(' ') || 'no objects';
}
