/**
 * Lets the process do everything else that is ready: answers, timers, watches. Whoever works through a long list in one go calls it
 * now and then; awaiting promises that are resolved already never gets there.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
