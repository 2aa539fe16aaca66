import type { Cluster } from '../cluster/cluster.ts';
import type { ClaimBinding, Provision } from '../engine/rules/framework/decisions.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../kube/api/core.ts';
import { ApiError, isReason } from '../kube/api-error.ts';
import { parseKey } from '../kube/object-key.ts';
import { withPreconditions } from '../kube/patch-preconditions.ts';
import { undefinedIfNotFound } from '../kube/undefined-if-not-found.ts';
import { persistentVolumeClaims, persistentVolumes } from '../kube/resources.ts';
import { annotations } from '../kube/well-known.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ClusterFeed } from '../state/cluster-feed.ts';
import { claimBindingPatch, volumeBindingPatch, volumeUnbindingPatch } from './binding-patches.ts';
import { type ConditionalWrite, retryWhileValid } from './retry-while-valid.ts';
import { claimWriteState, volumeWriteState } from './write-state.ts';

/** Somebody who writes to a volume faster than we can read it has it. */
const withdrawTriesMax = 10;

/**
 * The scheduler's writes about volumes. Each carries the uid and the version that was decided on, so a stale cache ends in
 * `ReservationConflict` and never in a volume given twice; each answer goes to the feed, so the next decision knows of it.
 */
export class VolumeBindingWrites {
  readonly #cluster: Cluster;
  readonly #feed: ClusterFeed;
  readonly #clock: Clock;

  constructor(cluster: Cluster, feed: ClusterFeed, clock: Clock) {
    this.#cluster = cluster;
    this.#feed = feed;
    this.#clock = clock;
  }

