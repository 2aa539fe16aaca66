const waiting: (() => void)[] = [];

/**
 * As `nextTurn`, for work on behalf of many clients: of all callers one continues in each turn of the event loop. However many of them there
 * are, other work waits for one piece of theirs, not for one piece of each.
 */
export function fairTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(continueOne);
  });
}

function continueOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueOne);
}
