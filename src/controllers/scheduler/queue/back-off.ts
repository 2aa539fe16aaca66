/**
 * Back-offs end at whole seconds, so that all of one second end together and priority decides among them. This also makes it fair to
 * take a pod before its back-off ends (KEP-5142).
 */
const windowMs = 1000;

export interface BackOffOptions {
  /** After the first failure; doubled with each further one. */
  readonly initialMs: number;
  /** The longest back-off; 0 disables it. */
  readonly maxMs: number;
}

/** When the back-off after the nth failure in a row, at `failedMs`, ends: at the end of the second in which it expires. */
export function backOffEndMs(failures: number, failedMs: number, options: BackOffOptions): number {
  if (options.maxMs === 0) return failedMs;
  const delayMs = Math.min(options.maxMs, options.initialMs * 2 ** (failures - 1));
  return (Math.floor((failedMs + delayMs) / windowMs) + 1) * windowMs;
}
