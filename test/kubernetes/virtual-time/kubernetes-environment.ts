import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { ControllerEnvironment } from '../../../src/controllers/testing/controller-environment.ts';
import { ControllerRuns } from '../../../src/controllers/testing/controller-runs.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import { events } from '../../../src/kube/resources.ts';
import { undefinedIfNotFound } from '../../../src/kube/undefined-if-not-found.ts';
import type { Controller, ControllerError } from '../../../src/reconcile/controller.ts';
import { assert } from '../../../src/runtime/assert.ts';
import { systemIds } from '../../../src/runtime/ids.ts';
import type { Supervisor } from '../../../src/runtime/supervisor.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { clusterInvariants } from '../../../src/simulation/invariants/cluster-invariants.ts';
import { StoredState } from '../../../src/simulation/invariants/stored-state.ts';
import { ObservedCluster } from './observed-cluster.ts';

const settleMs = 500;
/** A sweep runs every five minutes; this includes the time for its checks. */
const sweptMs = 5.5 * 60_000;

/** A real API server for one test after the other: each begins without objects of the kinds that are followed. */
export class KubernetesEnvironments {
  readonly #cluster: ObservedCluster;
  readonly #resources: readonly Resource[];
  #current: KubernetesEnvironment | undefined;

  private constructor(cluster: ObservedCluster, resources: readonly Resource[]) {
    this.#cluster = cluster;
    this.#resources = resources;
  }

  /** `resources` are all that controllers and tests write, except Events. */
  static async on(cluster: Cluster, resources: readonly Resource[]): Promise<KubernetesEnvironments> {
    const observed = new ObservedCluster(cluster);
    await observed.follow(resources);
    return new KubernetesEnvironments(observed, resources);
  }

  close(): void {
    this.#cluster.close();
  }

  /** Ends the environment before it. */
  async start(): Promise<ControllerEnvironment> {
    // What was wrong with it is reported where it is disposed.
    await this.#current?.[Symbol.asyncDispose]().catch(() => {});
    this.#cluster.checks = undefined;
    for (const resource of this.#resources) await this.#removeAll(resource);
    await this.#cluster.resource(events).deleteCollection({ namespace: 'default' });
    await this.#cluster.quiet();
    this.#current = new KubernetesEnvironment(this.#cluster);
    return this.#current;
  }

  async #removeAll(resource: Resource): Promise<void> {
    const client = this.#cluster.resource(resource);
    const { items } = await client.list();
    const remove = async ({
      name = '',
      finalizers = [],
    }: {
      name?: string;
      finalizers?: readonly string[];
    }) => {
      const body = { metadata: { finalizers: null } };
      if (finalizers.length > 0) await undefinedIfNotFound(client.patch({ name }, { type: 'merge', body }));
      await undefinedIfNotFound(client.delete({ name }));
    };
    await Promise.all(items.map(({ metadata }) => remove(metadata ?? {})));
  }
}

class KubernetesEnvironment implements ControllerEnvironment {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  readonly versions = new StoredState(clusterInvariants);
  readonly #runs: ControllerRuns;
  #ended: Promise<void> | undefined;

  constructor(cluster: ObservedCluster) {
    this.cluster = cluster;
    cluster.checks = this.versions;
    // The server has its own idea of the time.
    this.clock = new VirtualClock(Date.now(), () => cluster.quiet());
    this.#runs = new ControllerRuns({ clock: this.clock, ids: systemIds });
  }

  get errors(): ControllerError[] {
    return this.#runs.errors;
  }

  /** They are there already. */
  async installOwnKinds(): Promise<void> {}

  run(controllers: readonly Controller[], cluster: Cluster = this.cluster): Supervisor {
    return this.#runs.start(controllers, cluster, []);
  }

  async settle(ms = settleMs): Promise<void> {
    await this.clock.advance(ms);
  }

  async eventLines(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(events).list();
    return items.map(({ reason, regarding, note }) => `${reason} ${regarding?.name}: ${note}`).sort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    await this.settle(sweptMs);
    await this.#runs.end();
    const [violation] = this.versions.violations;
    assert(violation === undefined, `${violation?.invariant}: ${violation?.detail}`);
  }
}
