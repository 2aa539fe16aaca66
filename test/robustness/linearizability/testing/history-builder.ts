import type { Call, Item, Operation, Outcome, WatchEvent, WatchStream } from '../history.ts';

/** Short forms for histories that are written by hand: `ack`, `miss` and others take the times of start and end. */

export function operation(
  client: string,
  [startMs, endMs]: readonly [number, number],
  call: Call,
  outcome: Outcome,
): Operation {
  return { client, startMs, endMs, call, outcome };
}

export const written = (version?: number): Outcome => ({ type: 'written', version });
export const found = (value: string, version: number): Outcome => ({ type: 'found', value, version });
export const notFound: Outcome = { type: 'not found' };
export const unknown: Outcome = { type: 'unknown' };

export const create = (name: string, value: string): Call => ({ verb: 'create', name, value });
export const update = (name: string, value: string, replaces?: number): Call => ({
  verb: 'update',
  name,
  value,
  replaces,
});
export const remove = (name: string, replaces?: number): Call => ({ verb: 'delete', name, replaces });
export const get = (name: string): Call => ({ verb: 'get', name });

export function item(name: string, value: string, version: number): Item {
  return { name, value, version };
}

export function watch(events: readonly WatchEvent[], startVersion = 1): WatchStream {
  return { watcher: 'watcher', startVersion, startItems: [], events };
}

export function event(
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  name: string,
  value: string,
  version: number,
): WatchEvent {
  return { type, name, value, version, atMs: 1000 };
}

export function bookmark(version: number): WatchEvent {
  return { type: 'BOOKMARK', version, atMs: 1000 };
}
