import type { Clock } from '../../../runtime/clock.ts';
import { TransferError } from './byte-source.ts';

export interface IdleLimit {
  readonly clock: Clock;
  readonly idleMaxMs: number;
  /** Who is waited for. */
  readonly what: string;
}

/** The result of the work, or a `TransferError` if it takes too long. */
export async function withIdleLimit<T>(work: Promise<T>, { clock, idleMaxMs, what }: IdleLimit): Promise<T> {
  const done = new AbortController();
  const late = clock.sleep(idleMaxMs, done.signal).then((): never => {
    throw new TransferError(`${what} sent nothing for ${idleMaxMs / 1000} s`, { isPermanent: false });
  });
  // It also ends, and is not waited for, when the work is done.
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
    work.catch(() => {});
  }
}
