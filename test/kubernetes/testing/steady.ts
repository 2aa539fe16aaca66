import { setTimeout as sleep } from 'node:timers/promises';

/** Nothing tells when a controller has nothing more to do; so its fixture has to be the same for a while. */
const steadyMs = 3_000;
const pollMs = 250;

/** What `look` sees when it has seen the same for a while; `isDone` may say that more has to come. */
export async function steady(
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
