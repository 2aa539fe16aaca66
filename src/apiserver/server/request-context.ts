import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Caller } from '../access/access.ts';
import type { Registry } from '../registry/registry.ts';
import type { ServerMetrics } from './metrics.ts';
import type { FlushScheduler } from './watch/flush-scheduler.ts';

/** What handlers work with. */
export interface ServerContext {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ServerMetrics;
  readonly tick: FlushScheduler;
  /** Told of bugs: exceptions that are no answer. */
  readonly onError: (error: unknown, where: string) => void;
}

/** The same for one request, of which it is known who sends it. */
export interface RequestContext extends ServerContext {
  readonly caller: Caller;
}