  /** Tells the provisioner for which node to make the claim's volume. Safe to repeat: what stands there already isn't written. */
  async selectNode(provision: Provision, nodeName: string, signal: AbortSignal): Promise<void> {
    const { claimVersion, pool } = provision;
    const claim = this.#claimOf(provision);
    const known = claim.metadata?.annotations ?? {};
    if (known[annotations.selectedNode] === nodeName) return;
    const isHinted = pool !== undefined || known[annotations.pool] !== undefined;
    const marks = {
      [annotations.selectedNode]: nodeName,
      // That of an earlier attempt would be counted on by whoever comes after us.
      ...(isHinted && { [annotations.pool]: pool?.name ?? null }),
    };
    const change = { metadata: { annotations: marks } };
    const attempt: ConditionalWrite = {
      write: async (version = claimVersion) => {
        await this.#patchClaim(claim, change, { version, signal });
      },
      readState: async () => {
        const live = await this.readClaim(provision.claim, signal);
        if (live !== undefined) this.#feed.recordWrite('PersistentVolumeClaim', live);
        return claimWriteState(live, claim, nodeName);
      },
    };
    await retryWhileValid(attempt, this.#clock, signal);
  }

  /**
   * The write that makes the volume the claim's, to be called when all of a pod's are ready; undefined where it stands there
   * already. The claimRef is the lock: of two who write it, one gets `ReservationConflict`. Throws where that is known beforehand.
   */
  prepareClaimRef(binding: ClaimBinding): ClaimRefWrite | undefined {
    const { volume: name, volumeVersion } = binding;
    const claim = this.#claimOf(binding);
    const volume = this.#feed.get('PersistentVolume', name);
    if (volume === undefined) throw new Error(`PersistentVolume ${name} is gone`);
    const change = volumeBindingPatch(volume, claim);
    if (change === undefined) return undefined;
    const stored = volume.metadata?.resourceVersion;
    if (stored !== volumeVersion)
      throw new Error(
        `PersistentVolume ${name} is out of sync (stored: ${stored}, planned: ${volumeVersion})`,
      );
    const write = async (signal: AbortSignal) => {
      const attempt: ConditionalWrite = {
        write: (version = volumeVersion) => this.#patchVolume(volume, change, { version, signal }),
        readState: async () => {
          const live = await this.#liveVolume(name, signal);
          if (live !== undefined) this.#feed.recordWrite('PersistentVolume', live);
          return volumeWriteState(live, volume, binding.claimUid);
        },
      };
      await retryWhileValid(attempt, this.#clock, signal);
    };
    const isFree = volume.spec?.claimRef === undefined && volume.status?.phase === 'Available';
    return { binding, write, isFree };
  }

  /**
   * Names the volume on the claim's side too, once the volume names the claim by its uid: never before, or the PV controller would
   * take the claim for lost. It is left with the phases to fill in. Whoever was faster did the same, and where this fails the PV
   * controller does it, so nothing is tried twice.
   *
   * `unknown`: no answer came. The write may still be on its way, and would hold for the claim as it is: the claimRef must stay.
   */
  async completeClaim(binding: ClaimRefId, signal: AbortSignal): Promise<ClaimCompletion> {
    const claim = this.#claimOf(binding);
    const volume = this.#feed.get('PersistentVolume', binding.volume);
    const isRollingBack = claim.metadata?.annotations?.[annotations.rollback] !== undefined;
    if (volume?.spec?.claimRef?.uid !== binding.claimUid || isRollingBack) return 'settled';
    if ((claim.spec?.volumeName ?? '') !== '') return 'settled';
    const change = claimBindingPatch(claim, binding.volume);
    if (change === undefined) return 'settled';
    try {
      await this.#patchClaim(claim, change, { signal });
      return 'settled';
    } catch (error) {
      signal.throwIfAborted();
      return isRefusal(error) ? 'settled' : 'unknown';
    }
  }

  /**
   * Takes a claimRef back that we wrote, if nothing has come of it: the volume's phase is still Available and the claim doesn't
   * name it. Whoever completes bindings writes the phase first, so on the version that shows Available exactly one side wins.
   */
  async withdrawClaimRef(
    { claim: key, claimUid, volume: name }: ClaimRefId,
    signal: AbortSignal,
  ): Promise<ClaimRefWithdrawal> {
    for (let tries = 0; tries < withdrawTriesMax; tries += 1) {
      const volume = await this.#liveVolume(name, signal);
      if (volume === undefined || volume.spec?.claimRef?.uid !== claimUid) return 'free';
      const claim = await this.readClaim(key, signal);
      if (!isWithdrawable(volume, claim?.metadata?.uid === claimUid ? claim : undefined)) return 'kept';
      try {
        await this.#patchVolume(volume, volumeUnbindingPatch(volume), { signal });
        return 'free';
      } catch (error) {
        if (!isReason(error, 'Conflict') && !isReason(error, 'NotFound')) throw error;
      }
    }
    return 'kept';
  }

  async #liveVolume(name: string, signal: AbortSignal): Promise<PersistentVolume | undefined> {
    return await undefinedIfNotFound(this.#cluster.resource(persistentVolumes).get({ name }, { signal }));
  }

  async readClaim(key: string, signal: AbortSignal): Promise<PersistentVolumeClaim | undefined> {
    return await undefinedIfNotFound(this.#cluster.resource(persistentVolumeClaims).get(parseKey(key), { signal }));
  }

  async annotateClaim(
    claim: PersistentVolumeClaim,
    marks: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    return await this.#patchClaim(claim, { metadata: { annotations: marks } }, { signal });
  }

  /** The claim that was decided on, not another that has come under its name. */
  #claimOf({ claim: key, claimUid }: Pick<ClaimBinding, 'claim' | 'claimUid'>): PersistentVolumeClaim {
    const claim = this.#feed.get('PersistentVolumeClaim', key);
    if (claim?.metadata?.uid !== claimUid) throw new Error(`PersistentVolumeClaim ${key} is gone`);
    return claim;
  }

  async #patchVolume(volume: PersistentVolume, change: object, { version, signal }: On): Promise<void> {
    const name = volume.metadata?.name ?? '';
    const patch = { type: 'merge', body: withPreconditions(volume, change, version) } as const;
    const written = await this.#cluster.resource(persistentVolumes).patch({ name }, patch, { signal });
    this.#feed.recordWrite('PersistentVolume', written);
  }

  async #patchClaim(
    claim: PersistentVolumeClaim,
    change: object,
    { version, signal }: On,
  ): Promise<PersistentVolumeClaim> {
    const { namespace, name = '' } = claim.metadata ?? {};
    const patch = { type: 'merge', body: withPreconditions(claim, change, version) } as const;
    const client = this.#cluster.resource(persistentVolumeClaims);
    const written = await client.patch({ namespace, name }, patch, { signal });
    this.#feed.recordWrite('PersistentVolumeClaim', written);
    return written;
  }
}

/** A claimRef that is still to be written. */
export interface ClaimRefWrite {
  readonly binding: ClaimBinding;
  readonly write: (signal: AbortSignal) => Promise<void>;
  /** Nobody had a hand on the volume before us: it was Available and without a claimRef. */
  readonly isFree: boolean;
}

/** A claimRef that may be taken back, and its claim. */
export type ClaimRefId = Pick<ClaimBinding, 'claim' | 'claimUid' | 'volume'>;

/** `settled`: done, refused, or not called for; nothing more comes of it. */
export type ClaimCompletion = 'settled' | 'unknown';

/** `kept`: the binding has gone on. */
export type ClaimRefWithdrawal = 'free' | 'kept';

/** The server has decided against the write, so it will never take effect. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code < 500;
}

interface On {
  /** That of the object itself where it is left out. */
  readonly version?: string;
  readonly signal: AbortSignal;
}

/**
 * Nothing can have been written to the volume: the claim doesn't name it, and isn't marked as mounted. Unknown counts as dirty;
 * `claim` is undefined where it is known to be gone.
 */
export function isWithdrawable(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): boolean {
  const isMounted = claim?.metadata?.annotations?.[annotations.mounted] !== undefined;
  const isNamed = claim?.spec?.volumeName === volume.metadata?.name;
  return volume.status?.phase === 'Available' && !isNamed && !isMounted;
}
