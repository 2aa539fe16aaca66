import type { ClusterCall, ClusterHooks } from '../cluster/intercepted-cluster.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { WatchEvent } from '../kube/api-requests.ts';
import { isRecord } from '../kube/wire.ts';
import type { Clock } from '../runtime/clock.ts';
import type { StoredVersion } from './invariants/invariant.ts';

const claims = 'persistentvolumeclaims';

/**
 * The claims that were removed when a pod got its node, and of which its scheduler had seen nothing yet. Kubernetes has no write that checks a
 * pod and its claims at once, and a watch may be behind. It is safe: the kubelet mounts only claims that are bound, so the pod waits on its
 * node. A scheduler that has seen the removal, and binds the pod nevertheless, has a bug.
 */
export class UnseenRemovals {
  /** The revision of the last removal of each claim, by key. */
  readonly #removedAt = new Map<string, number>();
  /** The last removal of a claim that the scheduler of a pod had seen when it sent the last binding, by uid of the pod. */
  readonly #seenAtBinding = new Map<string, number>();

  stored({ resource, key, revision, after }: StoredVersion): void {
    if (resource === claims && after === undefined) this.#removedAt.set(key, revision);
  }

  bindingIsSent(podUid: string, seen: number): void {
    this.#seenAtBinding.set(podUid, seen);
  }

  /** Whether the claim was removed, and the scheduler that bound the pod could not know it. */
  has(podUid: string, claimKey: string): boolean {
    const removedAt = this.#removedAt.get(claimKey) ?? 0;
    return removedAt > (this.#seenAtBinding.get(podUid) ?? Number.POSITIVE_INFINITY);
  }
}

/** Follows which removals of claims one process has seen. Informers stream their lists, so watches show all of them. */
export class SeenRemovals {
  readonly #clock: Clock;
  readonly #unseen: UnseenRemovals;
  #newest = { revision: 0, atMs: 0 };
  /** What had been seen before the moment of the newest one. */
  #older = 0;

  constructor(clock: Clock, unseen: UnseenRemovals) {
    this.#clock = clock;
    this.#unseen = unseen;
  }

  /** Runs before the faults: it records when the process sends a binding, not when it arrives. */
  readonly onSend: ClusterHooks = {
    before: ({ verb, body }) => {
      const { kind, metadata } = verb === 'post' && isRecord(body) ? body : {};
      if (kind !== 'Binding' || !isRecord(metadata)) return;
      // An event of this very moment may not have reached the code that sends.
      const hasReached = this.#newest.atMs < this.#clock.monotonicMs();
      this.#unseen.bindingIsSent(String(metadata.uid), hasReached ? this.#newest.revision : this.#older);
    },
  };

  /** Behind the faults: they hold events back. */
  readonly onDelivery: ClusterHooks = {
    onWatchEvent: ({ resource }: ClusterCall, event: WatchEvent<KubeObject>) => {
      if (resource.plural === claims) this.#see(removalsUpTo(event));
      return undefined;
    },
  };

  #see(revision: number): void {
    const atMs = this.#clock.monotonicMs();
    if (revision <= this.#newest.revision) return;
    if (this.#newest.atMs < atMs) this.#older = this.#newest.revision;
    this.#newest = { revision, atMs };
  }
}

/** An event shows all removals up to its version, unless it belongs to an initial list: that shows them at its end. */
function removalsUpTo(event: WatchEvent<KubeObject>): number {
  if (event.type === 'BOOKMARK') return event.isInitialEnd ? Number(event.resourceVersion) : 0;
  return event.type === 'DELETED' ? Number(event.object.metadata?.resourceVersion) : 0;
}
