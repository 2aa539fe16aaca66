import type { ResourceClient } from '../../cluster/cluster.ts';
import { CsiError } from '../../csi/csi-errors.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { keyOf } from '../../kube/object-key.ts';
import { persistentVolumeClaims } from '../../kube/resources.ts';
import { matchesNode } from '../../kube/selectors/node-selector.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { volumeNodeSelector } from '../../kube/volumes.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { needsVolume, type VolumeDemand } from './claim-demand.ts';
import { ClaimEvents } from './claim-events.ts';
import type { ClaimWatch } from './claim-watch.ts';
import {
  type ClearIntentOptions,
  clearIntent,
  intentOf,
  type ProvisioningIntent,
  storeIntent,
} from './intent.ts';
import { provisionedVolume } from './provisioned-volume.ts';
import {
  assetFor,
  type Provisioner,
  type Provisioners,
  type RefusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlan,
} from './provisioner.ts';
import { RetryDelays } from './retry-delays.ts';
import { spreadPosition } from './spread.ts';
import { VolumeRecording } from './volume-recording.ts';

/** A claim to provision, and everything that was read for it. */
export interface ProvisioningJob {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly demand: VolumeDemand;
  readonly provisioner: Provisioner;
  readonly node: Node | undefined;
}

/**
 * The steps from the request to the PersistentVolume, and back. The writes, and the state after a crash behind each:
 *
 * 1. the intent, on the claim: the claim cannot be removed before it is reconciled again; if it was deleted or requests something else by then,
 *    whatever may have been created is removed;
 * 2. the asset: its name comes from the uid, so it is found again, not created again;
 * 3. the PersistentVolume: found by its name, and only the intent has to be removed from the claim. While its creation may be under way,
 *    the asset stays (`volume-recording.ts`);
 * 4. the intent is removed, together with the selected node if the volume could not be created for that node.
 */
export class ProvisioningSteps {
  readonly #watch: ClaimWatch;
  readonly #provisioners: Provisioners;
  readonly #claims: ResourceClient<PersistentVolumeClaim>;
  readonly #recording: VolumeRecording;
  readonly #events: ClaimEvents;
  readonly #delays: RetryDelays;

  constructor(context: ControllerContext, watch: ClaimWatch, provisioners: Provisioners) {
    this.#watch = watch;
    this.#provisioners = provisioners;
    this.#claims = context.cluster.resource(persistentVolumeClaims);
    this.#recording = new VolumeRecording(context);
    this.#events = new ClaimEvents(context.events);
    this.#delays = new RetryDelays(context.clock);
  }

