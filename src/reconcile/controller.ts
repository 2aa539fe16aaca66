import type { Cluster } from '../cluster/cluster.ts';
import type { Resource } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { MetadataCache } from './metadata-cache.ts';
import type { SharedInformers } from './shared-informers.ts';

/** A loop that brings the cluster to the state that its objects ask for. */
export interface Controller {
  /** The name that `--controllers` accepts. */
  readonly name: string;
  /** Runs until `signal` aborts. If it rejects, the error is reported and the controller runs again after a back-off. */
  run(context: ControllerContext, signal: AbortSignal): Promise<void>;
}

export interface ControllerContext {
  readonly cluster: Cluster;
  /** All resources that the cluster serves and that can be listed, watched and deleted: for controllers that handle every kind. */
  readonly resources: readonly Resource[];
  readonly informers: SharedInformers;
  /** The metadata of every object. */
  readonly metadataCache: MetadataCache;
  /** Records Kubernetes Events in the name of this controller. */
  readonly events: EventRecorder;
  /** One registry for all controllers, so a controller's own metrics carry its name. */
  readonly metrics: Metrics;
  /** Logs the actions of controllers and their reasons, for debugging. Errors that need attention go to `report` instead. */
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** The Lease that this process renews while the controller runs, as `NAMESPACE/NAME`; undefined if there is none. */
  readonly lease?: string | undefined;
  /** For work that outlives a call; it ends with the process. */
  readonly supervisor: Supervisor;
  /** Receives errors of work that will be retried. Must neither throw nor wait. */
  readonly report: (error: ControllerError) => void;
}

export interface ControllerError {
  readonly controller: string;
  /** The key of the object in the queue. */
  readonly key: string;
  readonly error: unknown;
}

/** Whether the cluster serves the resource; older clusters lack the newer ones. */
export function servesResource(
  { resources }: Pick<ControllerContext, 'resources'>,
  { group, plural }: Resource,
): boolean {
  return resources.some((resource) => resource.group === group && resource.plural === plural);
}
