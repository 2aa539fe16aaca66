/**
 * Back-offs end with whole seconds, so that those of one second end together and priority decides among them; it also is
 * what makes taking one early fair (KEP-5142).
 */
const windowMs = 1000;

export interface BackOffOptions {
  /** After the first failure; doubled with each further one. */
  readonly initialMs: number;
  /** Never longer; 0 is no back-off at all. */
  readonly maxMs: number;
}

/** When the back-off after the nth failure in a row, at `failedMs`, is over: the end of the second that it expires in. */
export function backOffEndMs(failures: number, failedMs: number, options: BackOffOptions): number {
  if (options.maxMs === 0) return failedMs;
  const delayMs = Math.min(options.maxMs, options.initialMs * 2 ** (failures - 1));
  return (Math.floor((failedMs + delayMs) / windowMs) + 1) * windowMs;
}
