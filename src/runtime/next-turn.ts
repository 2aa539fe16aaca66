const waiting: (() => void)[] = [];

/**
 * Lets the process run everything else that is ready: answers, timers, watches. Code that works through a long list in one go calls it
 * now and then; awaiting promises that are already resolved does not do that. Of all callers one continues in each turn of the event loop:
 * however many of them there are, other work waits for one piece of theirs, not for one piece of each.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(continueOne);
  });
}

function continueOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueOne);
}
