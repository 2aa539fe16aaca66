import {
  boundClaimStatusPatch,
  claimBindingPatch,
  type MergePatchBody,
  volumeBindingPatch,
  volumePhasePatch,
} from '../../../bind/binding-patches.ts';
import type { Cluster, Projected } from '../../../cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { withPreconditions } from '../../../kube/patch-preconditions.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import type { ClusterFeed } from '../../../state/cluster-feed.ts';

/**
 * The binder's writes. Every write carries the uid and the version that was read, so a stale cache can only lead to
 * `Conflict`; the answer goes to the feed, so the next decision knows it. An undefined change writes nothing.
 */
export class BinderWrites {
  readonly #cluster: Cluster;
  readonly #feed: ClusterFeed;
  readonly #onWrite: () => void;
  readonly #signal: AbortSignal;

  /** `onWrite` is called before each write. */
  constructor(cluster: Cluster, feed: ClusterFeed, onWrite: () => void, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#feed = feed;
    this.#onWrite = onWrite;
    this.#signal = signal;
  }

  /**
   * The four steps of a binding: the volume's claimRef, the volume's phase, the claim's volumeName, the claim's phase. The
   * first decides which claim gets the volume; a binding that was interrupted after any of them continues with the next.
   */
  async bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const locked = await this.volume(volume, volumeBindingPatch(volume, claim));
    const bound = await this.volumeStatus(locked, volumePhasePatch(locked, 'Bound'));
    const named = await this.claim(claim, claimBindingPatch(claim, volume.metadata?.name ?? ''));
    await this.claimStatus(named, boundClaimStatusPatch(named, bound));
  }

  async volume(volume: PersistentVolume, change: MergePatchBody | undefined): Promise<PersistentVolume> {
    return await this.#patchVolume(volume, change, {});
  }

  async volumeStatus(
    volume: PersistentVolume,
    change: MergePatchBody | undefined,
  ): Promise<PersistentVolume> {
    return await this.#patchVolume(volume, change, { subresource: 'status' });
  }

  async claim(
    claim: PersistentVolumeClaim,
    change: MergePatchBody | undefined,
  ): Promise<PersistentVolumeClaim> {
    return await this.#patchClaim(claim, change, {});
  }

  async claimStatus(
    claim: PersistentVolumeClaim,
    change: MergePatchBody | undefined,
  ): Promise<PersistentVolumeClaim> {
    return await this.#patchClaim(claim, change, { subresource: 'status' });
  }

  async #patchVolume(volume: PersistentVolume, change: MergePatchBody | undefined, where: Where) {
    if (change === undefined) return volume;
    this.#onWrite();
    const client = this.#cluster.resource(persistentVolumes);
    const patch = { type: 'merge', body: withPreconditions(volume, change) } as const;
    const written = await client.patch(nameOf(volume), patch, { ...where, signal: this.#signal });
    this.#feed.recordWrite('PersistentVolume', written);
    return written;
  }

  async #patchClaim(claim: PersistentVolumeClaim, change: MergePatchBody | undefined, where: Where) {
    if (change === undefined) return claim;
    this.#onWrite();
    const client = this.#cluster.resource(persistentVolumeClaims);
    const patch = { type: 'merge', body: withPreconditions(claim, change) } as const;
    const written = await client.patch(nameOf(claim), patch, { ...where, signal: this.#signal });
    this.#feed.recordWrite('PersistentVolumeClaim', written);
    return written;
  }
}

interface Where {
  readonly subresource?: 'status';
}

function nameOf({ metadata }: Projected<KubeObject> | KubeObject) {
  return { namespace: metadata?.namespace, name: metadata?.name ?? '' };
}
