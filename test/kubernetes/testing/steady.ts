import { setTimeout as sleep } from 'node:timers/promises';

/** A controller does not report that it has finished; so the state must be unchanged for a while. */
const steadyMs = 3_000;
const pollMs = 250;

/** Calls `look` until its result is unchanged for a while; `isDone` may require more. */
export async function untilSteady(
  look: () => Promise<readonly string[]>,
  isDone: (seen: readonly string[]) => boolean = () => true,
): Promise<readonly string[]> {
  let last = await look();
  for (let sinceMs = Date.now(); Date.now() - sinceMs < steadyMs; ) {
    await sleep(pollMs);
    const now = await look();
    if (now.join() !== last.join() || !isDone(now)) sinceMs = Date.now();
    last = now;
  }
  return last;
}
