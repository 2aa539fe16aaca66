import {
  unboundClaimStatusPatch,
  volumePhasePatch,
  volumeUnbindingPatch,
} from '../../../bind/binding-patches.ts';
import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { parseKey } from '../../../kube/object-key.ts';
import { persistentVolumeClaims } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { ClusterFeed } from '../../../state/cluster-feed.ts';
import { BinderEvents } from './binder-events.ts';
import { BinderWrites } from './binder-writes.ts';
import { type ClaimDecision, type ClaimView, decideClaim } from './claim-decision.ts';
import { claimMigration, volumeMigration } from './migration.ts';
import { defaultClassOf } from './provisioning.ts';
import { reclaimProblem } from './reclaim.ts';
import { decideVolume, modeMismatch } from './volume-decision.ts';
import { WaitingClaims } from './waiting-claims.ts';
import { claimKey, keysWokenBy, volumeKey } from './woken-keys.ts';

export interface PvBinderControllerSettings {
  /** Claims of WaitForFirstConsumer classes wait for the scheduler; off, they are bound like all others. Default true. */
  readonly volumeScheduling?: boolean | undefined;
}

/**
 * Binds volumes and claims, and maintains their phases: Pending, Bound and Lost of claims; Available, Bound, Released and Failed
 * of volumes.
 *
 * Safe to crash after any write. A binding is four writes in a fixed order (see `BinderWrites.bind`); an incomplete binding is
 * found by its claimRef, and the next run writes the rest. All others are single writes that follow from the current state.
 */
export function pvBinderController({ volumeScheduling = true }: PvBinderControllerSettings = {}): Controller {
  return defineController({
    name: 'pv-binder',
    workers: 8,
    create: (context) => new PvBinder(context, volumeScheduling),
  });
}

