import type { Cluster } from '../../cluster/cluster.ts';
import type { Controller, ControllerError } from '../../reconcile/controller.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import type { StoredState } from '../../simulation/invariants/stored-state.ts';

/**
 * A cluster under virtual time, with controllers given as objects: the embedded server in memory, or any server that a fixture can wait for.
 * Nothing happens between two calls of `settle`: after one, all pending work is done. Disposing it ends the controllers, and fails if a
 * stored version was wrong, or a sweep found work that an event should have caused.
 */
export interface ControllerEnvironment extends AsyncDisposable {
  readonly clock: Clock;
  readonly cluster: Cluster;
  /** Errors that controllers reported. */
  readonly errors: ControllerError[];
  /** Checks every stored version, at the end of the next `settle` at the latest. */
  readonly versions: StoredState;
  /** Installs the kinds of `deploy/crds`. */
  installOwnKinds(): Promise<void>;
  /** Runs controllers until the result is closed, or the environment is disposed. */
  run(controllers: readonly Controller[], cluster?: Cluster): Supervisor;
  /** Lets time pass and all pending work run. */
  settle(ms?: number): Promise<void>;
  /** Events so far, as `REASON OBJECT: NOTE`, sorted. */
  eventLines(): Promise<readonly string[]>;
}
