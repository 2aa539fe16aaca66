/**
 * Lets the process run everything else that is ready: answers, timers, watches. Code that works through a long list in one go calls it
 * now and then; awaiting promises that are already resolved does not do that.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