  async provision(job: ProvisioningJob, signal: AbortSignal): Promise<Requeue | undefined> {
    const { claim, storageClass, demand, provisioner } = job;
    const planned = await this.#plan(job, signal);
    if (planned.kind === 'refused') return await this.#planRefused(job, planned, signal);
    const { asset } = planned.plan;
    const intent = { ...demand, record: asset.record };
    const isFirst = intentOf(claim) === undefined;
    const withIntent = isFirst ? await storeIntent(this.#claims, claim, intent, signal) : claim;
    if (isFirst) this.#recording.begin(claim);
    this.#events.provisioning(withIntent);
    const created = await this.#create(provisioner, planned.plan, withIntent, signal);
    if (created.kind === 'unknown') return this.#later(withIntent, created.error.outcome.next);
    if (created.kind === 'refused') return await this.#createRefused(job, withIntent, created, signal);
    const volume = provisionedVolume(asset.name, created.volume, withIntent, storageClass);
    if (job.node !== undefined && !isReachedFrom(job.node, volume))
      this.#events.createdElsewhere(withIntent, asset.name, demand.node);
    return await this.#record(withIntent, volume, signal);
  }

  /** Repeats a creation of the PersistentVolume that was not answered; undefined if there is none. */
  async repeatRecording(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<Requeue | undefined> {
    const sent = this.#recording.unanswered(claim);
    return sent === undefined ? undefined : ((await this.#record(claim, sent, signal)) ?? {});
  }

  async finish(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    signal: AbortSignal,
  ): Promise<undefined> {
    if (intent === undefined) return;
    // The only place that records success: the process that wrote the volume may have crashed right after it.
    this.#events.succeeded(claim, assetFor(claim).name);
    this.#delays.forget(keyOf(claim));
    await this.clear(claim, {}, signal);
  }

  /** Deletes the volume that the intent may have created and that no claim needs any longer. */
  async withdraw(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    options: ClearIntentOptions,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const waitMs = intent === undefined || !needsVolume(claim) ? 0 : this.#recording.quietInMs(claim);
    if (waitMs > 0) return { afterMs: waitMs };
    const creator = intent === undefined ? undefined : this.#provisioners.get(intent.provisioner);
    try {
      await creator?.delete(assetFor(claim, intent?.record), signal);
    } catch (error) {
      if (!signal.aborted) this.#events.notUndone(claim, messageOf(error));
      if (!(error instanceof CsiError) || signal.aborted) throw error;
      return this.#later(claim, error.outcome.next);
    }
    return await this.clear(claim, options, signal);
  }

  /** A claim that was deleted meanwhile has nothing left to clear. */
  async clear(
    claim: PersistentVolumeClaim,
    options: ClearIntentOptions,
    signal: AbortSignal,
  ): Promise<undefined> {
    const intent = intentOf(claim);
    // This precedes the removal of the intent: after a crash, the next run repeats it.
    if (intent !== undefined) await this.#provisioners.get(intent.provisioner)?.settled?.(claim, signal);
    await undefinedIfNotFound(clearIntent(this.#claims, claim, options, signal));
    this.#recording.end(claim);
  }

  /** Records an Event, and reconciles the claim again when a class or a node changes. */
  refuse(claim: PersistentVolumeClaim, note: string): undefined {
    this.#events.refused(claim, note);
    this.#watch.waitForChange(keyOf(claim));
  }

  /** The claim of this key no longer exists. */
  forget(key: string): undefined {
    this.#delays.forget(key);
  }

  async #plan({ claim, storageClass, provisioner, node }: ProvisioningJob, signal: AbortSignal) {
    const request = {
      asset: assetFor(claim, intentOf(claim)?.record),
      claim,
      storageClass,
      ...(node === undefined ? {} : { selectedNode: node }),
      nodes: this.#watch.allNodes(),
      spread: spreadPosition(claim, this.#watch.allClaims()),
    };
    return await provisioner.plan(request, signal);
  }

  async #planRefused(
    { claim, demand }: ProvisioningJob,
    { message, next, reason }: RefusedOutcome,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    this.#events.failed(claim, message, reason);
    this.#watch.waitForChange(keyOf(claim));
    // Nothing was sent by this attempt, and an earlier one can still be repeated.
    if (next !== 'move') return this.#later(claim, next);
    return await this.withdraw(claim, intentOf(claim), { dropsSelectedNode: demand.node !== '' }, signal);
  }

  async #create(
    provisioner: Provisioner,
    plan: VolumePlan,
    claim: PersistentVolumeClaim,
    signal: AbortSignal,
  ): Promise<VolumeCreateOutcome | { readonly kind: 'unknown'; readonly error: CsiError }> {
    try {
      return await provisioner.create(plan, signal);
    } catch (error) {
      // It is unknown what was created: the intent stays, and so does the node.
      if (!signal.aborted) this.#events.failed(claim, messageOf(error));
      if (error instanceof CsiError && !signal.aborted) return { kind: 'unknown', error };
      throw error;
    }
  }

  async #createRefused(
    { claim: before, demand }: ProvisioningJob,
    claim: PersistentVolumeClaim,
    { message, next, reason }: RefusedOutcome,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    this.#events.failed(claim, message, reason);
    // An earlier attempt may have created the volume: a driver that refuses the repetition has not necessarily removed it.
    const earlier = intentOf(before);
    if (earlier !== undefined && next === 'retry') return this.#later(claim, next);
    const isMoved = next === 'move' && demand.node !== '';
    const options = { dropsSelectedNode: isMoved };
    const waiting =
      earlier === undefined
        ? await this.clear(claim, options, signal)
        : await this.withdraw(claim, earlier, options, signal);
    // If the claim had a node, the scheduler chooses again and its write requeues the claim. Otherwise no event would.
    return waiting ?? (isMoved ? undefined : this.#later(claim, next));
  }

  async #record(
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    try {
      // Another process was faster; the next run handles its volume like any existing one.
      if (!(await this.#recording.create(claim, volume, signal))) return {};
    } catch (error) {
      if (!signal.aborted) this.#events.notRecorded(claim, messageOf(error));
      throw error;
    }
    return await this.finish(claim, intentOf(claim), signal);
  }

  #later(claim: PersistentVolumeClaim, next: RefusedOutcome['next'] | 'retry-soon'): Requeue {
    return { afterMs: this.#delays.afterMs(keyOf(claim), next) };
  }
}

function isReachedFrom({ metadata }: Node, volume: PersistentVolume): boolean {
  const selector = volumeNodeSelector(volume);
  return selector === undefined || matchesNode(selector, metadata?.name ?? '', metadata?.labels);
}
