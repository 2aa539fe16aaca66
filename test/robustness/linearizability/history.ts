/**
 * What clients did and what they were answered, as one process recorded it with one clock. Every write carries a value
 * that no other write has, so that a value identifies the write that stored it.
 */
export interface History {
  readonly operations: readonly Operation[];
  readonly watches: readonly WatchStream[];
}

export interface Operation {
  readonly client: string;
  readonly call: Call;
  readonly startMs: number;
  /**
   * When the response had arrived. For an unknown outcome: the last moment at which the operation can have taken effect,
   * such as the end of the server process that had received it; infinite if there is none.
   */
  readonly endMs: number;
  readonly outcome: Outcome;
}

export type Call =
  | { readonly verb: 'create'; readonly name: string; readonly value: string }
  | {
      readonly verb: 'update';
      readonly name: string;
      readonly value: string;
      readonly replaces?: number | undefined;
    }
  | { readonly verb: 'delete'; readonly name: string; readonly replaces?: number | undefined }
  | { readonly verb: 'get'; readonly name: string }
  /** `at`: exactly that version; `any`: resourceVersion=0, which may be answered with an older state. */
  | { readonly verb: 'list'; readonly at?: number | 'any' | undefined };

export type Outcome =
  /** The write was acknowledged. The response to a deletion has no version. */
  | { readonly type: 'written'; readonly version?: number | undefined }
  | { readonly type: 'found'; readonly version: number; readonly value: string }
  | { readonly type: 'listed'; readonly version: number; readonly items: readonly Item[] }
  | { readonly type: 'not found' }
  | { readonly type: 'already exists' }
  | { readonly type: 'conflict' }
  /** The server answered that it did nothing, for instance because the disk is full. */
  | { readonly type: 'refused' }
  /** No answer: the operation may have taken effect or not. */
  | { readonly type: 'unknown' };

export interface Item {
  readonly name: string;
  readonly version: number;
  readonly value: string;
}

/** What one watcher received after one list, across all reconnections from the last version that it had seen. */
export interface WatchStream {
  readonly watcher: string;
  readonly startVersion: number;
  readonly startItems: readonly Item[];
  readonly events: readonly WatchEvent[];
}

export type WatchEvent =
  | (Item & { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly atMs: number })
  | { readonly type: 'BOOKMARK'; readonly version: number; readonly atMs: number };

/** `client-1 update a (of version 4) to v7: version 9 [12.0 to 13.5 ms]` */
export function describeOperation({ client, call, outcome, startMs, endMs }: Operation): string {
  const end = Number.isFinite(endMs) ? endMs.toFixed(1) : 'unknown';
  return `${client} ${describeCall(call)}: ${describeOutcome(outcome)} [${startMs.toFixed(1)} to ${end} ms]`;
}

function describeCall(call: Call): string {
  switch (call.verb) {
    case 'create':
      return `create ${call.name} with ${call.value}`;
    case 'update':
      return `update ${call.name}${ofVersion(call.replaces)} to ${call.value}`;
    case 'delete':
      return `delete ${call.name}${ofVersion(call.replaces)}`;
    case 'get':
      return `get ${call.name}`;
    case 'list':
      return call.at === undefined ? 'list' : `list at ${call.at} version`;
  }
}

function ofVersion(replaces: number | undefined): string {
  return replaces === undefined ? '' : ` (of version ${replaces})`;
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.type === 'found') return `${outcome.value} of version ${outcome.version}`;
  if (outcome.type === 'listed') return `${outcome.items.length} items at version ${outcome.version}`;
  if (outcome.type === 'written' && outcome.version !== undefined) return `version ${outcome.version}`;
  return outcome.type;
}

export function describeEvent(event: WatchEvent): string {
  if (event.type === 'BOOKMARK') return `BOOKMARK ${event.version}`;
  return `${event.type} ${event.name} with ${event.value} at version ${event.version}`;
}
