import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Caller } from '../access/access.ts';
import type { Registry } from '../registry/registry.ts';
import type { ServerMetrics } from './metrics.ts';
import type { FlushScheduler } from './watch/flush-scheduler.ts';

/** What all request handlers share. */
export interface ServerContext {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ServerMetrics;
  readonly flushScheduler: FlushScheduler;
  /** Called with unexpected exceptions. */
  readonly onError: (error: unknown, where: string) => void;
}

/** The context of one authenticated request. */
export interface RequestContext extends ServerContext {
  readonly caller: Caller;
}
