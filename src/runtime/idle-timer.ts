/** Calls `callback` once after `ms`, if the process still runs then; the timer does not keep it running. */
export function afterIfRunning(ms: number, callback: () => void): void {
  setTimeout(callback, ms).unref();
}
