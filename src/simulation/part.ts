import type { Cluster } from '../cluster/cluster.ts';
import type { Random } from '../runtime/random.ts';
import type { VirtualClock } from '../runtime/virtual-clock.ts';
import type { Invariant } from './invariants/invariant.ts';
import type { ActionParameters } from './scenario.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedDriveHosts } from './simulated-drive-hosts.ts';
import type { SimulatedDriver } from './simulated-driver.ts';
import type { ProcessPlan, SimulatedProcess } from './simulated-process.ts';

/**
 * What one module adds to the simulation. A new controller adds a part to `all-parts.ts`: the processes that run it, what can happen
 * to its objects, and what must always be true of them.
 */
export interface SimulationPart {
  readonly name: string;
  readonly processes?: readonly ProcessPlan[];
  /** Whether the API server serves the kinds of `stowage.dev`, which takes time to set up. */
  readonly needsOwnKinds?: boolean;
  /** Creates what its actions expect, before the processes start. */
  readonly prepare?: (context: Pick<ActionContext, 'cluster' | 'driveHosts'>) => Promise<void>;
  readonly actions?: readonly ActionKind[];
  readonly invariants?: readonly Invariant[];
  readonly probes?: readonly Probe[];
}

/**
 * A change at the end of a run, when the system is at rest, that may help pods which wait. Some seconds later every pod that fits must
 * have its node: each of them must have waited for an event of this kind, if it helps.
 */
export interface Probe {
  readonly name: string;
  run(context: ActionContext): Promise<void> | void;
}

/** Something that can happen. */
export interface ActionKind {
  readonly name: string;
  /** How often it is drawn, relative to other actions. */
  readonly weight: number;
  /** Drawn apart from all others: a seed has none, one or two of these, at any time. */
  readonly isRare?: boolean;
  /** Faults are counted, and their effects end when the scenario is over. */
  readonly isFault?: boolean;
  draw(random: Random): ActionParameters;
  /** Fails where the API refuses the write, as it may: other users and controllers are at work. */
  run(context: ActionContext, parameters: ActionParameters): Promise<void> | void;
}

export interface ActionContext {
  /** The connection of people: without faults. */
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  /** Keyed by name, with the number of the replica. */
  readonly processes: ReadonlyMap<string, SimulatedProcess>;
  readonly driver: SimulatedDriver;
  readonly disk: SimulatedDisk;
  /** The machines whose drives a node service serves. */
  readonly driveHosts: SimulatedDriveHosts;
}
