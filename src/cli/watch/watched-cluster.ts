import type { Cluster } from '../../cluster/cluster.ts';
import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { everyKind, kindResources } from '../../state/kind-resources.ts';
import type { ListedCluster, UnlistedKind } from '../../state/list-cluster.ts';

export interface WatchedClusterOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** The kinds that the caller may not list. */
  readonly unlisted: readonly UnlistedKind[];
  readonly onChange: () => void;
}

/** The objects that decisions use, in caches that follow the cluster. */
export class WatchedCluster implements AsyncDisposable {
  readonly #informers = new Map<IndexedKind, Informer<KubeObject>>();
  readonly #supervisor: Supervisor;
  readonly #unlisted: readonly UnlistedKind[];

  constructor({ cluster, clock, random, unlisted, onChange }: WatchedClusterOptions) {
    this.#unlisted = unlisted;
    this.#supervisor = new Supervisor({ clock, random, onCrash: () => {} });
    for (const kind of everyKind) {
      const refused = unlisted.find((one) => one.kind === kind);
      if (refused !== undefined && refused.onlyNamespace === undefined) continue;
      const informer = new Informer<KubeObject>({
        cluster,
        clock,
        random: random.fork(kind),
        resource: kindResources[kind] as Resource,
        ...(refused?.onlyNamespace !== undefined && { selection: { namespace: refused.onlyNamespace } }),
        // The informer retries, and the objects that it has are shown.
        onError: () => {},
      });
      informer.addHandler({ added: onChange, updated: onChange, deleted: onChange });
      informer.start(this.#supervisor);
      this.#informers.set(kind, informer);
    }
  }

  /** Resolves when everything has been read, or the signal aborts. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced(signal)));
  }

  /** The objects as they are now. */
  list(): ListedCluster {
    const snapshot = new ClusterSnapshot();
    for (const [kind, informer] of this.#informers)
      for (const object of informer.values()) snapshot.add(kind, object as never);
    return { snapshot, unlisted: this.#unlisted };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.close();
  }
}
