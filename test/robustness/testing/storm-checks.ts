import { isDeepStrictEqual } from 'node:util';
import type { StormServer } from './storm-server.ts';
import type { StormWatcher } from './storm-watcher.ts';
import { expectedEvents, expectedState, type SeenEvent } from './watch-model.ts';

/** Compares the events of a watcher with the expected ones; undefined if they are equal. */
export function watcherProblem(
  { changes }: StormServer,
  { options, events, state, problems, startVersion }: StormWatcher,
) {
  const expected = expectedEvents(changes, options.interest, startVersion);
  const length = Math.max(expected.length, events.length);
  const wrong = Array.from({ length }, (_, at) => at).find((at) => !isSame(expected[at], events[at]));
  const isStateRight = isDeepStrictEqual(sorted(state), sorted(expectedState(changes, options.interest)));
  if (problems.length === 0 && wrong === undefined && isStateRight) return undefined;
  const seen = wrong === undefined ? [] : [expected[wrong], events[wrong]];
  return JSON.stringify({
    name: options.name,
    ...options.interest,
    startVersion,
    problems,
    wrong,
    seen,
    isStateRight,
  });
}

function isSame(a: SeenEvent | undefined, b: SeenEvent | undefined): boolean {
  return a?.type === b?.type && a?.key === b?.key && a?.version === b?.version;
}

function sorted(state: ReadonlyMap<string, number>) {
  return [...state].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Long, because a busy machine may take thirty times as long. */
const timeoutMs = 240_000;

/** Resolves when the condition is true, or after a time limit; the caller then checks what is wrong. */
export async function waitUntil(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!isTrue() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 50));
}
