/** Resolves with the name of the signal that asks the process to stop. A second signal ends it immediately. */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (signal: NodeJS.Signals) => {
      if (isStopping) process.exit(130);
      isStopping = true;
      resolve(signal);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  });
}
