import { DefinitionController } from '../src/apiserver/custom/definition-controller.ts';
import { installDefinitions } from '../src/apiserver/custom/install-definitions.ts';
import { builtInKindCatalog } from '../src/apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../src/apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../src/apiserver/registry/embedded-registry.ts';
import { MemoryStore } from '../src/apiserver/store/memory-store.ts';
import type { Cluster } from '../src/cluster/cluster.ts';
import { EmbeddedCluster } from '../src/cluster/embedded-cluster.ts';
import { ownDefinitions } from '../src/embedded/own-definitions.ts';
import type { Resource } from '../src/kube/resource.ts';
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

export interface ClusterWithOwnKinds extends AsyncDisposable {
  readonly cluster: EmbeddedCluster;
}

/** The same with the kinds of `stowage.dev`. */
export async function clusterWithOwnKinds(): Promise<ClusterWithOwnKinds> {
  const store = new MemoryStore();
  const kinds = builtInKindCatalog();
  const registry = new EmbeddedRegistry({ store, kinds, clock: realClock, ids: systemIds });
  await bootstrap(registry);
  const onError = (error: unknown) => process.stderr.write(`${String(error)}\n`);
  const definitions = await DefinitionController.start({ registry, clock: realClock, onError });
  await installDefinitions(registry, await ownDefinitions());
  return {
    cluster: new EmbeddedCluster({ registry, manager: 'bench' }),
    [Symbol.asyncDispose]: () => definitions.close(),
  };
}

/** Waits until the API server serves the kind, which takes a moment after its definition was created. */
export async function untilServed(cluster: Cluster, resource: Resource): Promise<void> {
  for (;;) {
    try {
      await cluster.resource(resource).list({ limit: 1 });
      return;
    } catch {
      await realClock.sleep(10, new AbortController().signal);
    }
  }
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
