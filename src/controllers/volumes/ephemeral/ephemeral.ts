import {
  claimConflict,
  type EphemeralVolume,
  ephemeralVolumesOf,
  podsThatMayUse,
} from '../../../engine/workloads/ephemeral-claims.ts';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { persistentVolumeClaims, pods } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';

/**
 * Creates the claims of generic ephemeral volumes. They are owned by their pod, and the garbage collector removes them with it. A claim
 * that has the name but another owner is never used: an Event on the pod reports it, and the pod waits until the name is free.
 *
 * Safe to run twice and to crash anywhere: its only write creates a claim under a name that identifies the volume, with the
 * pod's uid as owner. A claim created for a pod that was deleted meanwhile has a missing owner, and is collected.
 */
export const ephemeralController = defineController({
  name: 'ephemeral',
  workers: 4,
  create: (context) => new EphemeralReconciler(context),
});

/** Keys are pods, `NAMESPACE/NAME`. */
class EphemeralReconciler implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #pods: Informer<Pod>;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #queue: WorkQueue;
  /** The uid of the pod of each claim that this process has created. Key: that of the claim. */
  readonly #createdFor = new Map<string, string | undefined>();

  constructor(context: LoopContext) {
    this.#context = context;
    this.#pods = context.informers.of(pods);
    this.#claims = context.informers.of(persistentVolumeClaims);
    this.#queue = context.queue;
    this.caches = [this.#pods, this.#claims];
  }

  listen(): readonly (() => void)[] {
    // The volumes of a pod never change, so its first event is enough.
    const pod = (object: Pod) => this.#consider(object);
    // The name is free again, or the claim got another owner.
    const claim = (object: PersistentVolumeClaim) => {
      for (const key of podsThatMayUse(object)) {
        const user = this.#pods.get(key);
        if (user !== undefined) this.#consider(user);
      }
    };
    return [
      this.#pods.addHandler({ added: pod, deleted: (gone) => this.#forget(gone) }),
      this.#claims.addHandler({ updated: claim, deleted: claim }),
    ];
  }

  #forget(pod: Pod): void {
    for (const { claimName } of ephemeralVolumesOf(pod))
      this.#createdFor.delete(`${pod.metadata?.namespace}/${claimName}`);
  }

  #consider(pod: Pod): void {
    if (this.#lacksClaims(pod)) this.#queue.add(keyOf(pod));
  }

  *sweepKeys(): Iterable<string> {
    for (const pod of this.#pods.values()) if (this.#lacksClaims(pod)) yield keyOf(pod);
  }

  #lacksClaims(pod: Pod): boolean {
    return ephemeralVolumesOf(pod).some((volume) => this.#isMissing(pod, volume));
  }

  #isMissing(pod: Pod, { claimName }: EphemeralVolume): boolean {
    const claim = this.#claims.get(`${pod.metadata?.namespace}/${claimName}`);
    return claim === undefined || claimConflict(claim, pod) !== undefined;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    for (const volume of ephemeralVolumesOf(pod)) {
      if (this.#isMissing(pod, volume)) await this.#provide(pod, volume, signal);
    }
  }

  async #provide(pod: Pod, volume: EphemeralVolume, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    const { namespace } = pod.metadata ?? {};
    const { claimName, claim } = volume;
    const found = await undefinedIfNotFound(client.get({ namespace, name: claimName }, { signal }));
    if (found !== undefined) {
      const problem = claimConflict(found, pod);
      // Not retried: the next change of the claim, or its deletion, queues the pod again.
      if (problem !== undefined) this.#recordEvent(pod, volume, problem);
      return;
    }
    const claimKey = `${namespace}/${claimName}`;
    const { uid } = pod.metadata ?? {};
    // The claim has been deleted. If its pod no longer exists, and only the watch is behind, the next one would be collected as well, and so on.
    if (this.#createdFor.get(claimKey) === uid && !(await this.#exists(pod, signal))) return;
    this.#context.beforeWrite();
    try {
      await client.create(claim, { signal });
      this.#createdFor.set(claimKey, uid);
    } catch (error) {
      // Another client created it since we looked; the next run reads it.
      if (!isReason(error, 'AlreadyExists') && !signal.aborted)
        this.#recordEvent(pod, volume, `create PVC ${claimName}: ${(error as Error).message}`);
      throw error;
    }
  }

  async #exists({ metadata }: Pod, signal: AbortSignal): Promise<boolean> {
    const { namespace, name = '', uid } = metadata ?? {};
    const client = this.#context.cluster.resource(pods);
    const found = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    return found !== undefined && found.metadata?.uid === uid;
  }

  #recordEvent(pod: Pod, { volumeName }: EphemeralVolume, problem: string): void {
    this.#context.events.record({
      regarding: referenceTo(pod, { apiVersion: 'v1', kind: 'Pod' }),
      type: 'Warning',
      reason: 'FailedBinding',
      action: 'CreateClaim',
      note: `ephemeral volume ${volumeName}: ${problem}`,
    });
  }
}
