import type { Cluster } from '../../cluster/cluster.ts';
import type { Resource } from '../../kube/resource.ts';
import { events } from '../../kube/resources.ts';
import type { Controller, ControllerError } from '../../reconcile/controller.ts';
import { EventRecorder } from '../../reconcile/event-recorder.ts';
import { MetadataCache } from '../../reconcile/metadata-cache.ts';
import { SharedInformers } from '../../reconcile/shared-informers.ts';
import { assert } from '../../runtime/assert.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { type Log, silentLog } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';

export interface ControllerRunsOptions {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Runs controllers for tests, any number of times, and ends all of them. */
export class ControllerRuns {
  /** Errors that controllers reported. */
  readonly errors: ControllerError[] = [];
  /** The metrics of all runs. */
  readonly metrics = new Metrics();
  /** The log of controllers that start from now on. */
  log: Log = silentLog;
  readonly #options: ControllerRunsOptions;
  readonly #runs: Supervisor[] = [];
  /** Each fixture has its own: a test must not depend on those that ran before it. */
  readonly #random = seededRandom('trial');

  constructor(options: ControllerRunsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#runs.length;
  }

  /** Runs controllers until the result is closed; `resources` are all that the server has. */
  start(controllers: readonly Controller[], cluster: Cluster, resources: readonly Resource[]): Supervisor {
    const { clock, ids } = this.#options;
    const supervisor = new Supervisor({ clock, random: this.#random, onCrash: () => {} });
    this.#runs.push(supervisor);
    const common = { cluster, clock, random: this.#random, supervisor, ids };
    const informers = new SharedInformers({ ...common, onError: () => {} });
    const metadataCache = new MetadataCache({ ...common, resources, onError: () => {} });
    for (const controller of controllers) {
      const recorder = new EventRecorder({
        ...common,
        events: cluster.resource(events),
        reportingController: `stowage.dev/${controller.name}`,
        reportingInstance: 'trial',
      });
      const report = (error: ControllerError) => this.errors.push(error);
      const context = {
        ...common,
        resources,
        informers,
        metadataCache,
        events: recorder,
        report,
        metrics: this.metrics,
        log: this.log,
      };
      supervisor.start(controller.name, (signal) => controller.run(context, signal));
    }
    return supervisor;
  }

  /** Ends all runs. Fails if a sweep found work that an event should have caused. */
  async end(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.close()));
    const counted = this.metrics.render().split('\n');
    const rescued = counted.filter((line) => /^stowage_sweep_rescued_total.* [1-9]/.test(line));
    assert(rescued.length === 0, `an event was missed: ${rescued.join(', ')}`);
  }
}
