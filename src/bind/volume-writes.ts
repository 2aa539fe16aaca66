import type { Cluster } from '../cluster/cluster.ts';
import type { ClaimBinding, Provision } from '../engine/rules/framework/decisions.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../kube/api/core.ts';
import { isReason, isRefusal } from '../kube/api-error.ts';
import { fittingTopologyText } from '../kube/fitting-topology.ts';
import { formatTimestamp } from '../kube/go/timestamp.ts';
import { parseKey } from '../kube/object-key.ts';
import { withPreconditions } from '../kube/patch-preconditions.ts';
import { persistentVolumeClaims, persistentVolumes } from '../kube/resources.ts';
import { undefinedIfNotFound } from '../kube/undefined-if-not-found.ts';
import { annotations } from '../kube/well-known.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ClusterFeed } from '../state/cluster-feed.ts';
import { claimBindingPatch, volumeBindingPatch, volumeUnbindingPatch } from './binding-patches.ts';
import { type ConditionalWrite, retryWhileValid } from './retry-while-valid.ts';
import { supersede } from './supersede.ts';
import { claimWriteState, volumeWriteState } from './write-state.ts';

/** If other clients write to a volume faster than it can be read, they keep it. */
const withdrawAttemptsMax = 10;

/**
 * The writes that bind volumes to claims. Each carries the uid and the resourceVersion that was decided on, so a stale cache leads to a
 * `Conflict` and never to a volume given twice. Each result goes to the feed, so that the next decision sees it.
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

  /**
   * Selects the node for which the provisioner creates the claim's volume. May be repeated: it writes nothing if the node is already selected.
   *
   * If the write fails after an attempt without a response, that attempt may still be on its way. So the claim is written before this
   * rejects, and the server will refuse the late attempt: another volume may then get the capacity that was reserved for this one. Otherwise the
   * claim would get a node for which nothing is reserved.
   */
  async selectNode(provision: Provision, nodeName: string, signal: AbortSignal): Promise<void> {
    const { claimVersion, pool, fittingSegments } = provision;
    const claim = this.#claimOf(provision);
    const known = claim.metadata?.annotations ?? {};
    if (known[annotations.selectedNode] === nodeName) return;
    const marks = {
      [annotations.selectedNode]: nodeName,
      ...poolMarks(pool, known),
      ...topologyMarks(nodeName, fittingSegments, known),
      ...givenUpMarks(known),
    };
    const change = { metadata: { annotations: marks } };
    let unanswered: string | undefined;
    const attempt: ConditionalWrite = {
      write: async (version = claimVersion) => {
        try {
          await this.#patchClaim(claim, change, { version, signal });
        } catch (error) {
          if (!isRefusal(error)) unanswered = version;
          throw error;
        }
      },
      readState: async () => {
        const live = await this.readClaim(provision.claim, signal);
        if (live !== undefined) this.#feed.recordWrite('PersistentVolumeClaim', live);
        return claimWriteState(live, claim, nodeName);
      },
    };
    try {
      await retryWhileValid(attempt, this.#clock, signal);
    } catch (error) {
      signal.throwIfAborted();
      const live = unanswered === undefined ? undefined : await this.#supersede(claim, unanswered, signal);
      if (live === undefined || claimWriteState(live, claim, nodeName).kind !== 'done') throw error;
    }
  }

  /** Resolves with the claim when no write on `version` can take effect any more; undefined if the claim was deleted. */
  async #supersede(
    claim: PersistentVolumeClaim,
    version: string,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim | undefined> {
    const { namespace, name = '' } = claim.metadata ?? {};
    const client = this.#cluster.resource(persistentVolumeClaims);
    const marks = { [annotations.selectionGivenUp]: formatTimestamp(this.#clock.nowMs()) };
    const superseded = {
      version,
      read: () => undefinedIfNotFound(client.get({ namespace, name }, { signal })),
      change: (live: PersistentVolumeClaim) => this.annotateClaim(live, marks, signal),
    };
    const live = await supersede(superseded, this.#clock, signal);
    if (live !== undefined) this.#feed.recordWrite('PersistentVolumeClaim', live);
    return live;
  }

  /**
   * Prepares the write of the claimRef, for the caller to send once all of the pod's claimRefs are prepared; undefined if the claimRef is
   * already there. The claimRef is the lock: of two clients that write it, one gets `Conflict`. Throws if a conflict is certain before.
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
   * Names the volume in the claim, once the volume names the claim by its uid: never before, or the PV controller would mark the claim
   * as Lost. The PV controller then writes only the phases. If another client has completed the claim before, it wrote the same; if this
   * write fails, the PV controller completes the claim. So it is never retried.
   *
   * `unknown`: no response came. The write may still take effect on this version of the claim, so the claimRef must stay.
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
   * Removes a claimRef that a scheduler wrote, unless the binding has been completed: the volume's phase must be Available and the claim
   * must not name it. A component that completes bindings writes the phase first, so a write on a version with phase Available wins
   * against it or conflicts.
   */
  async withdrawClaimRef(
    { claim: key, claimUid, volume: name }: ClaimRefId,
    signal: AbortSignal,
  ): Promise<ClaimRefWithdrawal> {
    for (let attempt = 0; attempt < withdrawAttemptsMax; attempt += 1) {
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
    return await undefinedIfNotFound(
      this.#cluster.resource(persistentVolumeClaims).get(parseKey(key), { signal }),
    );
  }

  /** Reads claims from the server, passes them to the feed, and returns the key of one that does not exist. */
  async missingClaim(keys: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const found = await Promise.all(keys.map((key) => this.readClaim(key, signal)));
    for (const claim of found)
      if (claim !== undefined) this.#feed.recordWrite('PersistentVolumeClaim', claim);
    return keys.find((_, at) => found[at] === undefined);
  }

  async annotateClaim(
    claim: PersistentVolumeClaim,
    marks: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    return await this.#patchClaim(claim, { metadata: { annotations: marks } }, { signal });
  }

  /** The claim of the decision. Throws if it was deleted, or re-created under its name. */
  #claimOf({ claim: key, claimUid }: Pick<ClaimBinding, 'claim' | 'claimUid'>): PersistentVolumeClaim {
    const claim = this.#feed.get('PersistentVolumeClaim', key);
    if (claim?.metadata?.uid !== claimUid) throw new Error(`PersistentVolumeClaim ${key} is gone`);
    return claim;
  }

  async #patchVolume(
    volume: PersistentVolume,
    change: object,
    { version, signal }: VersionedWrite,
  ): Promise<void> {
    const name = volume.metadata?.name ?? '';
    const patch = { type: 'merge', body: withPreconditions(volume, change, version) } as const;
    const written = await this.#cluster.resource(persistentVolumes).patch({ name }, patch, { signal });
    this.#feed.recordWrite('PersistentVolume', written);
  }

  async #patchClaim(
    claim: PersistentVolumeClaim,
    change: object,
    { version, signal }: VersionedWrite,
  ): Promise<PersistentVolumeClaim> {
    const { namespace, name = '' } = claim.metadata ?? {};
    const patch = { type: 'merge', body: withPreconditions(claim, change, version) } as const;
    const client = this.#cluster.resource(persistentVolumeClaims);
    const written = await client.patch({ namespace, name }, patch, { signal });
    this.#feed.recordWrite('PersistentVolumeClaim', written);
    return written;
  }
}

/** Names the pool or drive. The next process would count on that of an earlier attempt, so it is removed. */
function poolMarks(
  pool: Provision['pool'],
  known: Readonly<Record<string, string>>,
): Readonly<Record<string, string | null>> {
  const key = pool?.isDrive === true ? annotations.drive : annotations.pool;
  const old = [annotations.pool, annotations.drive].filter((each) => known[each] !== undefined);
  return {
    ...Object.fromEntries(old.map((each) => [each, null])),
    ...(pool !== undefined && { [key]: pool.name }),
  };
}

/** Replaces or removes the segments of an earlier selection. */
function topologyMarks(
  nodeName: string,
  segments: Provision['fittingSegments'],
  known: Readonly<Record<string, string>>,
): Readonly<Record<string, string | null>> {
  const text = segments && fittingTopologyText({ node: nodeName, segments });
  if (text !== undefined) return { [annotations.fittingTopology]: text };
  return known[annotations.fittingTopology] === undefined ? {} : { [annotations.fittingTopology]: null };
}

/** The mark of an earlier selection is no longer needed: this write gives the claim another version. */
function givenUpMarks(known: Readonly<Record<string, string>>): Readonly<Record<string, null>> {
  return known[annotations.selectionGivenUp] === undefined ? {} : { [annotations.selectionGivenUp]: null };
}

/** A claimRef that has not been written yet. */
export interface ClaimRefWrite {
  readonly binding: ClaimBinding;
  readonly write: (signal: AbortSignal) => Promise<void>;
  /** The volume was Available and had no claimRef, so no other client has begun to bind it. */
  readonly isFree: boolean;
}

/** A written claimRef: the volume, and the claim that it names. */
export type ClaimRefId = Pick<ClaimBinding, 'claim' | 'claimUid' | 'volume'>;

/** `settled`: the write took effect, was refused, or was not necessary. */
export type ClaimCompletion = 'settled' | 'unknown';

/** `kept`: the binding has been completed and stays. */
export type ClaimRefWithdrawal = 'free' | 'kept';

interface VersionedWrite {
  /** Default: the resourceVersion of the object. */
  readonly version?: string;
  readonly signal: AbortSignal;
}

/**
 * True if the volume cannot hold data of the claim, so that its claimRef may be withdrawn: its phase is Available, and the claim neither
 * names it nor is marked as mounted. `claim` is undefined only if it is known to be gone.
 */
export function isWithdrawable(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): boolean {
  const isMounted = claim?.metadata?.annotations?.[annotations.mounted] !== undefined;
  const isNamed = claim?.spec?.volumeName === volume.metadata?.name;
  return volume.status?.phase === 'Available' && !isNamed && !isMounted;
}
