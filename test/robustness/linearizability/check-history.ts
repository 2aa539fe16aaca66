import { checkObjects } from './check-objects.ts';
import { checkVersions } from './check-versions.ts';
import { checkWatches } from './check-watches.ts';
import { Evidence } from './evidence.ts';
import type { History } from './history.ts';

/** Everything that is wrong with a history, each with the operations that show it; empty if the server kept its promises. */
export function checkHistory(history: History): string[] {
  const evidence = new Evidence(history);
  return [
    ...evidence.problems,
    ...checkVersions(history),
    ...checkObjects(history, evidence),
    ...checkWatches(history),
  ];
}