/** Keys are `claim NAMESPACE/NAME` and `volume NAME`. */
class PvBinder implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #queue: WorkQueue;
  readonly #feed: ClusterFeed;
  readonly #writes: BinderWrites;
  readonly #events: BinderEvents;
  readonly #view: ClaimView;
  readonly #waiting = new WaitingClaims();
  /** The free volume for which a claim was queued, until the claim is reconciled. */
  readonly #wokenFor = new Map<string, string>();

  constructor(context: LoopContext, delaysBinding: boolean) {
    this.#context = context;
    this.#queue = context.queue;
    this.#feed = new ClusterFeed({
      informers: context.informers,
      kinds: ['StorageClass', 'Pod', 'PersistentVolumeClaim', 'PersistentVolume'],
      onChange: (change) => this.#changed(change),
    });
    this.caches = [this.#feed];
    this.#writes = new BinderWrites(context.cluster, this.#feed, context.beforeWrite, context.signal);
    this.#events = new BinderEvents(context);
    const defaultClass = () => defaultClassOf(this.#feed.values('StorageClass'));
    this.#view = { index: this.#feed.index, defaultClass, delaysBinding };
  }

  listen(): readonly (() => void)[] {
    return [this.#feed.start()];
  }

  // ── Waking ──

  #changed(change: ClusterChange): void {
    // Once each: a key that a worker takes immediately would otherwise be reconciled twice.
    for (const key of new Set(keysWokenBy(change, this.#feed.index))) this.#queue.add(key);
    if (change.kind === 'PersistentVolume') {
      if (change.after === undefined) this.#events.forget(`volume ${change.before?.key}`);
      else this.#offer(change.after.key);
    }
    if (change.kind === 'PersistentVolumeClaim' && change.after === undefined) {
      this.#waiting.delete(change.before?.key ?? '');
      this.#events.forget(`claim ${change.before?.key}`);
      // The claim was queued but not reconciled yet: the volume that it was queued for may go to the next.
      this.#queue.add(claimKey(change.before?.key ?? ''));
    }
  }

  *sweepKeys(): Iterable<string> {
    const { claims, volumes } = this.#feed.index;
    for (const { key } of claims.records()) yield claimKey(key);
    for (const { key } of volumes.records()) yield volumeKey(key);
  }

  /** Offers a free volume to a claim that waits for one like it. */
  #offer(volumeName: string): void {
    const { volumes } = this.#feed.index;
    const row = volumes.row(volumeName);
    if (row === undefined || !volumes.isFree(row)) return;
    const claim = this.#waiting.bestFor(volumes.record(row));
    if (claim === undefined) return;
    this.#waiting.delete(claim.key);
    this.#wokenFor.set(claim.key, volumeName);
    this.#queue.add(claimKey(claim.key));
  }

  // ── Reconciling ──

  async reconcile(key: string): Promise<Requeue | undefined> {
    const space = key.indexOf(' ');
    const what = key.slice(space + 1);
    try {
      if (key.startsWith('claim ')) await this.#reconcileClaim(what);
      else await this.#reconcileVolume(what);
      return undefined;
    } catch (error) {
      // Another client was faster, or the cache is stale: the next run sees the change.
      if (isReason(error, 'Conflict')) return {};
      // It was deleted meanwhile; the informer will report that.
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async #reconcileClaim(key: string): Promise<void> {
    const claim = this.#feed.get('PersistentVolumeClaim', key);
    if (claim !== undefined) await this.#settleClaim(key, claim);
    const volumeName = this.#wokenFor.get(key);
    if (volumeName === undefined) return;
    this.#wokenFor.delete(key);
    if (!this.#waiting.has(key)) this.#offer(volumeName);
  }

  async #settleClaim(key: string, cached: PersistentVolumeClaim): Promise<void> {
    this.#waiting.delete(key);
    const claim = await this.#writes.claim(cached, claimMigration(cached));
    const record = this.#feed.index.claims.get(key);
    if (record === undefined) return;
    const decision = decideClaim(this.#view, claim, record);
    await this.#actOnClaim(key, claim, decision);
  }

  async #actOnClaim(key: string, claim: PersistentVolumeClaim, decision: ClaimDecision): Promise<void> {
    switch (decision.kind) {
      case 'bind':
        return await this.#bind(key, claim, decision.volumeName);
      case 'take-class':
        await this.#writes.claim(claim, { spec: { storageClassName: decision.className } });
        return;
      case 'hand-over':
        return await this.#handOver(key, claim, decision);
      case 'wait':
        if (decision.event !== undefined) this.#events.recordForClaim(claim, decision.event);
        if (decision.takesAny) this.#wait(key);
        if (!decision.keepsPhase)
          await this.#writes.claimStatus(claim, unboundClaimStatusPatch(claim, 'Pending'));
        return;
      case 'lose':
        if (claim.status?.phase === 'Lost') return;
        await this.#writes.claimStatus(claim, unboundClaimStatusPatch(claim, 'Lost'));
        this.#events.recordForClaim(claim, decision.event);
        return;
      case 'contradiction':
        this.#events.recordForClaim(claim, decision.event);
        throw new Error(decision.problem);
      default:
        return unreachable(decision);
    }
  }

  #wait(key: string): void {
    const record = this.#feed.index.claims.get(key);
    if (record !== undefined) this.#waiting.add(record);
  }

  /** The volume is reserved in the index while the claimRef is being written, so that no other claim tries it in vain. */
  async #bind(key: string, claim: PersistentVolumeClaim, volumeName: string): Promise<void> {
    const { index } = this.#feed;
    const volume = this.#feed.get('PersistentVolume', volumeName);
    if (volume === undefined) return;
    const isHeld = index.volumes.holderOf(volumeName) === undefined;
    if (isHeld) index.setHold(volumeName, key);
    try {
      await this.#writes.bind(volume, claim);
      this.#events.forget(claimKey(key));
    } finally {
      if (isHeld && index.volumes.holderOf(volumeName) === key) {
        index.setHold(volumeName, undefined);
        this.#offer(volumeName);
      }
    }
  }

  async #handOver(
    key: string,
    claim: PersistentVolumeClaim,
    { provisioner, event }: Extract<ClaimDecision, { kind: 'hand-over' }>,
  ): Promise<void> {
    const { storageProvisioner, betaStorageProvisioner } = annotations;
    const isWritten = claim.metadata?.annotations?.[storageProvisioner] === provisioner;
    const marks = { [storageProvisioner]: provisioner, [betaStorageProvisioner]: provisioner };
    const marked = await this.#writes.claim(
      claim,
      isWritten ? undefined : { metadata: { annotations: marks } },
    );
    this.#events.recordForClaim(marked, event);
    this.#wait(key);
  }

  async #reconcileVolume(volumeName: string): Promise<void> {
    const cached = this.#feed.get('PersistentVolume', volumeName);
    if (cached === undefined) return;
    const volume = await this.#writes.volume(cached, volumeMigration(cached));
    const claim = await this.#claimOf(volume);
    const decision = decideVolume(volume, claim);
    switch (decision.kind) {
      case 'phase':
        await this.#writes.volumeStatus(volume, volumePhasePatch(volume, decision.phase));
        return;
      case 'release':
        return await this.#release(volume);
      case 'unbind':
        await this.#unbind(volume);
        return;
      case 'finish-claim':
        this.#queue.add(claimKey(claimKeyOf(volume)));
        return;
      case 'mode-mismatch': {
        if (claim === undefined) return;
        const { onVolume, onClaim } = modeMismatch(volume, claim);
        this.#events.recordForVolume(volume, onVolume);
        this.#events.recordForClaim(claim, onClaim);
        return;
      }
      default:
        return unreachable(decision);
    }
  }

  /**
   * The claim of the claimRef. Only the server can confirm that it no longer exists: a claim that the cache has not seen yet
   * would otherwise lose the volume that was just created for it. Released volumes are not checked again.
   */
  async #claimOf(volume: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const uid = volume.spec?.claimRef?.uid ?? '';
    if (uid === '') return undefined;
    const key = claimKeyOf(volume);
    const cached = this.#feed.get('PersistentVolumeClaim', key);
    if (cached?.metadata?.uid === uid) return cached;
    if (cached === undefined && isReleased(volume)) return undefined;
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    const live = await undefinedIfNotFound(client.get(parseKey(key), { signal: this.#context.signal }));
    return live?.metadata?.uid === uid ? live : undefined;
  }

  async #release(volume: PersistentVolume): Promise<void> {
    const released = isReleased(volume)
      ? volume
      : await this.#writes.volumeStatus(volume, volumePhasePatch(volume, 'Released'));
    const problem = reclaimProblem(released);
    if (problem === undefined || released.status?.phase === 'Failed') return;
    const failed = await this.#writes.volumeStatus(
      released,
      volumePhasePatch(released, 'Failed', problem.note),
    );
    this.#events.recordForVolume(failed, problem);
  }

  async #unbind(volume: PersistentVolume): Promise<void> {
    const free = await this.#writes.volume(volume, volumeUnbindingPatch(volume));
    await this.#writes.volumeStatus(free, volumePhasePatch(free, 'Available'));
  }
}

function isReleased({ status }: PersistentVolume): boolean {
  return status?.phase === 'Released' || status?.phase === 'Failed';
}

function claimKeyOf({ spec }: PersistentVolume): string {
  return `${spec?.claimRef?.namespace ?? ''}/${spec?.claimRef?.name ?? ''}`;
}
