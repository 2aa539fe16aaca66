import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Registry } from '../registry/api.ts';
import type { FlushTick } from './flush-tick.ts';
import type { ServerMetrics } from './metrics.ts';

/** What handlers work with. */
export interface ServerContext {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ServerMetrics;
  readonly tick: FlushTick;
  /** Told of bugs: exceptions that are no answer. */
  readonly onError: (error: unknown, where: string) => void;
}
