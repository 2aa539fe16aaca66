import type { ClusterCall, ClusterHooks } from '../../../cluster/intercepted-cluster.ts';
import type { Clock } from '../../../runtime/clock.ts';

/** A hundred concurrent volumes make some hundred calls about a disk in a second; this many equal calls are a loop that does not end. */
const callsPerSecondMax = 1_000;

/**
 * Lets every further call of a client fail as soon as a stored version was wrong, or the client repeats a call without end. Both are failures already,
 * and a controller that goes on at the same moment of virtual time would never let the test see them.
 */
export class RunawayGuard implements ClusterHooks {
  /** The first error. */
  failure: string | undefined;
  readonly #clock: Clock;
  readonly #findViolation: () => string | undefined;
  readonly #calls = new Map<string, number>();
  #second = 0;

  constructor(clock: Clock, findViolation: () => string | undefined) {
    this.#clock = clock;
    this.#findViolation = findViolation;
  }

  readonly before = (call: ClusterCall): void => {
    if (call.verb === 'watch') return;
    this.failure ??= this.#findViolation() ?? this.#findLoop(call);
    if (this.failure !== undefined) throw new Error(this.failure);
  };

  #findLoop({ verb, resource, name }: ClusterCall): string | undefined {
    const second = Math.floor(this.#clock.monotonicMs() / 1_000);
    if (second !== this.#second) this.#calls.clear();
    this.#second = second;
    const key = `${verb} ${resource.plural}/${name}`;
    const count = (this.#calls.get(key) ?? 0) + 1;
    this.#calls.set(key, count);
    return count > callsPerSecondMax ? `${key}: more than ${callsPerSecondMax} times in a second` : undefined;
  }
}
