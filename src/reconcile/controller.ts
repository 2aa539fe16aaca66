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

/** A loop that brings the cluster in line with what its objects ask for. */
export interface Controller {
  /** As `--controllers` takes it. */
  readonly name: string;
  /** Runs until `signal` aborts. Whatever it rejects with is reported, and it is run again after a back-off. */
  run(context: ControllerContext, signal: AbortSignal): Promise<void>;
}

export interface ControllerContext {
  readonly cluster: Cluster;
  /** All that the cluster serves and that can be listed, watched and deleted, for those who look after everything. */
  readonly resources: readonly Resource[];
  readonly informers: SharedInformers;
  /** Everything there is, by metadata. */
  readonly metadataCache: MetadataCache;
  /** Tells people what happened, as Kubernetes Events in the name of this controller. */
  readonly events: EventRecorder;
  /** What they count; one for all of them, so a controller's own metrics carry its name. */
  readonly metrics: Metrics;
  /** What they did and why, for whoever looks for a fault; what needs doing is told to `report` instead. */
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** For work that outlives a call; ends with the process. */
  readonly supervisor: Supervisor;
  /** Told what failed and is going to be tried again. Must neither throw nor wait. */
  readonly report: (trouble: ControllerError) => void;
}

export interface ControllerError {
  readonly controller: string;
  /** The object that it was about, as in the queue. */
  readonly key: string;
  readonly error: unknown;
}
