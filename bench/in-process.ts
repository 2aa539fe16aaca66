import { builtInKindCatalog } from '../src/apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../src/apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../src/apiserver/registry/embedded-registry.ts';
import { MemoryStore } from '../src/apiserver/store/memory-store.ts';
import type { Cluster } from '../src/cluster/cluster.ts';
import { EmbeddedCluster } from '../src/cluster/embedded-cluster.ts';
import { events } from '../src/kube/resources.ts';
import type { Controller } from '../src/reconcile/controller.ts';
import { EventRecorder } from '../src/reconcile/event-recorder.ts';
import { MetadataCache } from '../src/reconcile/metadata-cache.ts';
import { SharedInformers } from '../src/reconcile/shared-informers.ts';
import { realClock } from '../src/runtime/clock.ts';
import { systemIds } from '../src/runtime/ids.ts';
import { silentLog } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { seededRandom } from '../src/runtime/random.ts';
import type { Supervisor } from '../src/runtime/supervisor.ts';

/** An embedded cluster in this process, in memory: server, informers and controllers share one thread. */
export async function emptyCluster(): Promise<EmbeddedCluster> {
  const registry = new EmbeddedRegistry({
    store: new MemoryStore(),
    kinds: builtInKindCatalog(),
    clock: realClock,
    ids: systemIds,
  });
  await bootstrap(registry);
  return new EmbeddedCluster({ registry, manager: 'bench' });
}

export interface Running {
  /** Errors of the controllers. */
  readonly errors: readonly unknown[];
  readonly metrics: Metrics;
}

/** Runs controllers in this process on any cluster, until the supervisor ends. */
export function runInProcess(
  cluster: Cluster,
  supervisor: Supervisor,
  controllers: readonly Controller[],
): Running {
  const random = seededRandom('bench');
  const common = { cluster, clock: realClock, random, supervisor, ids: systemIds };
  const errors: unknown[] = [];
  const metrics = new Metrics();
  const onError = (error: unknown) => errors.push(error);
  const informers = new SharedInformers({ ...common, onError });
  const metadataCache = new MetadataCache({ ...common, resources: [], onError });
  for (const controller of controllers) {
    const recorder = new EventRecorder({
      ...common,
      events: cluster.resource(events),
      reportingController: controller.name,
      reportingInstance: 'bench',
    });
    const context = {
      ...common,
      resources: [],
      informers,
      metadataCache,
      events: recorder,
      metrics,
      log: silentLog,
      report: ({ error }: { readonly error: unknown }) => onError(error),
    };
    supervisor.start(controller.name, (signal) => controller.run(context, signal));
  }
  return { errors, metrics };
}
