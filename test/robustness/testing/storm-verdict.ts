import { isDeepStrictEqual } from 'node:util';
import type { StormServer } from './storm-server.ts';
import type { StormWatcher } from './storm-watcher.ts';
import { expectedEvents, expectedState, type SeenEvent } from './watch-model.ts';

/** What a watcher knows that is not so; undefined where it knows everything and nothing else. */
export function complaintOf(
  { changes }: StormServer,
  { options, events, state, oddities, startVersion }: StormWatcher,
) {
  const expected = expectedEvents(changes, options.interest, startVersion);
  const length = Math.max(expected.length, events.length);
  const wrong = Array.from({ length }, (_, at) => at).find((at) => !isSame(expected[at], events[at]));
  const isStateRight = isDeepStrictEqual(sorted(state), sorted(expectedState(changes, options.interest)));
  if (oddities.length === 0 && wrong === undefined && isStateRight) return undefined;
  const seen = wrong === undefined ? [] : [expected[wrong], events[wrong]];
  return JSON.stringify({
    name: options.name,
    ...options.interest,
    startVersion,
    oddities,
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

const patienceMs = 20_000;

/** Until it is so, or has not become so for long: what is wrong then is for the test to say. */
export async function until(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (!isSo() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 50));
}
