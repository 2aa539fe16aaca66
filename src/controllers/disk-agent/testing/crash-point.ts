import type { ClusterCall, ClusterHooks } from '../../../cluster/intercepted-cluster.ts';
import { isObjectWrite } from '../../../cluster/testing/fault-hooks.ts';

/**
 * Ends a process after so many steps, where each change of a file and each write to the cluster is one. The last step takes place, and the process
 * does not learn of it; everything that it tries afterwards fails.
 */
export class CrashPoint implements ClusterHooks {
  #steps = 0;
  #stepsMax = Number.POSITIVE_INFINITY;

  /** Counts from now on; without a number, there is no crash. */
  arm(stepsMax = Number.POSITIVE_INFINITY): void {
    this.#steps = 0;
    this.#stepsMax = stepsMax;
  }

  get hasCrashed(): boolean {
    return this.#steps >= this.#stepsMax;
  }

  check(): void {
    if (this.hasCrashed) throw new Error('the process has crashed');
  }

  step(): void {
    this.#steps += 1;
    this.check();
  }

  readonly before = (call: ClusterCall): void => {
    if (call.verb !== 'watch') this.check();
  };

  readonly after = (call: ClusterCall): void => {
    if (isObjectWrite(call)) this.step();
    else this.check();
  };
}
