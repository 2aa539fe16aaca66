import { setTimeout as sleep } from 'node:timers/promises';

/** A controller does not report that it has finished; so the state must be unchanged for a while. */
const steadyMs = 3_000;
const pollMs = 250;
/** Then the caller sees in the result what is missing. */
const steadyWithinMs = 240_000;

/** Calls `look` until its result is unchanged for a while; `isDone` may require more, for a controller that has not begun yet. */
export async function untilSteady(
  look: () => Promise<readonly string[]>,
  isDone: (seen: readonly string[]) => boolean = () => true,
): Promise<readonly string[]> {
  let last = await look();
  const giveUpAtMs = Date.now() + steadyWithinMs;
  for (let sinceMs = Date.now(); Date.now() - sinceMs < steadyMs && Date.now() < giveUpAtMs; ) {
    await sleep(pollMs);
    const now = await look();
    if (now.join() !== last.join() || !isDone(now)) sinceMs = Date.now();
    last = now;
  }
  return last;
}
