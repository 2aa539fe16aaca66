import { type DoublingDelay, doublingDelayMs } from '../../../runtime/keyed-back-off.ts';

/**
 * Back-offs end at whole seconds, so that all of one second end together and priority decides among them. This also makes it fair to
 * take a pod before its back-off ends (KEP-5142).
 */
const windowMs = 1000;

/** When the back-off after the nth failure in a row, at `failedMs`, ends: at the end of the second in which it expires. A maximum of 0 disables it. */
export function backOffEndMs(failures: number, failedMs: number, options: DoublingDelay): number {
  if (options.maxMs === 0) return failedMs;
  const delayMs = doublingDelayMs(failures, options);
  return (Math.floor((failedMs + delayMs) / windowMs) + 1) * windowMs;
}
