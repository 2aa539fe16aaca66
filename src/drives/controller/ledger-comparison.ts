import { events } from '../../kube/resources.ts';
import { EventRecorder } from '../../reconcile/event-recorder.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { DriveCache, DriveCacheOptions } from './drive-cache.ts';
import { DriveStateEvents } from './drive-state-events.ts';
import { LedgerReconciler } from './ledger-reconciler.ts';
import { ApiLedgerSource } from './ledger-source.ts';

export interface LedgerComparisonOptions extends DriveCacheOptions {
  readonly cache: DriveCache;
  readonly ids: Ids;
  readonly metrics: Metrics;
  /** The name of this process in Events. */
  readonly instance: string;
}

/** Compares ledgers with PersistentVolumes, claims and pods, and reports drives that fail, in a process that runs no controllers. Returns how to stop that. */
export function startLedgerComparison(options: LedgerComparisonOptions): () => Promise<void> {
  const { cache, cluster, clock, random, supervisor, metrics, onError } = options;
  const source = new ApiLedgerSource(cache, options);
  const recorder = new EventRecorder({
    ...options,
    random: random.fork('events'),
    events: cluster.resource(events),
    reportingController: 'stowage.dev/drives',
    reportingInstance: options.instance,
  });
  const ledgers = new LedgerReconciler({ source, cluster, clock, metrics, events: recorder, onError });
  const states = new DriveStateEvents({ source, clock, events: recorder });
  const work = [
    supervisor.start('ledger comparison', (signal) => ledgers.run(signal)),
    supervisor.start('events of drives', (signal) => states.run(signal)),
  ];
  return async () => {
    await Promise.all(work.map((one) => one.stop()));
    await Promise.all([recorder.close(), source.stop()]);
  };
}
