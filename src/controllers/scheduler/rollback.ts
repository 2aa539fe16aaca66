import type { BindingSession } from '../../bind/binding-session.ts';
import { type ClaimRefId, isWithdrawable } from '../../bind/volume-writes.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { annotations, markerValue } from '../../kube/well-known.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';
import type { BackgroundTasks } from './background-tasks.ts';

export interface ClaimRollbackOptions {
  readonly context: Pick<ControllerContext, 'clock'>;
  readonly feed: ClusterFeed;
  readonly session: BindingSession;
  readonly background: BackgroundTasks;
  readonly signal: AbortSignal;
}

const retryFirstMs = 100;
const retryMaxMs = 30_000;

/**
 * Withdraws claimRefs that were written for the claims of a pod that fits no node. They may be the reason why it fits no node: an
 * earlier scheduler crashed between two of the pod's volumes, or the kubelet has rejected the pod.
 *
 * The steps for one claim, each on the version that was read:
 *
 * 1. Mark the claim with the rollback annotation, unless it is mounted or bound. From then on no node agent mounts it, and no plan
 *    places a pod with it.
 * 2. Withdraw the claimRef.
 * 3. Remove the mark, which wakes the pods that wait for it.
 *
 * After a crash the mark remains, and the next scheduler continues when it starts, or when it decides on a pod that waits for the claim.
 * Failed writes are retried until they succeed, because no other component removes the mark.
 *
 * Only claims that wait for the scheduler are rolled back: the PV controller may be about to bind the others.
 */
export class ClaimRollback {
  readonly #options: ClaimRollbackOptions;
  /** Uids of the claims that are being rolled back. */
  readonly #running = new Set<string>();

  constructor(options: ClaimRollbackOptions) {
    this.#options = options;
  }

  /** Called when the pod fits no node. */
  rollBackClaimsOf(pod: PodRecord): void {
    const { index } = this.#options.feed;
    for (const { key } of pod.claims) {
      const claim = index.claims.get(key);
      if (claim !== undefined && (claim.isRollingBack || this.#mayStart(claim, pod.key))) this.#start(claim);
    }
  }

  /** Continues the rollbacks that an earlier scheduler began. */
  resume(): void {
    const { index } = this.#options.feed;
    for (const claim of index.claims.records()) if (claim.isRollingBack) this.#start(claim);
  }

  #mayStart(claim: ClaimRecord, podKey: string): boolean {
    const { index } = this.#options.feed;
    const isDelayed = index.bindsVolumes && index.classes.get(claim.className)?.isDelayed === true;
    const isHeld = index.pods.isUsedByOther(claim.key, podKey);
    return isDelayed && claim.volumeName === '' && !isHeld && this.#isReserved(claim);
  }

  #start({ key, uid }: ClaimRecord): void {
    if (this.#running.has(uid)) return;
    this.#running.add(uid);
    const work = this.#rollBack(key, uid).finally(() => this.#running.delete(uid));
    this.#options.background.start('rollback', work);
  }

  async #rollBack(key: string, uid: string): Promise<void> {
    const { context, background, signal } = this.#options;
    for (let pauseMs = retryFirstMs; !signal.aborted; pauseMs = Math.min(2 * pauseMs, retryMaxMs)) {
      try {
        await this.#attempt(key, uid);
        return;
      } catch (error) {
        if (signal.aborted || isReason(error, 'NotFound')) return;
        // A conflict is expected: another client wrote to the claim meanwhile.
        if (!isReason(error, 'Conflict')) background.report(key, error);
      }
      await context.clock.sleep(pauseMs, signal);
    }
  }

  async #attempt(key: string, uid: string): Promise<void> {
    const { session, signal } = this.#options;
    const claim = await session.volumeWrites.readClaim(key, signal);
    if (claim?.metadata?.uid !== uid) return;
    const marked = await this.#mark(claim);
    if (marked === undefined) return;
    for (const reserved of this.#claimedFor(key, uid))
      await session.volumeWrites.withdrawClaimRef(reserved, signal);
    await session.volumeWrites.annotateClaim(marked, { [annotations.rollback]: null }, signal);
  }

  /** Undefined if the claim has been mounted or bound meanwhile. */
  async #mark(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim | undefined> {
    const { session, signal } = this.#options;
    const marks = claim.metadata?.annotations ?? {};
    if (marks[annotations.rollback] !== undefined) return claim;
    if (marks[annotations.mounted] !== undefined || (claim.spec?.volumeName ?? '') !== '') return undefined;
    return await session.volumeWrites.annotateClaim(claim, { [annotations.rollback]: markerValue }, signal);
  }

  /** Whether a scheduler has written a claimRef for it that the PV controller has not completed. */
  #isReserved({ key, uid }: ClaimRecord): boolean {
    const { feed } = this.#options;
    const claim = feed.get('PersistentVolumeClaim', key);
    return this.#claimedFor(key, uid).some(({ volume: name }) => {
      const volume = feed.get('PersistentVolume', name);
      return volume !== undefined && isWithdrawable(volume, claim);
    });
  }

  /** The claimRefs that a scheduler wrote for the claim. A volume that an administrator reserved stays reserved. */
  #claimedFor(key: string, uid: string): ClaimRefId[] {
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
