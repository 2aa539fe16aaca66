import type { Cluster } from '../../cluster/cluster.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { keyOf } from '../../kube/object-key.ts';
import { SharedInformers } from '../../reconcile/shared-informers.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { publisherLeaseInformer } from '../../state/publisher-leases.ts';
import type { ClusterState } from './cluster-state.ts';
import { type ConsoleKind, consoleKinds, resourceOfKind } from './console-objects.ts';

export interface ConsoleFeedOptions {
  readonly cluster: Cluster;
  readonly state: ClusterState;
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
  /** Called after each change. */
  readonly onChange: () => void;
}

/** Keeps a `ClusterState` up to date from its own informers. */
export class ConsoleFeed {
  readonly #options: ConsoleFeedOptions;
  #isFirstLook = true;
  #synced: Promise<unknown> = Promise.resolve();

  constructor(options: ConsoleFeedOptions) {
    this.#options = options;
  }

  /** Starts the informers. Resolves when everything that existed is in the state, or when `signal` aborts. */
  async start(signal: AbortSignal): Promise<void> {
    const { cluster, clock, random, supervisor, onError } = this.#options;
    const informers = new SharedInformers({ cluster, clock, random, supervisor, onError });
    const started = consoleKinds.map((kind) => {
      const informer = informers.of<KubeObject>(resourceOfKind(kind));
      informer.addHandler({
        added: (object) => this.#upsert(kind, object),
        updated: (object) => this.#upsert(kind, object),
        deleted: (object) => this.#remove(kind, object),
      });
      return informer;
    });
    const publishers = publisherLeaseInformer(informers);
    publishers.addHandler({
      added: (lease) => this.#setLease(lease, lease),
      updated: (lease) => this.#setLease(lease, lease),
      deleted: (lease) => this.#setLease(lease, undefined),
    });
    this.#synced = Promise.all([...started, publishers].map((informer) => informer.synced(signal)));
    await this.#synced;
    for (const pod of this.#options.state.snapshot.values('Pod'))
      this.#options.state.observePod(keyOf(pod), clock.nowMs(), true);
    this.#isFirstLook = false;
  }

  /** Not a change that the page shows: publishers renew their Leases all the time. */
  #setLease(lease: Lease, current: Lease | undefined): void {
    this.#options.state.setPublisherLease(keyOf(lease), current);
  }

  #upsert(kind: ConsoleKind, object: KubeObject): void {
    this.#options.state.upsert(kind, object);
    this.#changed(kind, object);
  }

  #remove(kind: ConsoleKind, object: KubeObject): void {
    this.#options.state.remove(kind, keyOf(object));
    this.#changed(kind, object);
  }

  #changed(kind: ConsoleKind, object: KubeObject): void {
    const { state, clock, onChange } = this.#options;
    if (!this.#isFirstLook)
      for (const pod of state.podsOf(kind, object)) state.observePod(pod, clock.nowMs(), false);
    onChange();
  }
}
