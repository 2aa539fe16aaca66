import { readFile } from 'node:fs/promises';
import { DefinitionController } from '../../apiserver/custom/definition-controller.ts';
import { builtInKindCatalog } from '../../apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../../apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../../apiserver/registry/embedded-registry.ts';
import { MemoryStore } from '../../apiserver/store/memory-store.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { EmbeddedCluster } from '../../cluster/embedded-cluster.ts';
import { packageFile } from '../../io/files/package-files.ts';
import type { CustomResourceDefinition } from '../../kube/api/apiextensions.ts';
import { customResourceDefinitions, events } from '../../kube/resources.ts';
import type { Controller, ControllerError } from '../../reconcile/controller.ts';
import { assert } from '../../runtime/assert.ts';
import { type Ids, idsFrom, systemIds } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { seededRandom } from '../../runtime/random.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { clusterInvariants } from '../../simulation/invariants/cluster-invariants.ts';
import { StoredState } from '../../simulation/invariants/stored-state.ts';
import type { ControllerEnvironment } from './controller-environment.ts';
import { ControllerRuns } from './controller-runs.ts';

/** Long enough for all pending work, and for the first retries after a conflict. */
const settleMs = 500;

/** A sweep runs every five minutes; this includes the time for its checks. */
const sweptMs = 5.5 * 60_000;

/**
 * An embedded cluster in memory under virtual time, with controllers given as objects. Nothing happens between two calls of
 * `settle`: after one, all pending work is done.
 */
export class VirtualTimeCluster implements ControllerEnvironment {
  readonly clock = new VirtualClock();
  readonly cluster: Cluster;
  /** Checks every stored version from the first run of controllers on; paused by tests that write wrong objects on purpose. */
  readonly versions = new StoredState(clusterInvariants);
  readonly #registry: EmbeddedRegistry;
  readonly #runs: ControllerRuns;
  #definitions: DefinitionController | undefined;

  private constructor(ids: Ids) {
    this.#runs = new ControllerRuns({ clock: this.clock, ids });
    this.versions.isPaused = true;
    this.#registry = new EmbeddedRegistry({
      store: new MemoryStore({ observer: this.versions }),
      kinds: builtInKindCatalog(),
      clock: this.clock,
      ids,
    });
    this.cluster = new EmbeddedCluster({ registry: this.#registry, manager: 'test' });
  }

  static async start(...controllers: readonly Controller[]): Promise<VirtualTimeCluster> {
    const fixture = new VirtualTimeCluster(systemIds);
    await bootstrap(fixture.#registry);
    if (controllers.length > 0) fixture.run(controllers);
    return fixture;
  }

  /** A cluster whose uids and suffixes of names come from a seed: the scheduler breaks ties by them. */
  static async startSeeded(seed: string): Promise<VirtualTimeCluster> {
    const fixture = new VirtualTimeCluster(idsFrom(seededRandom(seed)));
    await bootstrap(fixture.#registry);
    return fixture;
  }

  /** Installs the kinds of `deploy/crds`, as `stowage up` has them from the start. */
  async installOwnKinds(): Promise<void> {
    const lines = (await readFile(packageFile('deploy/definitions.ndjson'), 'utf8')).trimEnd().split('\n');
    await this.installKinds(lines.map((line) => JSON.parse(line) as CustomResourceDefinition));
  }

  async installKinds(definitions: readonly CustomResourceDefinition[]): Promise<void> {
    const onError = (error: unknown) => assert(false, String(error));
    this.#definitions ??= await DefinitionController.start({
      registry: this.#registry,
      clock: this.clock,
      onError,
    });
    for (const definition of definitions)
      await this.cluster.resource(customResourceDefinitions).create(definition);
    await this.settle();
  }

  /** Errors that controllers reported. */
  get errors(): ControllerError[] {
    return this.#runs.errors;
  }

  /** The metrics of all runs. */
  get metrics(): Metrics {
    return this.#runs.metrics;
  }

  /** Sets the log of controllers that start from now on. */
  set log(log: Log) {
    this.#runs.log = log;
  }

  /** Runs controllers until the result is closed, or the fixture is disposed. */
  run(controllers: readonly Controller[], cluster: Cluster = this.cluster): Supervisor {
    if (this.#runs.count === 0) this.versions.isPaused = false;
    const resources = this.#registry.kinds.all.filter(({ storedAs }) => storedAs === undefined);
    return this.#runs.start(controllers, cluster, resources);
  }

  /** Lets time pass and all pending work run. */
  async settle(ms = settleMs): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Events so far, as `REASON OBJECT: NOTE`, sorted. */
  async eventLines(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(events).list();
    return items.map(({ reason, regarding, note }) => `${reason} ${regarding?.name}: ${note}`).sort();
  }

  /** Lets the sweeps of the controllers pass, and ends the controllers. Fails if a sweep found work that an event should have caused, or if a stored version was wrong. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.settle(sweptMs);
    await this.#definitions?.close();
    await this.#runs.end();
    const [violation] = this.versions.violations;
    assert(violation === undefined, `${violation?.invariant}: ${violation?.detail}`);
  }
}
