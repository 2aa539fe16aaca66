import { isClean, type Reserved, type VolumeWrites } from '../../bind/volume-writes.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { annotations, markerValue } from '../../kube/well-known.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';

export interface RollbackOptions {
  readonly feed: ClusterFeed;
  readonly writes: VolumeWrites;
  readonly clock: Clock;
  /** Runs what it is given beside everything else. */
  readonly background: (work: Promise<void>) => void;
  readonly report: (claimKey: string, error: unknown) => void;
  readonly signal: AbortSignal;
}

const retryFirstMs = 100;
const retryMaxMs = 30_000;

/**
 * Gives back volumes that are reserved for the claims of a pod that fits nowhere. They may be what keeps it from everywhere else: a
 * scheduler before us died between two of a pod's volumes, or its node has rejected the pod.
 *
 * The claim is marked first, on a version that nothing has mounted; from then on no node mounts it and no pod is placed with it. Then
 * the claimRef is withdrawn, then the mark is taken off, which wakes the pods that wait for that. A death in between leaves the mark,
 * and whoever starts next, or meets a pod that waits for it, goes on from there. What fails is tried until it is done: nobody else
 * would take the mark off.
 *
 * Only claims that wait for the scheduler: others are the PV controller's, which may be in the middle of binding them.
 */
export class Rollback {
  readonly #options: RollbackOptions;
  /** By uid. */
  readonly #underWay = new Set<string>();

  constructor(options: RollbackOptions) {
    this.#options = options;
  }

  /** The pod has been refused. */
  consider(pod: PodRecord): void {
    const { index } = this.#options.feed;
    for (const { key } of pod.claims) {
      const claim = index.claims.get(key);
      if (claim !== undefined && (claim.isRollingBack || this.#mayStart(claim, pod.key))) this.#start(claim);
    }
  }

  /** What a scheduler before us has begun. */
  resume(): void {
    const { index } = this.#options.feed;
    for (const claim of index.claims.records()) if (claim.isRollingBack) this.#start(claim);
  }

  #mayStart(claim: ClaimRecord, podKey: string): boolean {
    const { index } = this.#options.feed;
    const isDelayed = index.bindsVolumes && index.classes.get(claim.className)?.isDelayed === true;
    const isHeld = index.pods.isHeldByOther(claim.key, podKey);
    return isDelayed && claim.volumeName === '' && !isHeld && this.#isReserved(claim);
  }

  #start({ key, uid }: ClaimRecord): void {
    if (this.#underWay.has(uid)) return;
    this.#underWay.add(uid);
    this.#options.background(this.#undo(key, uid).finally(() => this.#underWay.delete(uid)));
  }

  async #undo(key: string, uid: string): Promise<void> {
    const { clock, signal, report } = this.#options;
    for (let pauseMs = retryFirstMs; !signal.aborted; pauseMs = Math.min(2 * pauseMs, retryMaxMs)) {
      try {
        await this.#attempt(key, uid);
        return;
      } catch (error) {
        if (signal.aborted || isReason(error, 'NotFound')) return;
        // Somebody else wrote to the claim meanwhile: part of the game.
        if (!isReason(error, 'Conflict')) report(key, error);
      }
      await clock.sleep(pauseMs, signal);
    }
  }

  async #attempt(key: string, uid: string): Promise<void> {
    const { writes, signal } = this.#options;
    const claim = await writes.liveClaim(key, signal);
    if (claim?.metadata?.uid !== uid) return;
    const marked = await this.#mark(claim);
    if (marked === undefined) return;
    for (const reserved of this.#claimedFor(key, uid)) await writes.withdraw(reserved, signal);
    await writes.markClaim(marked, { [annotations.rollback]: null }, signal);
  }

  /** Undefined where somebody was faster: it is mounted or bound. */
  async #mark(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim | undefined> {
    const { writes, signal } = this.#options;
    const marks = claim.metadata?.annotations ?? {};
    if (marks[annotations.rollback] !== undefined) return claim;
    if (marks[annotations.mounted] !== undefined || (claim.spec?.volumeName ?? '') !== '') return undefined;
    return await writes.markClaim(claim, { [annotations.rollback]: markerValue }, signal);
  }

  /** By a scheduler, and nothing has come of it yet. */
  #isReserved({ key, uid }: ClaimRecord): boolean {
    const { feed } = this.#options;
    const claim = feed.get('PersistentVolumeClaim', key);
    return this.#claimedFor(key, uid).some(({ volume: name }) => {
      const volume = feed.get('PersistentVolume', name);
      return volume !== undefined && isClean(volume, claim);
    });
  }

  /** Volumes that a scheduler claimed for it. What a person reserved isn't ours to give back. */
  #claimedFor(key: string, uid: string): Reserved[] {
    const { feed } = this.#options;
    return feed.index.volumes
      .claimedFor(key)
      .filter(({ claim, key: name }) => {
        const marks = feed.get('PersistentVolume', name)?.metadata?.annotations;
        return claim?.uid === uid && marks?.[annotations.boundByController] !== undefined;
      })
      .map((volume) => ({ claim: key, claimUid: uid, volume: volume.key }));
  }
}
