import { builtInKindCatalog } from '../../apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../../apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../../apiserver/registry/embedded-registry.ts';
import { MemoryStore } from '../../apiserver/store/memory-store.ts';
import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import { EmbeddedCluster } from '../../cluster/embedded-cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { WatchEvent } from '../../kube/api-requests.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import type { ControllerError } from '../../reconcile/controller.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { runControllers } from '../run-controllers.ts';

const random = seededRandom('controllers');

/** An embedded cluster in memory in real time, with some controllers running on it. */
export class RealTimeCluster implements AsyncDisposable {
  readonly cluster: Cluster;
  /** Errors that controllers reported. Conflicts are normal: controllers retry them. */
  readonly errors: ControllerError[] = [];
  readonly #supervisor: Supervisor;

  readonly #registry: EmbeddedRegistry;

  private constructor(registry: EmbeddedRegistry) {
    this.#registry = registry;
    this.cluster = new EmbeddedCluster({ registry, manager: 'test' });
    this.#supervisor = new Supervisor({
      clock: realClock,
      random,
      onCrash: ({ error }) => console.error(error),
    });
  }

  static async start(...names: readonly string[]): Promise<RealTimeCluster> {
    const store = new MemoryStore();
    const registry = new EmbeddedRegistry({
      store,
      kinds: builtInKindCatalog(),
      clock: realClock,
      ids: systemIds,
    });
    await bootstrap(registry);
    const fixture = new RealTimeCluster(registry);
    fixture.run(...names);
    return fixture;
  }

  run(...names: readonly string[]): void {
    this.#run(this.cluster, this.#supervisor, names);
  }

  /** Runs controllers on another connection to the same cluster, separate from the others, until the result is disposed. */
  runSeparately(cluster: Cluster, ...names: readonly string[]): AsyncDisposable {
    const supervisor = new Supervisor({ clock: realClock, random, onCrash: () => {} });
    this.#run(cluster, supervisor, names);
    return supervisor;
  }

  #run(cluster: Cluster, supervisor: Supervisor, names: readonly string[]): void {
    runControllers({
      names,
      cluster,
      resources: this.#registry.kinds.all.filter(({ storedAs }) => storedAs === undefined),
      clock: realClock,
      random,
      supervisor,
      report: (error) => this.errors.push(error),
      instance: 'test',
      clusterAuthority: 'PEM',
      ids: systemIds,
      metrics: new Metrics(),
      onError: () => {},
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.close();
  }
}

/** Waits, by watching, until the object is deleted. */
export async function untilGone<T extends KubeObject>(
  client: ResourceClient<T>,
  key: ObjectKey,
): Promise<void> {
  await until(client, key, (event) => event?.type === 'DELETED');
}

/** Waits, by watching, until the object satisfies the condition. */
export async function untilObject<T extends KubeObject>(
  client: ResourceClient<T>,
  key: ObjectKey,
  isRight: (object: T) => boolean,
): Promise<void> {
  await until(
    client,
    key,
    (event) =>
      event !== undefined && event.type !== 'BOOKMARK' && event.type !== 'DELETED' && isRight(event.object),
  );
}

async function until<T extends KubeObject>(
  client: ResourceClient<T>,
  { namespace, name }: ObjectKey,
  isOver: (event: WatchEvent<T>) => boolean,
): Promise<void> {
  const abort = new AbortController();
  const fieldSelector = `metadata.name=${name}`;
  const { items, metadata } = await client.list({ namespace, fieldSelector });
  const [object] = items;
  const now: WatchEvent<T> =
    object === undefined ? { type: 'DELETED', object: {} as T } : { type: 'ADDED', object };
  if (isOver(now)) return;
  const { resourceVersion } = metadata;
  for await (const event of client.watch({
    namespace,
    fieldSelector,
    resourceVersion,
    signal: abort.signal,
  })) {
    if (isOver(event)) return;
  }
}
