import type { Random } from '../../../runtime/random.ts';
import type { ControllerEnvironment } from '../../testing/controller-environment.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';

/** Where the scenarios of disks run: on the embedded server, unless a test gives another one. */
export interface ScenarioServer {
  /** A cluster without objects. */
  readonly start: () => Promise<ControllerEnvironment>;
  /**
   * Every scenario has two instances of the controller, and one of them is killed at a random request. Undefined: there is one instance,
   * and nothing disturbs it.
   */
  readonly kills?: Random;
}

let server: ScenarioServer = { start: () => VirtualTimeCluster.start() };

export function scenarioServer(): ScenarioServer {
  return server;
}

/** For all scenarios that start from now on. */
export function useScenarioServer(given: ScenarioServer): void {
  server = given;
}
